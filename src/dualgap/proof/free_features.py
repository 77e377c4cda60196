"""Features without a penalty: their columns, and the ballast that balances them exactly.

With g_j = 0 the conjugate is finite at 0 alone: a dual point is feasible only if it is balanced,
    Σ_i c_i a_i x_ij = 0   for each free feature j,
and floats are balanced only up to rounding. But an exactly balanced point is near: a − Δ, where Δ
is 0 except for as many dual variables as there are constraints. These variables are the ballast.
A bound on the imbalance gives one on Δ, and ``rounding.balance_cost`` bounds what such a Δ costs.
No bound on the optimal coefficients of free features is needed. ``exact_balance.py`` computes Δ.

For a loss of many classes a dual variable is an entry (i, k) with k ≠ y_i. The entry of class y_i
moves by as much the other way, since the entries of a sample add up to 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import helper, kernel
from dualgap.compile.rules import project
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.losses.offset import own_classes
from dualgap.penalties.structure import is_half_square
from dualgap.proof.block_ballast import forest_of_candidates, spanning_forest
from dualgap.proof.free_columns import FreeColumns
from dualgap.proof.independence import independent_columns, independent_features
from dualgap.proof.settled import settled_samples
from dualgap.proof.tuning import TUNING

_FAR = 1e300  # beyond every finite bound on a dual variable
_USED_ROOM = TUNING.used_room


class FreeFeatures(NamedTuple):
    """What a problem knows of its features without a penalty.

    ``features``   those from which all other free features follow exactly
    ``X``          their columns, divided by their norms; an array or ``FreeColumns``
    ``collinear``  whether some follow only nearly. Then ``features`` has all of them, and no search
                   for a balanced dual point could end.
    ``q``          the curvature of a typical coordinate step over samples
    ``settled``    a mask of samples whose dual variable must be 0; None without any
    ``near``       features that follow nearly, or are close to it
    """

    features: Any
    X: Any
    collinear: bool
    q: float
    settled: Any = None
    near: tuple[int, ...] = ()


def free_features(problem: Any) -> FreeFeatures:
    """Reads X once for each free feature; they are few."""
    features = problem.free_places[:: problem.width] // problem.width
    q = _typical_curvature(problem, features)
    settled = settled_samples(problem, features) if len(features) > 1 else None
    c = problem.c if settled is None else np.where(settled, 0.0, problem.c)
    columns: Any
    if _stay_in_X(problem, len(features)):
        found = independent_features(problem, features, c)
        kept = features[found.kept]
        size = np.sqrt(problem.column_squares[kept])
        columns = FreeColumns(problem, kept, np.where(size > 0.0, size, 1.0))
    else:
        X = np.empty((problem.n, len(features)), order="F")
        for column, j in zip(X.T, features):
            column[:] = problem.one_column(j)
        found = independent_columns(X, c)
        kept = features[found.kept]
        columns, squares = X[:, found.kept], [problem.square_of_column(j) for j in kept]
        if found.orthogonal is not None:
            columns, squares = found.orthogonal, np.sum(found.orthogonal**2, axis=0)
        size = np.sqrt(squares)
        columns = np.asfortranarray(columns / np.where(size > 0.0, size, 1.0))
    near = tuple(int(j) for j in features[list(found.near)])
    return FreeFeatures(kept, columns, found.collinear, q, settled, near)


def near_columns(problem: Any) -> tuple[int, ...]:
    """Columns of X without a penalty that nearly follow from others."""
    several = len(problem.free_places) > 1 and problem.n_targets == 1
    return problem.unpenalised.near if several else ()


def _stay_in_X(problem: Any, count: int) -> bool:  # noqa: N802
    """Only searches for balanced dual points of smooth scalar losses do without dense columns."""
    large = count > 1 and problem.n * count > TUNING.dense_free_columns
    smooth = problem.width == 1 and problem.loss.differentiable
    return bool(large and smooth and storage.is_sparse(problem.X) and problem.by_rows)


def _typical_curvature(problem: Any, free: Any) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # a feature of zeros times infinity
        own = getattr(problem, "feature_penalty", None)  # partitions have none
        if len(free) == problem.has_intercept and is_half_square(own):
            others = problem.squares_of_rows  # they are known, with the same sum
        else:
            others = np.delete(problem.column_squares * problem.smoothness, free)
        q = float(np.sum(others)) / (problem.n * problem.n * problem.lam)
    return q if 0.0 < q < np.inf else float(problem.unit_curvature)


# --- ballast --------------------------------------------------------------------------------------


class Ballast(NamedTuple):
    """Dual variables that can take up an imbalance, with all that the cost of it depends on.

    ``samples``   the sample of each; no sample occurs twice
    ``classes``   the entry of the sample that moves; 0 for a scalar loss
    ``room``      how far it can move both ways
    ``c``, ``y``  weight and target of the sample
    ``a``         its dual variables, shape (m, width)
    ``X``         its row, dense and with the constant feature, shape (m, d)
    ``free``      the features to balance; other free features follow from these
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
        """The entries of u that must vanish."""
        width = self.a.shape[1]
        return (self.free[:, None] * width + np.arange(width)).ravel()

    @property
    def implied(self) -> int:
        """A class whose constraints follow from those of all others, since the entries of a sample
        add up to 0. It has samples with a weight: other classes are always balanced."""
        return int(own_classes(self.y).max()) if len(self.y) else 0

    @property
    def constraints(self) -> Floats:
        """Row e: what a move of variable e by its ``room`` adds to each constraint, in the order of
        u, without the ``implied`` class."""
        width = self.a.shape[1]
        rows = (self.c * self.room)[:, None] * self.X[:, self.free]
        if width == 1:
            return rows
        signs = np.zeros((len(rows), width))
        places = np.arange(len(rows))
        signs[places, self.classes] = 1.0
        signs[places, own_classes(self.y)] = -1.0
        signs = np.delete(signs, self.implied, axis=1)
        size = len(self.free) * (width - 1)
        return np.asarray((rows[:, :, None] * signs[:, None, :]).reshape(len(rows), size))


def choose_ballast(problem: Any, a: Floats) -> Ballast:
    """The dual variables with the most room; depends on the problem and ``a`` alone."""
    return select_ballast(ballast_candidates(problem, a))


def ballast_candidates(problem: Any, a: Floats) -> Ballast:
    """The best dual variables of each kind. Partitions send theirs to the driver."""
    free = problem.unpenalised
    found, room = _best_of_each_kind(problem, a, free.X)
    samples = np.array([i for i, _ in found], dtype=np.int64)
    classes = np.array([k for _, k in found], dtype=np.int64)
    return Ballast(
        samples,
        classes,
        room,
        problem.c[samples],
        np.asarray(problem.y[samples], np.result_type(problem.y, np.float64)),
        a.reshape(problem.n, problem.width)[samples],
        _rows(problem, samples),
        free.features,
    )


def merge_candidates(parts: list[Ballast], sizes: list[int]) -> Ballast:
    """The candidates of all partitions, which have ``sizes`` samples."""
    starts = np.cumsum([0, *sizes])
    samples = [part.samples + start for part, start in zip(parts, starts)]
    columns = zip(*(part[1:-1] for part in parts))
    rest = [np.concatenate(column) for column in columns]
    return Ballast._make([np.concatenate(samples), *rest, parts[0].free])


def select_ballast(candidates: Ballast) -> Ballast:
    """One candidate for each constraint, if there are enough; each of another sample."""
    width = candidates.a.shape[1]
    order = np.argsort(candidates.samples * width + candidates.classes, kind="stable")
    candidates = _at(candidates, order)
    if width > 1 and len(candidates.free) == 1:
        best = spanning_forest(candidates)
    else:
        best = _pivots(candidates.constraints, candidates.samples)
    return _at(candidates, np.array(best, dtype=np.int64))


def _at(ballast: Ballast, places: Any) -> Ballast:
    return Ballast._make([*(column[places] for column in ballast[:-1]), ballast.free])


def _best_of_each_kind(problem: Any, a: Floats, X: Any) -> tuple[list[tuple[int, int]], Floats]:
    """Pairs of a sample and the class that moves, and how far each can move."""
    if problem.width == 1 and X.shape[1] == 1:
        best, far = roomiest(problem.loss, problem.y, problem.c, a, X[:, 0])
        return ([(int(best), 0)], np.array([far])) if best >= 0 else ([], np.empty(0))
    room, found = _room(problem, a), list[tuple[int, int]]()
    if X.shape[1] == 1:
        return forest_of_candidates(problem, room, X[:, 0])
    if isinstance(X, FreeColumns):
        own = problem.c * room[:, 0]
        samples = X.far_samples(own)
        found = [(int(samples[i]), 0) for i in _pivots(own[samples, None] * X.rows(samples))]
        return found, np.array([room[i, k] for i, k in found])
    for k, samples in _kinds(problem):
        own = room[samples, k]
        rows = (problem.c[samples] * own)[:, None] * X[samples]
        found += [(int(np.arange(problem.n)[samples][i]), k) for i in _pivots(rows)]
    return found, np.array([room[i, k] for i, k in found])


def _kinds(problem: Any) -> Iterator[tuple[int, Any]]:
    """Each class that can move, with the samples of one label."""
    if problem.width == 1:
        yield 0, slice(None)
        return
    for label in range(problem.width):
        samples = np.flatnonzero(own_classes(problem.y) == label)
        others = range(problem.width if len(samples) else 0)
        yield from ((k, samples) for k in others if k != label)


def _pivots(rows: Floats, owners: Any = None) -> list[int]:
    """Rows that span all rows, the longest first; at most one of each owner."""
    rows, found = rows.copy(), []
    for _ in range(np.count_nonzero(rows.any(axis=0))):  # more would be rounding errors
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
    """How far each dual variable can move both ways, at most about its size; shape (n, K)."""
    if problem.width > 1:
        shares = np.maximum(-a.reshape(problem.n, problem.width), 0.0)
        shares[np.arange(problem.n), own_classes(problem.y)] = 0.0
        left = np.maximum(1.0 - shares.sum(axis=1), 0.0)
        return np.asarray(_USED_ROOM * np.minimum(shares, left[:, None]))
    out = np.empty((problem.n, 1))
    _rooms(problem.loss, problem.y, a, out[:, 0])
    return out


@helper
def room_of(loss: Any, a: float, y: float) -> float:
    room = min(a - project(loss, -_FAR, y), project(loss, _FAR, y) - a, 1.0 + abs(a))
    return _USED_ROOM * max(room, 0.0)


@kernel
def _rooms(loss: Any, y: Any, a: Any, out: Any) -> None:
    for i in range(len(y)):
        out[i] = room_of(loss, a[i], y[i])


@kernel
def roomiest(loss: Any, y: Any, c: Any, a: Any, x: Any) -> tuple[int, float]:
    """The first sample with the most room, in units of its constraint, or −1 if none has room."""
    best, most, room = -1, 0.0, 0.0
    for i in range(len(y)):
        far = room_of(loss, a[i], y[i])
        if c[i] * far * abs(x[i]) > most:
            best, most, room = i, c[i] * far * abs(x[i]), far
    return best, room


def _rows(problem: Any, samples: Any) -> Floats:
    X = problem.X[samples]
    X = np.asarray(X.toarray() if storage.is_sparse(X) else X, dtype=np.float64)
    if problem.has_intercept:
        X = np.column_stack([X, np.full(len(X), problem.constant)])
    return X
