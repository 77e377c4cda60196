"""Every method × every loss and penalty that it accepts: a gap of 1e-6·P(0), and a true proof.

The full product has thousands of cases, and each kind of step, loss, penalty and storage makes a
kernel that takes seconds to compile. So ``selection`` picks few: for each method each penalty and
each shape of the data that it accepts at least once, and for each family of kernels each loss. With
DUALGAP_EVERY=1 (``make test-every``) each method meets each pair of loss and penalty in each shape.
The optimum is that of an interior-point solver, which knows nothing of the library.
"""

import os
import warnings
from functools import cache
from itertools import product

import block_reference
import numpy as np
import pytest
import reference
import scipy.sparse as sp

import dualgap as dg
from dualgap import penalties
from dualgap.methods import METHODS, Method, suitable
from dualgap.samplings import Arbitrary, Distributed, Full, Product, TauNice, Uniform
from dualgap.steps import ASDCA, SPDC, Coordinate, DisDCA, Quartz

TOL, MAX_EPOCHS = 1e-6, 30_000

# Samples, features, λ. "wide" is also where acceleration has something to gain.
SHAPES = {
    "dense": (24, 5, 0.05),
    "csr": (30, 6, 0.05),
    "wide": (10, 30, 0.02),
    "tall": (100, 4, 0.05),
}
BLOCKS = block_reference.LOSSES
LOSSES = {**reference.LOSSES, **BLOCKS}
PAIRS = [
    *product(reference.LOSSES, reference.PENALTIES),
    *product(BLOCKS, block_reference.PENALTIES),
]


def one_of_three(rng):
    """Sets of a sampling without a lemma: each part of the samples is as likely as the others."""
    return np.arange(int(rng.integers(3)), 10, 3)


VARIANTS = {
    "quartz-ii": Method(Quartz("II"), Uniform()),
    "quartz-10": Method(Quartz(multiplier=10.0), Uniform()),
    "quartz-tau-nice": Method(Quartz(multiplier=100.0), TauNice(4)),
    "quartz-ii-tau-nice": Method(Quartz("II", multiplier=10.0), TauNice(4)),
    "quartz-distributed": Method(Quartz(multiplier=100.0), Distributed(4, 2)),
    "quartz-full": Method(Quartz(multiplier=100.0), Full()),
    "disdca-basic": Method(DisDCA("basic"), Distributed(4, 2)),
    "disdca-4-2": Method(DisDCA(), Distributed(4, 2)),
    "asdca-tau-nice": Method(ASDCA(), TauNice(4)),
    "spdc-tau-nice": Method(SPDC(), TauNice(4)),
    "spdc-full": Method(SPDC(), Full()),
}
EVERY = {**METHODS, **VARIANTS}


@cache
def problem_of(loss, penalty, shape):
    n, d, lam = SHAPES[shape]
    rng = np.random.default_rng(3)
    X = 2.0 / np.sqrt(d) * rng.standard_normal((n, d))
    if loss in BLOCKS:
        y = np.argmax(X[:, :3] + 0.5 * rng.gumbel(size=(n, 3)), axis=1)
        y[:3] = 0, 1, 2
    else:
        y = reference.targets(LOSSES[loss], X @ np.resize([1.0, -0.5, 0.0, 0.3], d), rng)
    s = rng.integers(1, 4, n).astype(float)
    if shape == "csr":
        X[rng.random(X.shape) < 0.6] = 0.0
        X[7] = 0.0
    if shape != "dense":
        X = sp.csr_array(X)
    if penalty.startswith("weighted"):
        weights = np.resize(WEIGHTS[loss in BLOCKS], d)
        penalty = penalties.Weighted(penalties.ElasticNet(0.4), weights)
    else:
        penalty = {**reference.PENALTIES, **block_reference.PENALTIES}[penalty]
    return dg.Problem(X, y, LOSSES[loss], penalty, lam, sample_weight=s)


WEIGHTS = (reference.WEIGHTS, block_reference.WEIGHTS)


def kind_of(name, problem):
    """Which kernels a method runs: those of its step, for coordinate steps those of the view."""
    step = EVERY[name].step
    if isinstance(step, Coordinate):
        pace = "stepwise" if EVERY[name].sampling.refresh == "step" else "coordinate"
        return f"{pace}, {step.view_of(problem)} view"
    return f"Quartz {step.option}" if isinstance(step, Quartz) else type(step).__name__


@cache
def accepted():
    """For each kind of step, its methods and the pairs of loss and penalty that each accepts."""
    found = {}
    for pair in PAIRS:
        problem = problem_of(*pair, "dense")
        for name, method in EVERY.items():
            if method.refusal(problem) is None:
                methods = found.setdefault(kind_of(name, problem), {})
                methods.setdefault(name, []).append(pair)
    return found


def family_of(kind):
    """Kinds of steps that take the rules of a loss in the same way."""
    return "sets" if kind in SETS else kind.replace("stepwise", "coordinate")


SETS = ("Quartz I", "Quartz II", "SPDC", "ASDCA", "APCG", "DisDCA")


def wanted(kind, methods, losses):
    """What is to be met: (method, penalty or shape), and (family, loss) but for known losses."""
    return {
        *((name, pair[1]) for name, pairs in methods.items() for pair in pairs),
        *((name, shape) for name in methods for shape in SHAPES),
        *((family_of(kind), pair[0]) for pairs in methods.values() for pair in pairs),
    } - {(family_of(kind), loss) for loss in losses}


def meets(kind, methods, pair, shape):
    found = {(family_of(kind), pair[0])}
    for name, pairs in methods.items():
        if pair in pairs:
            found |= {(name, pair[1]), (name, shape)}
    return found


@cache
def selection():
    """(kind, loss, penalty, shape). Greedy: next is what meets most of the missing, then what is a
    new pair of loss and penalty."""
    chosen, met = [], {}
    for kind, methods in accepted().items():
        pairs = sorted({pair for pairs in methods.values() for pair in pairs}, key=PAIRS.index)
        if os.environ.get("DUALGAP_EVERY"):
            chosen += [(kind, *pair, shape) for pair in pairs for shape in SHAPES]
            continue
        losses = met.setdefault(family_of(kind), set())
        missing = wanted(kind, methods, losses)
        while missing:
            known = {case[1:3] for case in chosen}

            def worth(case, kind=kind, methods=methods, missing=missing, known=known):
                return len(meets(kind, methods, *case) & missing), case[0] not in known

            pair, shape = max(product(pairs, SHAPES), key=worth)
            chosen.append((kind, *pair, shape))
            losses.add(pair[0])
            missing -= meets(kind, methods, pair, shape)
    return chosen


@cache
def optimum(loss, penalty, shape):
    """The smallest objective that an interior-point solver finds, in extended precision.

    It is never below the minimum, also where the solver is in doubt about its last digits.
    """
    problem = problem_of(loss, penalty, shape)
    source = block_reference if loss in BLOCKS else reference
    y = problem.y.astype(int) if loss in BLOCKS else problem.y
    facts = loss, penalty, problem.X, y, problem.c, problem.lam
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        return source.objective(*facts, source.cvxpy_optimum(*facts))


@pytest.mark.parametrize(("kind", "loss", "penalty", "shape"), selection())
def test_converges_with_a_true_proof(kind, loss, penalty, shape):
    problem, best = problem_of(loss, penalty, shape), optimum(loss, penalty, shape)
    source = block_reference if loss in BLOCKS else reference
    y = problem.y.astype(int) if loss in BLOCKS else problem.y
    for name in accepted()[kind]:
        if EVERY[name].refusal(problem) or kind_of(name, problem) != kind:
            continue
        solution = dg.solve(problem, EVERY[name], tol=TOL, max_epochs=MAX_EPOCHS)
        assert solution.converged, f"{name}: {solution}"
        proof = solution.certificate
        ours = source.objective(loss, penalty, problem.X, y, problem.c, problem.lam, solution.coef)
        assert proof.gap <= TOL * problem.scale, name
        assert proof.dual <= best, name  # no coefficients beat the bound
        assert ours - best <= proof.gap, name
        assert best - ours <= 1e-8 * problem.scale, name  # as exact as the other solver is
        assert proof.primal == pytest.approx(ours, rel=1e-11, abs=1e-14), name


def test_the_selection_meets_all_that_it_says():
    chosen = selection()
    assert len(chosen) == len(set(chosen))
    families = {}
    for kind, methods in accepted().items():
        cases = [case[1:] for case in chosen if case[0] == kind]
        for name, pairs in methods.items():
            mine = [case for case in cases if case[:2] in pairs]
            assert {case[1] for case in mine} == {penalty for _, penalty in pairs}, name
            assert {case[2] for case in mine} == set(SHAPES), name
            families.setdefault(family_of(kind), set()).update(loss for loss, _ in pairs)
    for family, losses in families.items():
        assert {case[1] for case in chosen if family_of(case[0]) == family} == losses, family
    assert {name for methods in accepted().values() for name in methods} == set(EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_refuses_in_words_or_not_at_all(name):
    """What is missing is a property of the loss or the penalty, and what is hinted at fits."""
    refused = 0
    for loss, penalty in PAIRS:
        problem = problem_of(loss, penalty, "dense")
        lacks = EVERY[name].refusal(problem)
        if lacks is None:
            continue
        refused += 1
        assert type(problem.loss).__name__ in lacks or "penalty" in lacks or "loss" in lacks
        with pytest.raises(ValueError, match="would work") as error:
            dg.solve(problem, EVERY[name])
        hinted = str(error.value).split("method='")[1].split("'")[0]
        assert METHODS[hinted].refusal(problem) is None
        assert hinted in suitable(problem)
    assert refused < len(PAIRS)


def test_sets_without_a_lemma_and_sets_that_share_nothing():
    """Arbitrary and Product need data of their own."""
    problem = problem_of("smoothed-hinge", "l2", "wide")
    best = optimum("smoothed-hinge", "l2", "wide")
    sampling = Arbitrary(one_of_three, np.full(10, 1 / 3))
    for step in (Quartz(), Quartz("II", multiplier=10.0)):
        solution = dg.solve(problem, step, sampling=sampling, tol=TOL, max_epochs=MAX_EPOCHS)
        assert solution.converged, str(solution)
        assert solution.certificate.dual <= best <= solution.certificate.primal + 1e-9
    dense = problem_of("smoothed-hinge", "l2", "dense")
    parts = dg.Problem(
        sp.block_diag([dense.X, dense.X]).tocsr(), np.r_[dense.y, dense.y], dense.loss, lam=0.05
    )
    solution = dg.solve(parts, Quartz(), sampling=Product(2), tol=TOL, max_epochs=MAX_EPOCHS)
    assert solution.converged, str(solution)
    with pytest.raises(ValueError, match="use TauNice"):
        dg.solve(dense, Quartz(), sampling=Product(2))
