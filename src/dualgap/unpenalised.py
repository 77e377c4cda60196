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
from dualgap._validate import Floats

_STEPS = 50


def balance(problem: Any, z: Floats, free: Any) -> Floats:
    """A feasible dual point close to −φ'(z) that satisfies the constraint of each free feature."""
    X = np.empty((problem.n, len(free)))
    for column, j in zip(X.T, free):
        _copy_column(problem.columns, j, column)
    a, h = np.empty((2, problem.n))
    move = np.zeros(len(free))
    size = np.sqrt(problem.column_squares[free])
    for _ in range(_STEPS):
        shifted = z + X @ move
        terms.slopes(problem.loss, problem.y, shifted, a)
        imbalance = X.T @ (problem.c * a)
        if np.all(np.abs(imbalance) <= 4.0 * terms.EPS * size * np.linalg.norm(problem.c * a)):
            break
        terms.curvatures(problem.loss, problem.y, shifted, h)
        weighted = X * (problem.c * h)[:, None]
        newton = np.linalg.lstsq(X.T @ weighted, imbalance, rcond=None)[0]
        move = _descend(problem, z, X, move, newton, imbalance)
    return np.asarray(a)


def _descend(
    problem: Any, z: Floats, X: Floats, move: Floats, newton: Floats, imbalance: Floats
) -> Floats:
    """The longest of the halved Newton steps that does not raise the sum of the losses."""
    before = _total(problem, z + X @ move)
    expected = float(newton @ imbalance)
    for halving in range(40):
        trial = move + newton * 0.5**halving
        after = _total(problem, z + X @ trial)
        if after <= before - 1e-4 * 0.5**halving * expected + 8.0 * terms.EPS * abs(before):
            return trial
    return move


def _total(problem: Any, z: Floats) -> float:
    losses, parts = np.empty((2, problem.n))
    none = np.empty(0)
    terms.sample_terms(
        problem.loss, problem.y, problem.c, z, np.zeros(problem.n), none, losses, parts
    )
    return float(np.sum(losses))


@kernel
def _copy_column(columns: Any, j: int, out: Any) -> None:
    out[:] = 0.0
    start, stop = span(columns, j)
    for t in range(start, stop):
        out[place(columns, j, t)] = entry(columns, j, t)
