"""Regularisation paths: the same problem at a decreasing sequence of λ, each with its certificate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dualgap._validate import Floats
from dualgap.certificate import prove
from dualgap.problem import Problem
from dualgap.restrict import on_features
from dualgap.screening import proven_zero
from dualgap.solution import Solution
from dualgap.solve import solve

# A problem of its own is made of the features that are left if they are at most this part.
_FEW = 0.5


def path(
    problem: Problem,
    lams: Iterable[float],
    *,
    tol: float = 1e-4,
    screen: bool = True,
    warm_start: Any = None,
    **options: Any,
) -> Iterator[Solution]:
    """Solutions at each of ``lams``, in their order, which should be decreasing.

    Each run starts from the primal and dual point of the one before. With ``screen`` features
    that this pair proves to be zero are left out of the run; the certificate is always that of
    the whole problem. ``options`` go to ``solve``.
    """
    for lam in lams:
        problem = problem.with_lam(lam)  # of the last one, which has made its views by now
        options["tol"] = tol
        solution = _without_zeros(problem, warm_start, options) if screen else None
        if solution is None:
            solution = solve(problem, warm_start=warm_start, **options)
        yield solution
        warm_start = solution


def _without_zeros(problem: Problem, warm: Any, options: dict[str, Any]) -> Solution | None:
    """Solve on the features that are not proven zero; None if there is nothing to gain."""
    if not isinstance(warm, Solution):
        return None
    coef, dual = (
        problem.flat(warm.coef, "coef", problem.d),
        problem.flat(warm.dual, "dual", problem.n),
    )
    proof, dual = prove(problem, coef, dual)
    kept = np.flatnonzero(~proven_zero(problem, proof, problem.shaped(dual)))
    if not 0 < len(kept) <= _FEW * problem.d:
        return None
    small = on_features(problem, kept)
    if small is None:
        return None
    start = warm.coef[kept], problem.shaped(dual)
    solution = solve(small, warm_start=start, **options)
    w = np.zeros(problem.coef_size).reshape(problem.d, -1)
    w[kept] = solution.coef.reshape(len(kept), -1)
    proof, dual = prove(problem, w.ravel(), problem.flat(solution.dual, "dual", problem.n))
    if proof.gap > solution.target:
        return None
    return replace(
        solution, coef=problem.shaped(w.ravel()), dual=problem.shaped(dual), certificate=proof
    )
