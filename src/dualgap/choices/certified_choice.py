"""``certified_choice``: bounds on the cross-validation error of exact optima, at every strength.

The interval of strengths is cut into cells. Two certified pairs, at the ends of a cell, bound the
decision values of all optima inside (``between.py``), hence which validation samples they all get
right and which wrong. The cell that might contain the best strength is cut in two, until none can
be much better than the best strength known. Where a pair halfway between its neighbours is good
enough, nothing is fitted; so the grid becomes fine only where the choice is close, and most of its
points cost a few passes over the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable

from dualgap.choices.between import Point, middle_of, pair_of
from dualgap.choices.fold import Bounds, FoldProblems
from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import LARGEST, Floats, number, whole
from dualgap.run.solve import solve

_FIRST_TOL = 1e-6  # of the first fits, relative to P(0)
_LEAST_TOL = 1e-12
_SHARE = 0.01  # of what the width of a cell adds to gaps: the gap of a new fit at one of its ends


class _Node(NamedTuple):
    """A strength, with a point for each problem of each fold, and bounds on the error there."""

    strength: float
    points: list[list[Point]]
    error: Bounds


class _Cell(NamedTuple):
    """What lies between two nodes."""

    low: _Node
    high: _Node
    error: Bounds


@dataclass(frozen=True, eq=False)
class CertifiedChoice:
    """Which strength to choose, and what no other one can be better than.

    The error is the mean over folds: of the share of wrong labels, for regression of the mean
    squared error. It is that of the exact optima, whatever solver finds them.

    ``name``       "C" or "alpha"
    ``value``      the chosen strength: the one with the least upper bound of those fitted
    ``most``       the error at the chosen strength is at most this
    ``least``      no strength of the interval has a smaller error than this
    ``strengths``  a grid of n strengths, in increasing order
    ``at``         bounds on the error at each of them, shape (n, 2)
    ``between``    bounds on the error everywhere between two of them, shape (n − 1, 2)
    ``fits``       how many models were fitted to each fold; the others lie halfway between two
    ``kind``       what the error is
    """

    name: str
    value: float
    most: float
    least: float
    strengths: Floats = field(repr=False)
    at: Floats = field(repr=False)
    between: Floats = field(repr=False)
    fits: int
    kind: str

    def __str__(self) -> str:
        return (
            f"no {self.name} in [{self.strengths[0]:g}, {self.strengths[-1]:g}] has a "
            f"cross-validation error ({self.kind}) below {self.least:.4g}; the chosen one, "
            f"{self.name} = {self.value:.4g}, has at most {self.most:.4g}"
        )

    def plot(self, ax: Any = None) -> Any:
        """The band of possible errors over strengths; returns matplotlib's axes."""
        from dualgap.plots.choice import plot_choice

        return plot_choice(self, ax)


def certified_choice(
    model: Any,
    X: Any,
    y: Any,
    low: float,
    high: float,
    *,
    cv: Any = None,
    accuracy: float | None = None,
    max_points: int = 200,
    first_points: int = 9,
) -> CertifiedChoice:
    """Choose ``C`` or ``alpha`` of an estimator by cross-validation, with a proof.

    Parameters
    ----------
    model : estimator of dualgap
        With a strongly convex penalty (L2, elastic net), for labels or one target.
    X, y : the data
    low, high : float
        The interval of strengths, ``C`` or ``alpha``.
    cv : int, splitter or list of (train, test), optional
        As everywhere in scikit-learn; 5 folds by default.
    accuracy : float, optional
        Search until no strength can be better than the chosen one by more than this; by default
        0.005 for shares of wrong labels, and 1 % of the error for regression.
    max_points : int
        The size of the grid at most. The bounds hold all the same if that ends the search.
    first_points : int
        The size of the grid at the beginning.

    Returns
    -------
    CertifiedChoice
        ``print`` it for the statement that is proven.
    """
    name = "C" if "C" in model.get_params(deep=False) else "alpha"
    low, high = (number(end, "low and high", 0.0, LARGEST, open_low=True) for end in (low, high))
    if not low < high:
        raise ValueError(f"low = {low:g} must be smaller than high = {high:g}")
    if accuracy is not None:
        accuracy = number(accuracy, "accuracy", 0.0)
    X, y = indexable(X, y)
    labelled = is_classifier(model)
    folds = [
        FoldProblems.of(
            clone(model), name, *(_safe_indexing(data, rows) for rows in fold for data in (X, y))
        )
        for fold in check_cv(cv, y, classifier=labelled).split(X, y)
    ]
    if not all(one.is_bounded for fold in folds for one in fold.problems):
        raise ValueError(
            "nothing bounds the predictions of the optimum: the penalty must be strongly convex "
            "(L2, or an elastic net with l1_ratio < 1), with a positive weight for every feature"
        )
    search = _Search(folds, accuracy)
    cells = search.run(
        low, high, whole(max_points, "max_points", 2), whole(first_points, "first_points", 2)
    )
    nodes = [cell.low for cell in cells] + [cells[-1].high]
    best = min(nodes, key=lambda node: node.error.high)
    return CertifiedChoice(
        name=name,
        value=best.strength,
        most=best.error.high,
        least=min(cell.error.low for cell in cells),
        strengths=np.array([node.strength for node in nodes]),
        at=np.array([node.error for node in nodes]),
        between=np.array([cell.error for cell in cells]),
        fits=search.fits,
        kind="share of wrong labels" if labelled else "mean squared error",
    )


class _Search:
    """Cuts cells until none can contain a strength that is much better than the best one."""

    def __init__(self, folds: list[FoldProblems], accuracy: float | None) -> None:
        self.folds, self.accuracy = folds, accuracy
        self.fits, self.interrupted = 0, False

    def run(self, low: float, high: float, max_points: int, first: int) -> list[_Cell]:
        strengths = np.geomspace(low, high, min(first, max_points))
        strengths[0], strengths[-1] = low, high
        nodes: list[_Node] = []
        for strength in strengths:
            nodes.append(self.first(float(strength), nodes[-1] if nodes else None))
        cells = [self.cell(*pair) for pair in pairwise(nodes)]
        best = min(node.error.high for node in nodes)
        settled: list[_Cell] = []
        for _ in range(max_points - len(nodes)):
            worst = min(range(len(cells)), key=lambda k: cells[k].error.low)
            if self.interrupted or cells[worst].error.low >= best - self.allowed(best):
                break
            found = self.cut(cells.pop(worst))
            best = min(best, *(node.error.high for cell in found for node in cell[:2]))
            for cell in found:  # ``best`` only falls: what cannot be better now, never can
                done = cell.error.low >= best - self.allowed(best)
                settled.append(_without_points(cell)) if done else cells.append(cell)
            if not cells:
                break
        return sorted([*cells, *settled], key=lambda cell: cell.low.strength)

    def allowed(self, best: float) -> float:
        if self.accuracy is not None:
            return self.accuracy
        return 0.005 if self.folds[0].classes is not None else 0.01 * best

    def first(self, strength: float, near: _Node | None) -> _Node:
        """A node that is fitted, from a neighbour."""
        self.fits += 1
        starts = [None] * len(self.folds) if near is None else near.points
        points = [
            [
                self.fitted(fold, k, strength, None if start is None else start[k][1:3], 0.0)
                for k in range(len(fold.problems))
            ]
            for fold, start in zip(self.folds, starts)
        ]
        return self.node(strength, points)

    def cut(self, cell: _Cell) -> list[_Cell]:
        """The two halves of a cell; or the cell with better ends, if theirs are what limits it."""
        ends = [self.sharpened(cell, node) for node in cell[:2]]
        if ends[0] is not cell.low or ends[1] is not cell.high:
            return [self.cell(*ends)]
        node = self.halfway(cell)
        return [self.cell(cell.low, node), self.cell(node, cell.high)]

    def halfway(self, cell: _Cell) -> _Node:
        """The node between the ends of a cell, without a fit."""
        strength = float(np.sqrt(cell.low.strength * cell.high.strength))
        points = []
        for fold, lows, highs in zip(self.folds, cell.low.points, cell.high.points):
            own = []
            for k, pair in enumerate(zip(lows, highs)):
                lam = fold.lam(k, strength)
                own.append(fold.problems[k].point(lam, *middle_of(*pair, lam)))
            points.append(own)
        return self.node(strength, points)

    def sharpened(self, cell: _Cell, node: _Node) -> _Node:
        """The node, fitted anew where its gap exceeds what the width of the cell adds to gaps."""
        points, fits = [], 0
        for fold, lows, highs, found in zip(
            self.folds, cell.low.points, cell.high.points, node.points
        ):
            own = []
            for k, (low, high, point) in enumerate(zip(lows, highs, found)):
                added = 0.25 * abs((low.size - high.size) * (low.lam - high.lam))
                own.append(point)
                if point.gap > added and point.gap > self.floor(fold, k):
                    fits, pair = 1, (point.w, point.a)
                    own[-1] = self.fitted(fold, k, node.strength, pair, _SHARE * added)
            points.append(own)
        self.fits += fits
        return self.node(node.strength, points) if fits else node

    @staticmethod
    def floor(fold: FoldProblems, k: int) -> float:
        """Gaps below are as small as fits can make them."""
        return 10.0 * _LEAST_TOL * fold.problems[k].problem.scale

    def fitted(self, fold: FoldProblems, k: int, strength: float, start: Any, gap: float) -> Point:
        view, lam = fold.problems[k], fold.lam(k, strength)
        problem = view.problem.with_lam(lam)
        tol = max(gap / problem.scale, _LEAST_TOL) if gap else _FIRST_TOL
        solution = solve(
            problem,
            fold.method,
            tol=tol,
            max_epochs=fold.max_epochs,
            relative_to="start",
            warm_start=None if start is None else _as_start(problem, *start),
        )
        self.interrupted |= solution.interrupted
        return view.point(lam, *pair_of(problem, solution))

    def node(self, strength: float, points: list[list[Point]]) -> _Node:
        return _Node(strength, points, self.error(points, points))

    def cell(self, low: _Node, high: _Node) -> _Cell:
        return _Cell(low, high, self.error(low.points, high.points))

    def error(self, lows: list[list[Point]], highs: list[list[Point]]) -> Bounds:
        """Bounds on the mean error over folds, at every strength between two sets of points."""
        found = [fold.error(*pair) for fold, *pair in zip(self.folds, lows, highs)]
        least, most = (float(np.mean(side)) for side in zip(*found))
        slack = (4.0 + len(found)) * EPS
        return Bounds(least * (1.0 - slack), most * (1.0 + slack))


def _as_start(problem: Any, w: Floats, a: Floats) -> Any:
    return *problem.split(w), problem.shaped(a)


def _without_points(cell: _Cell) -> _Cell:
    low, high = (node._replace(points=[]) for node in cell[:2])
    return _Cell(low, high, cell.error)
