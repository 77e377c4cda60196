"""Every method × every loss and penalty that it accepts: a gap of 1e-6·P(0), and a true proof.

The full product has thousands of cases, and each kind of step, loss, penalty and storage makes a
kernel that takes seconds to compile. So ``selection`` picks few: for each method each penalty and
each shape of the data that it accepts at least once, and for each family of kernels each loss. With
DUALGAP_EVERY=1 (``make test-every``) each method meets each pair of loss and penalty in each shape.
The optimum is that of an interior-point solver, which knows nothing of the library.
"""

import warnings
from functools import cache

import block_reference
import numpy as np
import pytest
import reference
import scipy.sparse as sp
from every_method import (
    BLOCKS,
    EVERY,
    PAIRS,
    SHAPES,
    SPECIAL,
    accepted,
    family_of,
    kind_of,
    one_of_three,
    problem_of,
    selection,
)

import dualgap as dg
from dualgap.methods import METHODS, suitable
from dualgap.samplings import Arbitrary, Product
from dualgap.steps import Quartz

TOL, MAX_EPOCHS = 1e-6, 30_000


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
    assert set(EVERY) | set(SPECIAL) >= set(METHODS)


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
