"""Regularisation paths: one problem at a decreasing sequence of λ, each with its certificate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import shape_of
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof import group_terms, terms
from dualgap.proof.balance import null_dual_point
from dualgap.proof.prove import prove_pair
from dualgap.proof.screening import proven_zero
from dualgap.run.solution import Solution
from dualgap.run.solve import solve

# Screening pays, in spite of a copy of X, if at most this share of the features remains.
_REMAINING_SHARE = 0.5


# Else rounding errors of the sums would leave coefficients of 1e-16 at the highest λ.
_ROUNDED_UP = 1.0 + 1e-13


def lambda_max(problem: Problem) -> float:
    """The smallest λ at which every feature with an L1 penalty has the coefficient zero.

    The null model, on the unpenalised features alone, is fitted first. The problem's own ``lam``
    does not matter.
    """
    if problem.on_groups:
        return _of_groups(problem)
    shape = shape_of(problem.penalty, problem.coef_size)
    if shape is None or not (shape.l1 > 0.0).any():
        raise ValueError(
            "no lam makes every coefficient zero without an L1 part in the penalty: "
            "choose the grid yourself"
        )
    name = type(problem.given_loss).__name__
    if problem.loss.gamma == 0.0 and not getattr(problem.loss, "differentiable", False):
        raise ValueError(f"{name} has a kink: choose the grid yourself")
    free = problem.features.free
    if problem.width > 1 and free.any() and (name != "Softmax" or free[: -problem.width].any()):
        raise ValueError(f"unpenalised features under {name}: choose the grid yourself")
    if ((shape.low > 0.0) | (shape.high < 0.0)).any():
        raise ValueError("the bounds of the penalty do not allow zero: choose the grid yourself")
    pull = problem.lam * problem.average(_null_dual(problem))
    pull = np.maximum(np.where(shape.high > 0.0, pull, 0.0), np.where(shape.low < 0.0, -pull, 0.0))
    some = shape.l1 > 0.0
    return float(np.max(pull[some] / shape.l1[some])) * _ROUNDED_UP


def _of_groups(problem: Problem) -> float:
    """The least λ at which 0 is the minimum for every group."""
    classes = problem.width > 1 and problem.n_targets == 1
    if classes and problem.features.free[: problem.p * problem.width].any():
        raise ValueError("groups without a penalty under several classes: choose the grid yourself")
    pull = problem.lam * problem.average(_null_dual(problem))
    found = group_terms.largest_gauge(problem.penalty, pull)
    if not found < np.inf:
        raise ValueError(
            "no lam makes every coefficient zero, since some groups have an L2 part alone: choose "
            "the grid yourself"
        )
    return found * _ROUNDED_UP


def _null_dual(problem: Problem) -> Floats:
    if problem.features.free.any():
        return null_dual_point(problem)
    a = np.empty(problem.dual_size)
    terms.slopes(problem.loss, problem.y, np.zeros(problem.dual_size), a)
    return a


def grid(problem: Problem, eps: float = 1e-3, n: int = 100) -> Floats:
    """``n`` values from λ_max down to ``eps``·λ_max, evenly spaced on a logarithmic scale."""
    highest = lambda_max(problem)
    least = float(np.finfo(np.float64).resolution)
    return np.full(n, least) if highest <= least else np.geomspace(highest, highest * eps, n)


def path(
    problem: Problem,
    lams: Iterable[float],
    *,
    screen: bool = False,
    warm_start: Any = None,
    **options: Any,
) -> Iterator[Solution]:
    """The solutions at each of ``lams``, in their order, which should be decreasing.

    Each run starts from the primal and the dual point of the one before. ``options`` go to
    ``solve``. With ``screen``, features that this pair proves to be zero are left out of the run;
    the certificate is always that of the full problem. Ctrl-C ends the path with the best model so
    far of the problem under way. The default method visits unresolved
    features only, so it rarely needs screening to be fast: docs/paths.md has measurements.
    """
    if options.get("checkpoint") is not None:
        raise ValueError("checkpoint is for one problem: call solve for each lam, with a file each")
    for lam in lams:
        problem = problem.with_lam(lam)  # shares the views of the last one
        solution = None
        if screen and isinstance(warm_start, Solution):
            solution = _without_zeros(problem, warm_start, options)
        if solution is None:
            solution = solve(problem, warm_start=warm_start, **options)
        yield solution
        if solution.interrupted:  # Ctrl-C ends the path
            return
        warm_start = solution


def _without_zeros(problem: Problem, warm: Solution, options: dict[str, Any]) -> Solution | None:
    """The solution on the features that are not proven zero; None if these are too many."""
    proof, dual = prove_pair(
        problem,
        joined(problem, warm.coef, warm.intercept),
        problem.flat(warm.dual, "dual", problem.n),
    )
    zero = proven_zero(problem, proof, problem.shaped(dual))
    kept = np.flatnonzero(~zero.reshape(problem.p, -1).all(axis=1))
    if not 0 < len(kept) <= _REMAINING_SHARE * problem.p:
        return None
    small = problem.on_features(kept)
    if small is None:
        return None
    start = warm.coef[kept], warm.intercept, problem.shaped(dual)
    solution = solve(small, warm_start=start, **options)
    coef = np.zeros((problem.p, *solution.coef.shape[1:]))
    coef[kept] = solution.coef
    w = joined(problem, coef, solution.intercept)
    proof, dual = prove_pair(problem, w, problem.flat(solution.dual, "dual", problem.n))
    if proof.gap > solution.target:
        return None
    dual = problem.shaped(dual)
    return replace(solution, coef=coef, dual=dual, certificate=proof, problem=problem)
