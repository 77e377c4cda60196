"""Samples whose dual variable is 0 in every feasible dual point.

A free feature asks for Σ c a x = 0. If no term of this sum can be negative, or none positive, all
of them are 0: as for a level of a category without any event, or with one class only, whose optimal
coefficient is infinite. No search ends at such a point, so it is found here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import entry, place, project, span

_FAR = 1e300  # beyond every finite bound on a dual variable


def settled_samples(problem: Any, features: Any) -> Any:
    """A mask, or None if there are no such samples; for smooth losses of one decision value."""
    if problem.width > 1 or not problem.loss.differentiable or not problem.by_rows:
        return None
    signs = np.zeros(problem.n)
    _find_signs(problem.loss, problem.y, signs)
    if not signs.any():
        return None
    rows, free = problem.stored_rows, np.zeros(problem.p, bool)
    free[features[features < problem.p]] = True
    left, settled = problem.c > 0.0, np.zeros(problem.n, bool)
    while True:
        seen = np.zeros((problem.p, 3), bool)
        _look_at_terms(rows, signs, left, seen)
        one_sided = free & ~seen[:, 1] & (seen[:, 0] != seen[:, 2])
        if not one_sided.any():
            return settled if settled.any() else None
        _settle(rows, one_sided, left, settled)  # others may be one-sided without these samples


@kernel
def _find_signs(loss: Any, y: Any, out: Any) -> None:
    """1 where no dual variable is negative, −1 where none is positive, else 0."""
    for i in range(len(y)):
        if project(loss, -_FAR, y[i]) == 0.0:
            out[i] = 1.0
        elif project(loss, _FAR, y[i]) == 0.0:
            out[i] = -1.0


@kernel
def _look_at_terms(rows: Any, signs: Any, left: Any, seen: Any) -> None:
    """Whether a feature has terms that are never positive, have any sign, are never negative."""
    for i in range(len(signs)):
        if left[i]:
            start, stop = span(rows, i)
            for t in range(start, stop):
                x = np.float64(entry(rows, i, t))
                if x != 0.0:
                    sign = signs[i] if x > 0.0 else -signs[i]
                    seen[place(rows, i, t), np.int64(sign) + 1] = True


@kernel
def _settle(rows: Any, one_sided: Any, left: Any, settled: Any) -> None:
    for i in range(len(left)):
        if left[i]:
            start, stop = span(rows, i)
            for t in range(start, stop):
                if entry(rows, i, t) != 0.0 and one_sided[place(rows, i, t)]:
                    left[i] = False
                    settled[i] = True
