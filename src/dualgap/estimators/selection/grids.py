"""The strengths and shares that paths and cross-validation try: given ones, or grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats, number, real_array, whole
from dualgap.problem import Problem
from dualgap.run.path import grid


def alphas_of(problem: Problem, alphas: Any, n_alphas: int, eps: float) -> Floats:
    """Decreasing alphas: the given ones, or a grid."""
    if alphas is None or np.ndim(alphas) == 0:
        count = whole(n_alphas if alphas is None else alphas, "alphas", 1)
        return grid(problem, number(eps, "eps", 0.0, open_low=True), count)
    values = np.sort(real_array(alphas, "alphas").astype(np.float64))[::-1]
    if values.ndim != 1 or not values.size or not (values[-1] >= 0.0 and values[0] < np.inf):
        raise ValueError("alphas must be finite numbers >= 0, or the size of the grid")
    return np.asarray(values)


def ratios_of(ratios: Any, name: str) -> Floats:
    """One number from 0 to 1, or several."""
    found = np.array([number(ratio, name, 0.0, 1.0) for ratio in np.atleast_1d(ratios)])
    if not found.size:
        raise ValueError(f"{name} is empty: give a number from 0 to 1, or several")
    return found


def Cs_of(Cs: Any) -> Floats:  # noqa: N802 - C is scikit-learn's name
    """The given values of C, in their order, or a grid of increasing ones."""
    if np.ndim(Cs) == 0:
        return np.logspace(-4, 4, whole(Cs, "Cs", 1))
    values = real_array(Cs, "Cs").astype(np.float64)
    if values.ndim != 1 or not values.size or not (values > 0.0).all():
        raise ValueError("Cs must be numbers > 0, or the size of the grid")
    return np.asarray(values)
