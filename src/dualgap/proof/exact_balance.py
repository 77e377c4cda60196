"""A dual point that is feasible in exact arithmetic, for proof files.

Certificates prove that such a point is near the floats of a run (``free_features.py``). Here it is
computed: the dual variables of the ballast become fractions, and all others stay floats.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import Floats
from dualgap.losses.offset import own_classes
from dualgap.proof.free_features import Ballast, choose_ballast

Repairs = dict[int, Fraction]


def exactly_feasible(problem: Any, dual: Floats) -> tuple[Floats, Repairs]:
    """Floats of shape (n, width), and the fractions that replace some of them, by flat index."""
    a = dual.reshape(problem.n, problem.width).copy()
    if problem.n_targets > 1:
        found: Repairs = {}
        for k, view in enumerate(problem.target_views):
            a[:, k : k + 1], own = exactly_feasible(view, np.ascontiguousarray(a[:, k]))
            found |= {i * problem.width + k: value for i, value in own.items()}
        return a, found
    if problem.width > 1:
        _make_shares_feasible(a, own_classes(problem.y))
    if not len(problem.free_places) or not a.any():
        return a, {}
    ballast = choose_ballast(problem, dual)
    # Classes without any ballast satisfy their constraints already.
    used = np.asarray(ballast.constraints.any(axis=0))
    columns = _columns(problem, ballast.free)
    classes = [k for k in range(problem.width) if problem.width == 1 or k != ballast.implied]
    missing = [m for m, one in zip(_imbalance(problem, a, columns, classes), used) if one]
    if not any(missing):
        return a, {}
    rows = _moves(problem, ballast, columns, classes)
    matrix = [[row[k] for row in rows] for k in np.flatnonzero(used)]
    moves = _solved(matrix, missing)
    repairs = {}
    for i, k, move in zip(ballast.samples, ballast.classes, moves):
        repairs[int(i) * problem.width + int(k)] = Fraction(float(a[i, k])) - move
    return a, repairs


def _make_shares_feasible(a: Floats, y: Any) -> None:
    """Scale the shares −a_k, k ≠ y, of each row until they sum to at most 1; a_y is their sum."""
    rows = np.arange(len(a))
    a[rows, y] = 0.0
    np.minimum(a, 0.0, out=a)
    for i in np.flatnonzero(a.sum(axis=1) <= -1.0 + 4.0 * a.shape[1] * EPS):
        while -sum(map(Fraction, a[i].tolist())) > 1:
            a[i] *= 1.0 - EPS
    a[rows, y] = -a.sum(axis=1)


def _columns(problem: Any, features: Any) -> Floats:
    """Columns of the data as given, shape (n, count)."""
    out = np.empty((problem.n, len(features)))
    for column, j in zip(out.T, features):
        if j == problem.p:
            column[:] = 1.0
        else:
            own = problem.given[:, [j]]
            column[:] = np.asarray(own.toarray() if hasattr(own, "toarray") else own).ravel()
    return out


def _imbalance(problem: Any, a: Floats, columns: Floats, classes: list[int]) -> list[Fraction]:
    """Σ_i s_i a_i x_ij, feature by feature, for some classes."""
    s = np.ones(problem.n) if problem.s is None else problem.s
    width, own = problem.width, own_classes(problem.y)
    found = []
    for column in columns.T:
        if width == 1:
            found.append(_exact_dot(s, a[:, 0], column))
            continue
        for k in classes:
            others = own != k
            total = _exact_dot(s[others], a[others, k], column[others])
            mine = np.flatnonzero(own == k)
            taken = [_exact_dot(s[mine], a[mine, m], column[mine]) for m in range(width) if m != k]
            found.append(total - sum(taken, Fraction(0)))
    return found


def _exact_dot(s: Floats, a: Floats, x: Floats) -> Fraction:
    """Σ s a x in integers: each float is an integer times a power of two."""
    used = (s != 0.0) & (a != 0.0) & (x != 0.0)
    if not used.any():
        return Fraction(0)
    parts = [np.frexp(v[used]) for v in (s, a, x)]
    digits = [(np.ldexp(m, 53)).astype(np.int64).tolist() for m, _ in parts]
    exponents = sum(e.astype(np.int64) for _, e in parts)
    least = int(exponents.min())
    total = 0
    for p, q, r, e in zip(*digits, (exponents - least).tolist()):
        total += (p * q * r) << e
    shift = least - 3 * 53
    return Fraction(total << shift) if shift >= 0 else Fraction(total, 1 << -shift)


def _moves(
    problem: Any, ballast: Ballast, columns: Floats, classes: list[int]
) -> list[list[Fraction]]:
    """Row by row, what a move of a dual variable by 1 adds to each constraint."""
    rows = []
    for i, k, y in zip(ballast.samples, ballast.classes, own_classes(ballast.y)):
        weight = Fraction(1 if problem.s is None else float(problem.s[i]))
        row = []
        for x in columns[i].tolist():
            own = weight * Fraction(x)
            if problem.width == 1:
                row.append(own)
            else:
                row += [own * (int(m == k) - int(m == y)) for m in classes]
        rows.append(row)
    return rows


def _solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """The solution of a few linear equations by Gaussian elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for k in range(len(rows)):
        best = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        pivot = rows[k][k]
        for i, row in enumerate(rows):
            if i != k and row[k]:
                factor = row[k] / pivot
                rows[i] = [x - factor * y for x, y in zip(row, rows[k])]
    return [row[-1] / row[k] for k, row in enumerate(rows)]
