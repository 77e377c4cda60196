"""The width at which kinks are rounded off first: how far decision values may have to go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dualgap.problem import Problem

_CONSTANT = 1e-9  # relative spread of targets that rounding errors of a constant can have


class TargetMoments(NamedTuple):
    """Σ c y, Σ c |y| and Σ c (y − mean)², of all samples or of those of a partition."""

    mean: float
    size: float
    square: float


def moments(problem: Problem, mean: float | None = None) -> TargetMoments:
    """Those of the samples of a problem, about their own mean unless it is given."""
    y, c = np.real(problem.y) - np.imag(problem.y), problem.c  # less the offset
    own = float(np.sum(c * y))
    away = y - (own if mean is None else mean)
    return TargetMoments(own, float(np.sum(c * np.abs(y))), float(np.sum(c * away * away)))


def first_width(problem: Problem) -> float:
    """The width of the first stage."""
    return width_of(moments(problem)) if problem.targets.on_scale_of_y else 1.0


def width_of(found: TargetMoments) -> float:
    """The spread of targets, on whose scale decision values are."""
    spread = float(np.sqrt(found.square))
    # Rounding errors of constant targets are no width.
    return spread if spread > _CONSTANT * found.size else found.size or 1.0
