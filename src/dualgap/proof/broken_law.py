"""A lower bound above the objective: which law the loss or the penalty breaks.

Both bounds are theorems if φ* and g* are the conjugates of φ and g. So one of them is not, and the
terms of the gap (``terms.py``) show where: by Fenchel and Young none is negative.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from dualgap.compile.rules import conj, value
from dualgap.linalg.validate import Floats
from dualgap.proof import group_terms


class BrokenLawError(ValueError):
    """A loss or a penalty with a wrong value or conjugate: its certificate would be false."""


def raise_broken_law(problem: Any, proof: Any, w: Floats, a: Floats) -> NoReturn:
    """Name the law, for a certificate of w and a whose lower bound is above its objective."""
    loss, penalty = type(problem.given_loss).__name__, type(problem.feature_penalty).__name__
    z, u = problem.decision(w), problem.average(a)
    i, sample = _worst_sample(problem, z, a)
    j, feature = _worst_feature(problem, w, u)
    if sample <= feature:
        k = slice(i * problem.block_width, (i + 1) * problem.block_width)
        law = (
            f"the loss {loss} breaks φ(z; y) + φ*(−a; y) ≥ −a·z, at z = {_text(z[k])}, "
            f"a = {_text(a[k])}, y = {problem.y[i]:g}: its value or its conj is too small there. "
            "dualgap.testing.check_loss looks for more"
        )
    else:
        law = (
            f"the penalty {penalty} breaks g(w) + g*(u) ≥ u·w for feature {j}, at w = {w[j]:.6g}, "
            f"u = {u[j]:.6g}: its value or its conj is too small there. "
            "dualgap.testing.check_penalty looks for more"
        )
    raise BrokenLawError(
        f"no model can do better than {proof.dual:.6g}, but this one has the objective "
        f"{proof.primal:.6g}. That is a contradiction: {law}"
    )


def _worst_sample(problem: Any, z: Floats, a: Floats) -> tuple[int, float]:
    width = problem.block_width
    Z, A = (v if width == 1 else v.reshape(-1, width) for v in (z, a))
    parts = np.array(
        [
            c * (value(problem.loss, s, y) + conj(problem.loss, b, y) + float(np.sum(b * s)))
            for s, b, y, c in zip(Z, A, problem.y, problem.entry_shares)
        ]
    )
    return int(np.argmin(parts)), float(parts.min())


def _worst_feature(problem: Any, w: Floats, u: Floats) -> tuple[int, float]:
    if problem.on_groups:
        return group_terms.worst_feature(problem.penalty, problem.lam, w, u)
    penalised = np.setdiff1d(np.arange(problem.coef_size), problem.free_places)
    if not len(penalised):
        return 0, np.inf
    parts = [
        problem.lam
        * (value(problem.penalty, w[j], j) + conj(problem.penalty, u[j], j) - w[j] * u[j])
        for j in penalised
    ]
    worst = int(np.nanargmin(parts))
    return int(penalised[worst]), float(parts[worst])


def _text(block: Floats) -> str:
    return f"{block[0]:.6g}" if len(block) == 1 else np.array2string(block, precision=4)
