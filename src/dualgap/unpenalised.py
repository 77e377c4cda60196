"""Features without a penalty: their dual constraint  Σ_i c_i a_i x_ij = 0.

With g_j = 0 the conjugate is finite at 0 alone. The point a = −φ'(z + X_U t) satisfies the
constraint exactly where t, the change of the unpenalised coefficients, minimises the sum of the
losses: a smooth problem in a few variables, solved by damped Newton steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap import terms
from dualgap._compile import kernel
from dualgap._rules import entry, place, span
from dualgap._scalar import EPS
from dualgap._validate import Floats

_STEPS = 50
_COLLINEAR = 1e-10  # smallest eigenvalue of the Gram matrix of normalised features


def balance(problem: Any, pair: Any, free: Any) -> tuple[Floats, Floats]:
    """A feasible dual point that satisfies the constraint of each free feature.

    That is the pair's own, if little is missing, else one close to −φ'(z). Also returns how large
    the free coefficients are; infinite when the features are so nearly collinear that nothing
    bounds them.
    """
    X, size, divisor = _normalised(problem, free)
    used = X[:, size > 0.0]
    if used.size and np.linalg.eigvalsh(used.T @ used)[0] < _COLLINEAR:
        return pair.a, np.full(len(free), np.inf)
    h = np.empty(problem.n)
    terms.curvatures(problem.loss, problem.y, pair.z, h)
    corrected = _correct(problem, X, pair.a, h)
    if _is_balanced(problem, X, corrected):
        return corrected, np.abs(pair.w[free])
    a, h, move = _newton(problem, pair.z, X)
    return _correct(problem, X, a, h), np.abs(pair.w[free]) + np.abs(move) / divisor


def fitted_alone(problem: Any) -> Floats:
    """−φ' where the unpenalised features fit best by themselves, all others being left out."""
    X = _normalised(problem, np.flatnonzero(problem.features.free))[0]
    a, h, _ = _newton(problem, np.zeros(problem.n), X)
    return _correct(problem, X, a, h)


def _normalised(problem: Any, free: Any) -> tuple[Floats, Floats, Floats]:
    """The free features with norm 1, their norms, and what they were divided by."""
    X = np.empty((problem.n, len(free)))
    for column, j in zip(X.T, free):
        if problem.has_intercept and j == problem.d - 1:
            column[:] = problem.constant
        else:
            _copy_column(problem.columns, j, column)
    size = np.sqrt(problem.column_squares[free])
    divisor = np.where(size > 0.0, size, 1.0)
    X /= divisor
    return X, size, divisor


def _newton(problem: Any, z: Floats, X: Floats) -> tuple[Floats, Floats, Floats]:
    """−φ' and φ'' at z + X·move, with the move that minimises the sum of the losses."""
    a, h = np.empty((2, problem.n))
    move = np.zeros(X.shape[1])
    for _ in range(_STEPS):
        imbalance, gram = _slopes_at(problem, z + X @ move, X, a, h)
        newton = np.asarray(np.linalg.lstsq(gram, imbalance, rcond=None)[0], dtype=np.float64)
        longer = _descend(problem, z, X, move, newton, imbalance)
        if (longer == move).all():
            break
        move = longer
    return a, h, move


def _correct(problem: Any, X: Floats, a: Floats, h: Floats) -> Floats:
    """``a`` with its imbalance taken out where φ'' gives room; what Newton leaves is rounding."""
    out = np.empty(problem.n)
    missing = np.linalg.lstsq(_gram(problem, X, h), X.T @ (problem.c * a), rcond=None)[0]
    terms.projections(problem.loss, problem.y, a - h * (X @ missing), out)
    return out


def _is_balanced(problem: Any, X: Floats, a: Floats) -> bool:
    weighted = problem.c * a
    room = EPS * np.sqrt(np.sum(weighted * weighted))
    return bool((np.abs(X.T @ weighted) <= room).all())


def _slopes_at(problem: Any, z: Floats, X: Floats, a: Floats, h: Floats) -> tuple[Floats, Floats]:
    """Fills a = −φ'(z) and h = φ''(z); the imbalance of a, and how it changes with the free w."""
    terms.slopes(problem.loss, problem.y, z, a)
    terms.curvatures(problem.loss, problem.y, z, h)
    return X.T @ (problem.c * a), _gram(problem, X, h)


def _descend(
    problem: Any, z: Floats, X: Floats, move: Floats, newton: Floats, imbalance: Floats
) -> Floats:
    """The longest of the halved Newton steps that lowers the sum of the losses."""
    before = problem.loss_value(z + X @ move)
    expected = float(newton @ imbalance)
    if expected <= EPS * abs(before):
        return move
    for halving in range(40):
        trial = move + newton * 0.5**halving
        if problem.loss_value(z + X @ trial) < before - 1e-4 * 0.5**halving * expected:
            return trial
    return move


def _gram(problem: Any, X: Floats, h: Floats) -> Floats:
    return np.asarray(X.T @ (X * (problem.c * h)[:, None]))


@kernel
def _copy_column(columns: Any, j: int, out: Any) -> None:
    out[:] = 0.0
    start, stop = span(columns, j)
    for t in range(start, stop):
        out[place(columns, j, t)] = entry(columns, j, t)
