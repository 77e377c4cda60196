"""Bounds on the rounding errors of z = Xw and of u = (1/λ) Σ c a x, as float64 computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap._scalar import EPS
from dualgap._validate import Floats
from dualgap.linalg import products
from dualgap.linalg.products import norm
from dualgap.losses._simplex import LOOSE


def error_of_z(problem: Any, w: Floats, *, sharp: bool) -> Floats:
    """A bound on the rounding errors of X w; for blocks on their Euclidean norms.

    The inequality of Cauchy and Schwarz holds in any units of the features: as they are, and, if
    the bound is to be ``sharp``, which costs the first one a pass, also with columns of norm 1,
    which serves where their sizes differ by powers of ten.
    """
    size: Floats = np.sqrt(problem.row_squares)
    size *= norm(w)
    if sharp:
        columns = np.repeat(problem.column_sizes, problem.width)
        np.fmin(size, np.sqrt(problem.even_squares) * norm(columns * w), out=size)
    size *= _effective(problem.row_counts, problem.by_rows)
    return size


def error_of_u(problem: Any, a: Floats) -> Floats:
    """A bound on the rounding errors of (1/λ) Σ c a x, and on what blocks lack of feasibility."""
    terms = _effective(problem.column_counts, not problem.by_rows)
    if problem.width > 1:
        terms += LOOSE * problem.width * EPS
    return np.asarray((terms[:, None] * size_of_u(problem, a)).ravel())


def size_of_u(problem: Any, a: Floats) -> Floats:
    """A bound on Σ |c a x| / λ, with a column for each class."""
    weighted = problem.weighted(a).reshape(problem.n, problem.width)
    sizes = np.array([norm(column) for column in weighted.T]) / problem.lam
    return np.asarray(np.sqrt(problem.column_squares)[:, None] * sizes)


def _effective(counts: Floats, blocked: bool) -> Floats:
    """A bound on the relative error of a sum of so many products."""
    if blocked:
        counts = np.minimum(counts, products.BLOCK + counts / products.BLOCK)
    error = 2.0 + counts
    error *= EPS
    return np.asarray(error)
