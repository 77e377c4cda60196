"""For every λ of the interval, the path's model is as near to the optimum as it says."""

import numpy as np
import pytest

import dualgap as dg
from dualgap import penalties
from dualgap.choices import certified_path
from dualgap.problem.intercept import joined

RNG = np.random.default_rng(11)
X = RNG.standard_normal((60, 6)) + 3.0
SIGNS = np.where(X[:, 0] - X[:, 1] + RNG.standard_normal(60) > 0.0, 1.0, -1.0)
Y = X[:, 0] - 2.0 * X[:, 2] + RNG.standard_normal(60)


def problem_of(loss, penalty, intercept):
    y = SIGNS if loss in ("hinge", "logistic") else Y
    return dg.Problem(X, y, loss, penalty, 1.0, intercept=intercept)


@pytest.mark.parametrize(
    ("loss", "penalty", "intercept"),
    [
        ("logistic", penalties.L2(), True),
        ("hinge", penalties.L2(), True),
        ("squared", penalties.L1(), True),
        ("squared", penalties.L1(), False),
        ("logistic", penalties.ElasticNet(0.5), True),
    ],
)
def test_no_strength_is_left_out(loss, penalty, intercept):
    problem = problem_of(loss, penalty, intercept)
    path = certified_path(problem, 1e-3, 0.1, eps=0.02)
    assert path.complete
    assert path.highs[0] == 0.1
    assert path.lows[-1] <= 1e-3
    assert (path.highs[1:] >= path.lows[:-1]).all(), "no holes"
    assert (path.gaps <= path.bound).all()
    for lam in np.append(RNG.uniform(1e-3, 0.1, 5), [*path.lows[:3], *path.highs[:3]]):
        own = problem.with_lam(min(max(lam, 1e-3), 0.1))
        model = path.at(own.lam)
        best = dg.solve(own, tol=1e-9).certificate.dual
        assert own.primal(joined(own, model.coef, model.intercept)) - best <= path.bound


def test_a_coarser_path_has_fewer_models():
    problem = problem_of("logistic", penalties.L2(), True)
    sizes = [len(certified_path(problem, 1e-3, 0.1, eps)) for eps in (0.1, 0.01, 0.001)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_what_is_not_covered_is_refused():
    problem = problem_of("logistic", penalties.L2(), True)
    path = certified_path(problem, 1e-4, 0.1, 1e-3, max_models=2)
    assert not path.complete
    assert "stopped before" in str(path)
    with pytest.raises(ValueError, match="outside of the interval"):
        path.at(1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"low": 1.0, "high": 0.1}, "larger than high"),
        ({"eps": 0.0}, "eps"),
        ({"tol": 1e-3}, "its accuracy is eps"),
        ({"eps": 1e-16}, "eps = 1e-16 is too small"),
    ],
)
def test_refusals(options, words):
    options = {"low": 0.01, "high": 0.1, "eps": 0.1} | options
    with pytest.raises(ValueError, match=words):
        certified_path(problem_of("logistic", penalties.L2(), True), **options)
