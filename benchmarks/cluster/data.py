"""The problems of the measurements: sparse rows of norm 1, whose features are either all rare, or
some of them far more common than others."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap import Problem


def rows(n: int, d: int, entries: int, *, even: bool) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows whose features have equal probabilities, or probabilities ∝ 1/(j + 10)."""
    rng = np.random.default_rng(0)
    p = np.ones(d) if even else 1.0 / (np.arange(d) + 10.0)
    indices = rng.choice(d, (n, entries), p=p / p.sum()).astype(np.int32)
    indices.sort(axis=1)
    data = rng.standard_normal((n, entries))
    X = sp.csr_matrix(
        (data.ravel(), indices.ravel(), np.arange(0, n * entries + 1, entries)), (n, d)
    )
    X.sum_duplicates()
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
    X = sp.diags(1.0 / norms) @ X
    y = X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n)
    return X.tocsr(), np.where(y > 0.0, 1.0, -1.0)


def problem(n: int = 8000, d: int = 4000, entries: int = 20, *, even: bool) -> Problem:
    """Smoothed hinge with λ = 1/n, so that λγn = 1, as in the paper."""
    X, y = rows(n, d, entries, even=even)
    return Problem(X, y, "smoothed-hinge", "l2", 1.0 / n)


def numbers(n: int = 8000, d: int = 4000, entries: int = 20, *, even: bool) -> tuple[Any, Any]:
    """The same rows, with targets that 40 features explain, up to noise."""
    X, _ = rows(n, d, entries, even=even)
    rng = np.random.default_rng(1)
    w = np.zeros(d)
    w[rng.choice(d, 40, replace=False)] = 5.0 * rng.standard_normal(40)
    return X, X @ w + 0.1 * rng.standard_normal(n)
