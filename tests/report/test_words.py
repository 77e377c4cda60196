"""What a user reads when something does not fit: what is wrong, and what to do."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.methods import Method, suitable
from dualgap.penalties import L2, Weighted
from dualgap.steps import LBFGS, SPDC, DisDCA, Quartz

S = dg.samplings
rng = np.random.default_rng(0)
X = rng.standard_normal((6, 3))
P = {
    "squared": dg.Problem(X, X[:, 0], lam=0.1),
    "hinge": dg.Problem(X, np.sign(X[:, 0]), "hinge", lam=0.1),
    "poisson": dg.Problem(X, np.arange(6.0), "poisson", lam=0.1),
    "softmax": dg.Problem(X, np.arange(6) % 3, "softmax", lam=0.1),
    "free": dg.Problem(X, np.sign(X[:, 0]), "hinge", Weighted(L2(), [0.0, 1.0, 1.0]), 0.1),
    "two parts": dg.Problem(sp.block_diag([X, X]).tocsr(), np.arange(12.0), lam=0.1),
}


def pairs(rng):
    return rng.choice(6, 2, replace=False)


@pytest.mark.parametrize(
    ("problem", "method", "sampling", "says"),
    [
        # a sampling that does not fit: what the method takes instead
        ("squared", "quartz", "permutation", "draws of Permutation are not: use Uniform"),
        ("squared", "quartz", "gap-per-epoch", "GapPerEpoch changes them.*without sampling="),
        ("squared", "quartz", S.TauNice(7), "6 samples, fewer than tau=7; without sampling="),
        ("squared", "quartz", S.Product(2), "1 group without common features.*use TauNice"),
        ("two parts", "quartz", S.Product(3), r"use Product\(2\) or TauNice\(3\)"),
        (
            "squared",
            "quartz",
            S.Distributed(3, 100),
            "c=3 partitions has 2 samples, fewer than tau=100",
        ),
        ("squared", "disdca", S.Distributed(9, 1), "6 samples, fewer than c=9 partitions"),
        ("squared", "disdca", "uniform", r"takes Distributed\(c=2, tau=1\), which would work"),
        ("squared", "spdc", S.Distributed(2, 1), "those of TauNice or Full, not of Distributed"),
        ("squared", "asdca", S.Distributed(2, 1), "Uniform, TauNice or Full, not of Distributed"),
        ("squared", "apcg", S.TauNice(2), "for Uniform sampling only"),
        ("squared", "afg", "uniform", "takes Full\\(\\), which would work"),
        ("squared", "sdca", S.TauNice, r"not a class: write TauNice\(...\)"),
        ("squared", "sdca", "unifrom", "did you mean 'uniform'"),
        ("squared", "sdca", "tau-nice", "needs parameters, as in .tau-nice"),
        ("squared", "sdca", 4, "sampling must be an object such as"),
        ("squared", "quartz", S.Custom([0, 1, 1, 1, 1, 1.0]), "never draws sample 0"),
        ("squared", "quartz", S.Arbitrary(pairs, np.full(5, 0.3)), "6 samples, and p has 5 entri"),
        # a method that does not fit: another one
        ("hinge", "quartz", None, "Hinge loss is not smooth.*'cd-gap-decay' would work"),
        ("poisson", "apcg", None, "slope is not Lipschitz.*'cd-gap-decay' would work"),
        ("softmax", "spdc", None, "decision value for each class.*'cd-gap-decay' would work"),
        ("softmax", "afg", None, "decision value for each class.*'cd-gap-decay' would work"),
        ("free", "spdc", None, "without kinks: give it a small weight"),
        # a method that is none
        ("squared", "quarz", None, "did you mean 'quartz'"),
        ("squared", "SDCA", None, "did you mean 'sdca'"),
        ("squared", Quartz, None, r"not a class: write Quartz\(\)"),
        ("squared", S.Uniform(), None, "must be a name, a Method or a step"),
        ("squared", None, None, "must be a name, a Method or a step, not None"),
    ],
)
def test_what_does_not_go_together(problem, method, sampling, says):
    with pytest.raises(ValueError, match=says):
        dg.solve(P[problem], method, sampling=sampling)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: S.TauNice(0), "tau must be at least 1, not 0"),
        (lambda: S.TauNice(2.5), "tau must be a whole number, not 2.5"),
        (lambda: S.Distributed(0), "c must be at least 1"),
        (lambda: S.Arbitrary(pairs, 0.3), "p must be a vector of numbers, not 0.3"),
        (lambda: S.Arbitrary(pairs, np.zeros(6)), "each sample needs a chance"),
        (lambda: S.Arbitrary([1, 2], np.full(6, 0.3)), "draw must be a function"),
        (lambda: S.eso.distributed(X, 9, 1), "c must be at most 6, the number of samples"),
        (lambda: S.eso.distributed(X, 3, 9), "fewer than tau=9"),
        (lambda: S.eso.estimate(X, S.Uniform()), r"draws sets.*use serial\(X\)"),
        (lambda: SPDC(tau=-1), "tau must be positive.*not -1"),
        (lambda: SPDC(theta=2), "theta must be >= 0 and <= 1"),
        (lambda: DisDCA("fast"), 'variant must be "practical" or "basic"'),
        (lambda: Quartz(10), 'option must be "I" or "II", not 10'),
        (lambda: Quartz(multiplier=0), "multiplier must be > 0"),
        (lambda: LBFGS(0), "memory must be at least 1"),
        (lambda: Method("sdca", S.Uniform()), "step must be a step such as"),
        (lambda: Method(Quartz(), "uniform"), "sampling must be a sampling such as"),
        (lambda: dg.Problem(X, np.zeros(6), "softmax"), "one class only"),
        (lambda: dg.Problem(X, np.eye(6), "softmax"), r"use y.argmax\(axis=1\)"),
        (lambda: dg.certify(P["squared"], None), "coef must be a vector of numbers, not None"),
        (lambda: dg.certify(P["squared"], dg.solve(P["squared"])), "use solution.coef"),
        (lambda: dg.certify(P["softmax"], np.zeros(9)), r"coef must have shape \(3, 3\)"),
        (lambda: dg.solve(P["squared"], warm_start=(None, np.zeros(6))), "warm_start.*not None"),
    ],
)
def test_what_cannot_be(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()


def test_which_methods_fit_is_known_for_every_loss():
    """A penalty with a weight for each feature has one for each class too."""
    problem = dg.Problem(X, np.arange(6) % 3, "softmax", Weighted(L2(), [1.0, 2.0, 3.0]), 0.1)
    assert "lbfgs" not in suitable(problem)
    with pytest.raises(ValueError, match="decision value for each class"):
        dg.solve(problem, "lbfgs")
