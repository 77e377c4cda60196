"""Features without a penalty: their dual constraint  Σ_i c_i a_i x_ij = 0.

With g_j = 0 the conjugate is finite at 0 alone. For a smooth loss the point a = −φ'(z + X_U t)
satisfies the constraint exactly where t, the change of the unpenalised coefficients, minimises the
sum of the losses: a smooth problem in a few variables. ``balance_kinks.py`` and
``balance_blocks.py`` have families of points for other losses.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.products import norm
from dualgap.linalg.validate import Floats
from dualgap.proof import terms
from dualgap.proof.balance_blocks import balance_blocks
from dualgap.proof.balance_kinks import balance_kinks
from dualgap.proof.balance_search import combined, gram_of, is_close, polish, settle, solved, summed

_COLLINEAR = 1e-5  # the part of a column that others do not explain, from which it counts
_SIMPLE = 1024.0  # coefficients of dependent columns are looked for among multiples of 1/1024
_MANY = 1 << 20  # entries of distinct rows, above which dependent columns are not looked for


class FreeFeatures(NamedTuple):
    """What a problem knows of its features without a penalty.

    ``features`` are those from which all others follow exactly, ``X`` their columns divided by
    their norms ``divisor``. If some follow only nearly, these are all features, and ``collinear``:
    no search for a balanced dual point could end. ``q`` is the curvature of a typical coordinate
    step over samples.
    """

    features: Any
    X: Floats
    divisor: Floats
    collinear: bool
    q: float


def free_features(problem: Any) -> FreeFeatures:
    """Reads X once for each of them; they are few."""
    width = problem.width
    features = problem.free_places[::width] // width
    q = _typical_curvature(problem, features)
    X = np.empty((problem.n, len(features)), order="F")
    for column, j in zip(X.T, features):
        unit = np.zeros(problem.coef_size)
        unit[j * width] = 1.0
        column[:] = problem.decision(unit)[::width]
    kept, collinear = _independent(X, problem.c)
    features, X = features[kept], np.asfortranarray(X[:, kept])
    size = np.sqrt(problem.column_squares[features])
    divisor = np.where(size > 0.0, size, 1.0)
    X /= divisor
    return FreeFeatures(features, X, divisor, collinear, q)


def _independent(X: Floats, c: Floats) -> tuple[Any, bool]:
    """Columns from which all others follow exactly, as far as samples with a weight can tell; or
    all of them, and True, if some follow only nearly."""
    used = X if X.shape[1] == 1 else X[c > 0.0]
    peaks = np.max(np.abs(used), axis=0)  # 0 only for columns of zeros: squares might underflow
    if X.shape[1] == 1:
        return np.flatnonzero(peaks), False
    seen = X / np.where(peaks > 0.0, peaks, 1.0) * np.sqrt(c)[:, None]
    sizes = np.sqrt(np.sum(seen * seen, axis=0))
    seen /= np.where(sizes > 0.0, sizes, 1.0)
    kept: list[int] = []
    others: list[int] = []
    basis = np.empty((len(X), 0))
    for j in reversed(range(X.shape[1])):  # a constant column first
        rest = seen[:, j] - basis @ (basis.T @ seen[:, j])
        rest -= basis @ (basis.T @ rest)
        left = float(np.sqrt(np.sum(rest * rest)))
        if left > _COLLINEAR:
            kept.append(j)
            basis = np.column_stack([basis, rest / left])
        elif peaks[j] > 0.0:
            others.append(j)
    kept.sort()
    if not all(_follows(used, kept, j) for j in others):
        return np.arange(X.shape[1]), True
    return np.array(kept, dtype=np.int64), False


def _follows(X: Floats, kept: list[int], j: int) -> bool:
    """Whether a column is exactly a simple combination of others, such as one-hot codes are."""
    rows = np.unique(X[:, [*kept, j]], axis=0)
    if rows.size > _MANY:
        return False
    found = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0]
    simple = [Fraction(round(float(b) * _SIMPLE), int(_SIMPLE)) for b in found]
    return all(
        sum(b * Fraction(x) for b, x in zip(simple, row)) == Fraction(row[-1])
        for row in rows.tolist()
    )


def _typical_curvature(problem: Any, free: Any) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # a feature of zeros times infinity
        others = np.delete(problem.column_squares * problem.smoothness, free)
        q = float(np.sum(others)) / (problem.n * problem.n * problem.lam)
    return q if 0.0 < q < np.inf else float(problem.unit_curvature)


def balance(problem: Any, pair: Any) -> Floats:
    """A feasible dual point that satisfies the constraint of each free feature, up to rounding.

    That is one close to the pair's own, if that has room, else one close to −φ'(z). If features are
    so nearly collinear that no search can end, the point as it is.
    """
    free: FreeFeatures = problem.unpenalised
    if free.collinear or not len(free.features):
        return np.asarray(pair.a)
    if problem.width > 1:
        return balance_blocks(problem, free.X, pair.a)
    if problem.loss.differentiable:
        return _balance_smooth(problem, free.X, pair.a, pair.z)
    return balance_kinks(problem, free.X, free.q, pair.a, pair.z)


class _Slopes:
    """a(t) = −φ'(z + X_U t)."""

    def __init__(self, problem: Any, X: Floats, z: Floats) -> None:
        self.problem, self.X, self.z = problem, X, z
        self.size = X.shape[1]

    def at(self, t: Floats) -> Floats:
        out = np.empty(self.problem.n)
        terms.slopes(self.problem.loss, self.problem.y, self.z + combined(self.X, t), out)
        return out

    def imbalance(self, a: Floats) -> Floats:
        return summed(self.X, self.problem.c * a)

    def length(self, a: Floats) -> float:
        return norm(self.problem.c * a)

    def gram(self, t: Floats, a: Floats) -> Floats:
        return self.weighted_gram(self.curvatures(t))

    def curvatures(self, t: Floats) -> Floats:
        h = np.empty(self.problem.n)
        terms.curvatures(self.problem.loss, self.problem.y, self.z + combined(self.X, t), h)
        return h

    def weighted_gram(self, h: Floats) -> Floats:
        return gram_of(self.X, self.problem.c * h)

    def polished(self, a: Floats, h: Floats) -> Floats:
        """``a`` with its imbalance taken out where φ'' gives room."""

        def corrected(a: Floats, missing: Floats) -> Floats:
            out = np.empty(self.problem.n)
            push = h * combined(self.X, solved(self.weighted_gram(h), missing))
            terms.projections(self.problem.loss, self.problem.y, a - push, out)
            return out

        return polish(self, a, corrected)


def _balance_smooth(problem: Any, X: Floats, a: Floats, z: Floats) -> Floats:
    family = _Slopes(problem, X, z)
    found = family.polished(a, family.curvatures(np.zeros(family.size)))
    if not is_close(family, found, problem.n):
        found, t = settle(family)
        found = family.polished(found, family.curvatures(t))
    return found


def fitted_alone(problem: Any) -> Floats:
    """−φ' where the unpenalised features fit best by themselves; for losses with a derivative."""
    free: FreeFeatures = problem.unpenalised
    if problem.width > 1:
        # A constant alone predicts the shares of the classes.
        own = np.eye(problem.width)[problem.y.astype(int)]
        return np.asarray(own - problem.c @ own).ravel()
    family = _Slopes(problem, free.X, np.zeros(problem.n))
    found, t = settle(family)
    return family.polished(found, family.curvatures(t))
