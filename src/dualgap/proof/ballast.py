"""Ballast: the few dual variables that make the balance of free features exact.

A feature without a penalty needs Σ_i c_i a_i x_ij = 0, and floats meet that only up to rounding.
An exact solution is near: a − Δ, where Δ is 0 except for as many dual variables as there are
constraints, and VᵀΔ = m with m the imbalance. A bound on m gives one on Δ, and D(a − Δ) is at least
D(a) less what such a Δ can cost. No bound on the coefficients of free features is needed.
``exact_balance.py`` computes Δ itself, for proof files.

For a loss of many classes a dual variable is an entry (i, k) with k ≠ y_i; the entry of class y_i
moves by as much the other way, since entries of a sample add up to 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import helper, kernel, ordered_kernel
from dualgap.compile.rules import conj, project
from dualgap.compile.scalar import EPS
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats

_FAR = 1e300
_ROUNDED = 64.0 * EPS  # relative errors of a charge, many times over
_USED = 0.5  # the part of their room that dual variables may be moved by


class Ballast(NamedTuple):
    """Dual variables that can take up an imbalance, with all that it takes to say what that costs.

    ``samples``   which samples; each occurs once
    ``classes``   the entry of each that moves; 0 for a scalar loss
    ``room``      how far it can move both ways
    ``c``, ``y``  of each sample; ``a`` its dual variables, shape (m, width)
    ``X``         its row, as a dense matrix (m, d) with the constant feature
    ``free``      which features are to be balanced; others follow from these
    """

    samples: Any
    classes: Any
    room: Floats
    c: Floats
    y: Floats
    a: Floats
    X: Floats
    free: Any

    @property
    def places(self) -> Any:
        """The entries of u that have to vanish."""
        width = self.a.shape[1]
        return (self.free[:, None] * width + np.arange(width)).ravel()

    @property
    def implied(self) -> int:
        """A class whose constraints follow from those of all others, since entries of a sample add
        up to 0; one with a weight, since those of other classes hold anyway."""
        return int(self.y.max()) if len(self.y) else 0

    @property
    def constraints(self) -> Floats:
        """Row e has what a move of variable e by ``room`` adds to each constraint, in the order of
        u, without the ``implied`` class."""
        width = self.a.shape[1]
        rows = (self.c * self.room)[:, None] * self.X[:, self.free]
        if width == 1:
            return rows
        signs = np.zeros((len(rows), width))
        places = np.arange(len(rows))
        signs[places, self.classes] = 1.0
        signs[places, self.y.astype(int)] = -1.0
        signs = np.delete(signs, self.implied, axis=1)
        size = len(self.free) * (width - 1)
        return np.asarray((rows[:, :, None] * signs[:, None, :]).reshape(len(rows), size))


class Charge(NamedTuple):
    """What the exact point can cost: bounds on the change of u, and on that of samples' terms."""

    u: Any
    of_gap: float
    of_dual: float


# --- which dual variables -------------------------------------------------------------------------


def ballast(problem: Any, a: Floats) -> Ballast:
    """The dual variables with most room; depends on the problem and ``a`` alone."""
    return chosen(candidates(problem, a))


def candidates(problem: Any, a: Floats) -> Ballast:
    """The best of each kind, of which ``chosen`` takes some: partitions send theirs to a driver."""
    free = problem.unpenalised
    found, room = _found(problem, a, free.X)
    samples = np.array([i for i, _ in found], dtype=np.int64)
    classes = np.array([k for _, k in found], dtype=np.int64)
    return Ballast(
        samples,
        classes,
        room,
        problem.c[samples],
        np.asarray(problem.y[samples], dtype=np.float64),
        a.reshape(problem.n, problem.width)[samples],
        _rows(problem, samples),
        free.features,
    )


def merged(parts: list[Ballast], sizes: list[int]) -> Ballast:
    """The candidates of partitions of so many samples."""
    starts = np.cumsum([0, *sizes])
    samples = [part.samples + start for part, start in zip(parts, starts)]
    columns = zip(*(part[1:-1] for part in parts))
    rest = [np.concatenate(column) for column in columns]
    return Ballast._make([np.concatenate(samples), *rest, parts[0].free])


def chosen(found: Ballast) -> Ballast:
    """As many candidates as there are constraints, if there are; each of another sample."""
    order = np.argsort(found.samples * found.a.shape[1] + found.classes, kind="stable")
    found = _taken(found, order)
    best = _pivots(found.constraints, found.samples)
    return _taken(found, np.array(best, dtype=np.int64))


def _taken(found: Ballast, places: Any) -> Ballast:
    return Ballast._make([*(column[places] for column in found[:-1]), found.free])


def _found(problem: Any, a: Floats, X: Floats) -> tuple[list[tuple[int, int]], Floats]:
    """The best samples of each kind with the class that moves, and how far each can."""
    if problem.width == 1 and X.shape[1] == 1:
        best, far = _roomiest(problem.loss, problem.y, problem.c, a, X[:, 0])
        return ([(int(best), 0)], np.array([far])) if best >= 0 else ([], np.empty(0))
    room = _room(problem, a)
    found: list[tuple[int, int]] = []
    for k, samples in _kinds(problem):
        own = room[samples, k]
        rows = (problem.c[samples] * own)[:, None] * X[samples]
        found += [(int(np.arange(problem.n)[samples][i]), k) for i in _pivots(rows)]
    return found, np.array([room[i, k] for i, k in found])


def _kinds(problem: Any) -> Iterator[tuple[int, Any]]:
    """Classes that can move, each with samples of one label."""
    if problem.width == 1:
        yield 0, slice(None)
        return
    for label in range(problem.width):
        samples = np.flatnonzero(problem.y == label)
        for k in range(problem.width if len(samples) else 0):
            if k != label:
                yield k, samples


def _pivots(rows: Floats, owners: Any = None) -> list[int]:
    """Rows that span all of them, the longest first; of each owner one."""
    rows, found = rows.copy(), []
    for _ in range(rows.shape[1]):
        sizes = np.einsum("ij,ij->i", rows, rows)
        best = int(np.argmax(sizes)) if len(sizes) else -1
        if best < 0 or not 0.0 < sizes[best] < np.inf:
            break
        found.append(best)
        along = rows[best] / np.sqrt(sizes[best])
        if rows.shape[1] == 1:
            break
        rows -= np.outer(rows @ along, along)
        rows[best if owners is None else owners == owners[best]] = 0.0
    return found


def _room(problem: Any, a: Floats) -> Floats:
    """How far each dual variable can move both ways, at most about its own size; shape (n, K)."""
    if problem.width > 1:
        shares = np.maximum(-a.reshape(problem.n, problem.width), 0.0)
        rows = np.arange(problem.n)
        shares[rows, problem.y.astype(int)] = 0.0
        left = np.maximum(1.0 - shares.sum(axis=1), 0.0)
        return np.asarray(_USED * np.minimum(shares, left[:, None]))
    out = np.empty((problem.n, 1))
    _rooms(problem.loss, problem.y, a, out[:, 0])
    return out


@helper
def _room_of(loss: Any, a: float, y: float) -> float:
    room = min(a - project(loss, -_FAR, y), project(loss, _FAR, y) - a, 1.0 + abs(a))
    return _USED * max(room, 0.0)


@kernel
def _rooms(loss: Any, y: Any, a: Any, out: Any) -> None:
    for i in range(len(y)):
        out[i] = _room_of(loss, a[i], y[i])


@kernel
def _roomiest(loss: Any, y: Any, c: Any, a: Any, x: Any) -> tuple[int, float]:
    """The first sample with most room, in units of its constraint; −1 if none has any."""
    best, most, room = -1, 0.0, 0.0
    for i in range(len(y)):
        far = _room_of(loss, a[i], y[i])
        if c[i] * far * abs(x[i]) > most:
            best, most, room = i, c[i] * far * abs(x[i]), far
    return best, room


def _rows(problem: Any, samples: Any) -> Floats:
    X = problem.X[samples]
    X = np.asarray(X.toarray() if storage.is_sparse(X) else X, dtype=np.float64)
    if problem.has_intercept:
        X = np.column_stack([X, np.full(len(X), problem.constant)])
    return X


# --- what it costs --------------------------------------------------------------------------------


def moves(held: Ballast, missing: Floats, weight_error: float) -> Floats | None:
    """Bounds on |Δ| for any imbalance up to ``missing``; None if there is not room enough.

    With T the constraints in units of room, Y about T⁻ᵀ and t = Δ/room:  t = Ym + (I − YTᵀ)t.
    """
    T = held.constraints.T
    needed, width = missing, held.a.shape[1]
    if width > 1:
        needed = np.delete(missing.reshape(-1, width), held.implied, axis=1).ravel()
    if not missing.any():
        return np.zeros(T.shape[1])
    used = T.any(axis=1)  # a class without samples has no imbalance, and nothing to take it up
    T, needed, idle = T[used], needed[used], needed[~used]
    if idle.any() or T.shape[0] != T.shape[1] or not np.isfinite(T).all():
        return None
    if len(T) == 1:
        t = needed / np.abs(T[0]) * (1.0 + (8.0 + weight_error) * EPS)
        return np.asarray(t * held.room) if t[0] <= 1.0 else None
    try:
        Y = np.linalg.inv(T)
    except np.linalg.LinAlgError:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        lost = (8.0 + len(T) + weight_error) * EPS * (np.abs(Y) @ np.abs(T))
        off = float(np.max(np.sum(np.abs(np.eye(len(T)) - Y @ T) + lost, axis=1)))
        first = np.abs(Y) @ needed * (1.0 + (4.0 + len(T)) * EPS)
        if not off < 0.5 or not first.max() < np.inf:
            return None
        t = (first + off / (1.0 - off) * first.max()) * (1.0 + 8.0 * EPS)
    return np.asarray(t * held.room) if t.max() <= 1.0 else None


def charged(frame: Any, held: Ballast, missing: Floats, w: Floats) -> Charge | None:
    """What an exact balance costs where up to ``missing`` is missing, for coefficients ``w``; None
    if there is not room enough. ``frame`` has loss, λ and what is known of weights."""
    weight_error = frame.weight_error
    far = moves(held, missing, weight_error)
    if far is None:
        return None
    width = held.a.shape[1]
    share = held.c * far * (1.0 + (8.0 + weight_error) * EPS)
    places, y = np.arange(len(far)), held.y.astype(int)
    touched = np.zeros((len(far), width))
    touched[places, held.classes] = 1.0
    if width > 1:
        touched[places, y] = 1.0
    u = (share[:, None] * np.abs(held.X)).T @ touched / frame.lam * (1.0 + _ROUNDED)
    # |Δ·z| ≤ |Δ| Σ|x||w|, or for classes |Δ|(|z_k| + |z_y|).
    sizes = np.sum((np.abs(held.X) @ np.abs(w.reshape(-1, width))) * touched, axis=1)
    costs = np.zeros(len(far))
    signs = np.asarray(held.y, dtype=frame.y.dtype)
    moved = held.a.copy()
    action = _costs if width == 1 else _block_costs
    action(frame.loss, signs, moved, held.classes, far, costs)
    of_dual = float(np.sum(held.c * costs)) * (1.0 + _ROUNDED * (1.0 + weight_error))
    of_gap = of_dual + float(np.sum(share * sizes)) * (1.0 + _ROUNDED * (1.0 + len(w)))
    return Charge(np.asarray(u.ravel()), of_gap, of_dual)


@ordered_kernel
def _costs(loss: Any, y: Any, a: Any, classes: Any, far: Any, out: Any) -> None:
    """By how much φ* can grow: it is convex, so at one of the ends."""
    for i in range(len(y)):
        at, low, high = a[i, 0], a[i, 0] - far[i], a[i, 0] + far[i]
        if far[i] > 0.0:
            here, left, right = conj(loss, at, y[i]), conj(loss, low, y[i]), conj(loss, high, y[i])
            size = abs(here) + abs(left) + abs(right) + (abs(at) + far[i]) * (1.0 + abs(y[i]))
            size += abs(y[i])
            out[i] = max(max(left, right) - here, 0.0) + _ROUNDED * size


@ordered_kernel
def _block_costs(loss: Any, y: Any, a: Any, classes: Any, far: Any, out: Any) -> None:
    for i in range(len(y)):
        if far[i] > 0.0:
            row, own, k = a[i], int(y[i]), classes[i]
            here = conj(loss, row, y[i])
            at, at_own = row[k], row[own]
            row[k], row[own] = at - far[i], at_own + far[i]
            left = conj(loss, row, y[i])
            row[k], row[own] = at + far[i], at_own - far[i]
            right = conj(loss, row, y[i])
            row[k], row[own] = at, at_own
            size = 1.0 + abs(here) + abs(left) + abs(right)
            out[i] = max(max(left, right) - here, 0.0) + _ROUNDED * size * len(row)
