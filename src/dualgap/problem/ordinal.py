"""Ordinal regression as a logistic regression with one row for each threshold next to a sample.

For classes 0, ..., K − 1 let P(y ≤ k) = 1/(1 + e^{z − θ_k}) with z = x·w. With p + q = 1 and so on

    −log P(y = k) = log(1 + e^{z − θ_k}) + log(1 + e^{θ_{k−1} − z}) − log(1 − e^{−(θ_k − θ_{k−1})}),

where the first and the last class have one logistic term only. These terms are rows of a problem
with two classes: is y above θ_k? Its features are x, the gaps θ_k − θ_{k−1} for 0 < k < K − 1, and
the intercept −θ_0; the last term of each sample is a penalty on the gap of its class.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import check_penalty
from dualgap.penalties.thresholds import Thresholds
from dualgap.penalties.weighted import Weighted
from dualgap.problem.problem import Problem


class ThresholdRows(NamedTuple):
    """For each row its sample, the threshold that it is about, and whether y is above it."""

    samples: Any
    thresholds: Any
    above: Any

    @property
    def signs(self) -> Floats:
        return np.where(self.above, 1.0, -1.0)


def rows_of(codes: Any, classes: int) -> ThresholdRows:
    """The rows of samples of these classes; with two classes there is one for each sample."""
    if classes == 2:
        return ThresholdRows(np.arange(len(codes)), np.zeros(len(codes), int), codes == 1)
    upper, lower = np.flatnonzero(codes < classes - 1), np.flatnonzero(codes > 0)
    thresholds = np.concatenate([codes[upper], codes[lower] - 1])
    above = np.repeat([False, True], [len(upper), len(lower)])
    return ThresholdRows(np.concatenate([upper, lower]), thresholds, above)


def stacked(X: Any, rows: ThresholdRows, classes: int) -> Any:
    """The features of the rows: those of X, and −1 for each gap below the threshold."""
    gaps = classes - 2
    if not gaps:
        return X
    below = rows.thresholds[:, None] > np.arange(gaps)
    if storage.is_sparse(X):
        X = X.tocsr()[rows.samples]
        return sp.csr_array(sp.hstack([X, sp.csr_array(-below.astype(X.dtype))], format="csr"))
    p = X.shape[1]
    order: Any = "F" if X.flags.f_contiguous and not X.flags.c_contiguous else "C"
    out = np.empty((len(below), p + gaps), dtype=X.dtype, order=order)
    if order == "C":
        out[:, :p] = X[rows.samples]
    else:
        for j in range(p):
            out[:, j] = X[rows.samples, j]
    out[:, p:] = -below.astype(X.dtype)
    return out


def ordinal_problem(
    X: Any,
    codes: Any,
    classes: int,
    rows: ThresholdRows,
    base: Any,
    lam: float,
    weights: Floats | None,
    offset: Floats | None = None,
) -> Problem:
    """The problem about rows whose objective is (1/S) (Σ_i s_i (−log P(y_i)) + λ S g(w)), where S
    is the sum of the weights of rows."""
    p, gaps = X.shape[1], classes - 2
    own = np.ones(len(codes)) if weights is None else weights
    if gaps:
        total = math.fsum(own[rows.samples])
        rates = np.zeros(p + gaps)
        # Sums of floats without rounding: certificates count a few roundings of rates, not n.
        rates[p:] = [math.fsum(own[codes == k]) / (total * lam) for k in range(1, classes - 1)]
        base = Thresholds(_extended(base, p, gaps), rates)
    s, o = (None if v is None else v[rows.samples] for v in (weights, offset))
    X = stacked(X, rows, classes)
    return Problem(X, rows.signs, "logistic", base, lam, s, True, offset=o)


def _extended(base: Any, p: int, gaps: int) -> Any:
    """The base, with entries in its arrays that belong to gaps, about which nobody asks."""
    checked = check_penalty(base, p)
    if not isinstance(checked, Weighted):
        return checked
    return checked._replace(weights=np.append(checked.weights, np.ones(gaps)))


def exact_thresholds(problem: Any, coef: Floats, intercept: Any) -> tuple[Floats, Any]:
    """Gaps and intercept, rounded so that all thresholds are numbers of the dtype of X."""
    gaps = np.flatnonzero(problem.feature_penalty.rates)
    thresholds = np.cumsum(np.append(-intercept, coef[gaps]))
    digits = np.finfo(problem.X.dtype).nmant
    unit = 2.0 ** (np.floor(np.log2(max(np.max(np.abs(thresholds)), 1e-290))) - digits)
    coef = coef.copy()
    coef[gaps] = np.maximum(np.round(coef[gaps] / unit), 1.0) * unit
    return coef, np.round(intercept / unit) * unit
