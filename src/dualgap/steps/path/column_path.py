"""A path for wide data: at each λ the minimum on the features that may matter, then a full pass.

Features enter once the strong rule expects them to matter (Tibshirani et al. 2012). Their columns
are kept dense and centred, with the Gram matrix of all that ever entered, so that the minimum on a
set costs no pass over X. A pass per set finds the features that are missing and the duality gap.

Vectors of all features are read by kernels only: at a λ these take less time than one of NumPy's
passes over them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.scalar import EPS
from dualgap.linalg import storage
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof.goal import LEAST_SHARE
from dualgap.steps.path.gram_minimum import gap_from, minimise, pushes_of
from dualgap.steps.path.gram_path import PathPoint
from dualgap.steps.path.tuning import TUNING


class ColumnPath:
    """A path of a problem with squared loss and few samples.

    ``x``, ``last``  the coefficients at this λ, and of known features those at the one before
    ``pull``, ``g``  Σ c x y of centred data, and minus the same of the residual, for each feature
    ``known``        the features that ever entered, in that order, with ``columns`` and ``gram``
    ``place``        where each feature is among them, −1 if it is not
    """

    def __init__(self, problem: Problem, l1_ratio: float, positive: bool) -> None:
        self.problem, self.l1_ratio = problem, l1_ratio
        self.low = 0.0 if positive else -np.inf
        self.c = np.array(problem.c)
        self.y_mean = float(np.sum(self.c * problem.y)) if problem.intercept is True else 0.0
        self.y = problem.y - self.y_mean
        self.square = float(np.sum(self.c * self.y * self.y))
        self.weighted = -self.c * self.y  # the residual, times −c
        self.g = self._gradient()
        self.pull, self.x = -self.g, np.zeros(problem.p)
        self.known, self.last = np.empty(0, np.int64), np.empty(0)
        self.place = np.full(problem.p, -1, np.int64)
        self.columns, self.means = np.empty((0, problem.n)), np.empty(0)
        self.gram = np.empty((0, 0))

    @staticmethod
    def pays(X: Any) -> bool:
        """Whether columns of X are so short that Gram matrices of sets are the best models."""
        n, p = X.shape
        return bool(n < p and n <= TUNING.most_samples and not storage.is_on_disk(X))

    def points(self, lams: Floats, tol: float, max_sweeps: int) -> Iterator[PathPoint]:
        """The points at decreasing λ > 0."""
        before = older = lams[0]
        sweeps = min(max_sweeps, TUNING.most_sweeps)
        used = np.empty(0, np.int64)
        for lam in lams:
            stride = (before - lam) / (older - before) if older > before else 0.0
            with single_threaded_blas():
                set_, solved = self._solve(used, lam, before, stride, tol, sweeps)
            older, before = before, lam
            coef = self.x[set_]
            used, coef = set_[coef != 0.0], coef[coef != 0.0]
            inner = self.y_mean - float(coef @ self.means[self.place[used]])
            yield PathPoint(used, coef, inner, solved)

    def _solve(
        self, used: Any, lam: float, before: float, stride: float, tol: float, most_sweeps: int
    ) -> tuple[Any, bool]:
        """The set of features at this λ, which begins with those that were used at the last one,
        and whether ``x`` is the minimum."""
        l1, l2 = self.l1_ratio * lam, (1.0 - self.l1_ratio) * lam
        edge = max(2.0 * l1 - self.l1_ratio * before, 0.0)
        least, share = LEAST_SHARE * 0.5 * self.square, TUNING.share_of_target
        sweeps, set_ = 0, used
        inside = np.zeros(self.problem.p, np.bool_)
        inside[used] = True
        for turn in range(TUNING.sets):
            more = _others(self.g, self.low, edge, inside)
            if len(more):
                set_ = np.concatenate([set_, more])
            elif turn > 0 or not len(set_):
                share *= TUNING.more_accurate
            edge = l1
            if len(set_) > TUNING.most_features:
                return set_, False
            new = more[self.place[more] < 0]
            if len(new):
                self._enter(new)
            data = self.gram, self.columns, self.c, self.y, self.pull, self.square
            terms = l1, l2, self.low, share * tol, least, most_sweeps - sweeps
            first = stride if turn == 0 else -1.0
            made, reach = _minimise(
                *data, *terms, set_, self.place, first, self.x, self.last, self.weighted
            )
            sweeps += made
            self.g = self._gradient()
            gap, objective = _gap(self.g, self.x, self.pull, set_, self.square, l1, l2, self.low)
            target = tol * max(objective - gap, least)
            rounding = TUNING.rounding * EPS * reach * (reach + np.sqrt(self.square))
            if not rounding <= TUNING.trusted_share * target:
                return set_, False
            if gap + rounding <= target:
                return set_, True
            if sweeps >= most_sweeps:
                return set_, False
        return set_, False

    def _gradient(self) -> Floats:
        """−Σ c x r, for a residual of mean 0 if there is an intercept."""
        X = self.problem.X
        if storage.is_sparse(X) or X.dtype != np.float64:
            return self.problem.summed(self.weighted, 1)[: self.problem.p]
        return np.asarray(self.weighted @ X)

    def _enter(self, new: Any) -> None:
        """Keep the columns of features that were not known, and extend the Gram matrix."""
        X = self.problem.X
        own = X[:, new].toarray() if storage.is_sparse(X) else X[:, new]
        own = np.ascontiguousarray(own.T, dtype=np.float64)
        means = own @ self.c if self.problem.intercept is True else np.zeros(len(new))
        own -= means[:, None]
        old, size = len(self.known), len(self.known) + len(new)
        self.place[new] = np.arange(old, size)
        self.known = np.concatenate([self.known, new])
        self.means = np.concatenate([self.means, means])
        self.last = np.concatenate([self.last, np.zeros(len(new))])
        self.columns = _grown(self.columns, old, size, self.problem.n)
        self.columns[old:size] = own
        if size > len(self.gram):
            self.gram = _grown(self.gram, old, size, len(self.columns))
        products = self.columns[:size] @ (own * self.c).T
        self.gram[:size, old:size] = products
        self.gram[old:size, :old] = products[:old].T


def _grown(array: Floats, used: int, size: int, width: int) -> Floats:
    """The array with room for more rows, half as many again as are needed now."""
    if size <= len(array):
        return array
    out = np.zeros((size + size // 2, width))
    out[:used, : array.shape[1]] = array[:used]
    return out


@kernel
def _others(g: Any, low: float, edge: float, inside: Any) -> Any:
    """The features outside whose pull exceeds ``edge``; they are inside then."""
    count, found = 0, np.empty(len(g), np.int64)
    for j in range(len(g)):
        push = -g[j] if low == 0.0 else abs(g[j])
        if push > edge and not inside[j]:
            inside[j] = True
            found[count] = j
            count += 1
    return found[:count].copy()


@kernel
def _minimise(
    gram: Any,
    columns: Any,
    c: Any,
    y: Any,
    pull: Any,
    square: float,
    l1: float,
    l2: float,
    low: float,
    share: float,
    least: float,
    most_sweeps: int,
    set_: Any,
    place: Any,
    stride: float,
    x: Any,
    last: Any,
    weighted: Any,
) -> tuple[int, float]:
    """The minimum on a set: changes x and the weighted residual. Returns sweeps, and Σ |x| times
    the sizes of columns.

    With a ``stride`` ≥ 0 it starts where the last two points lead: a path is linear while signs
    stay the same.
    """
    count = len(set_)
    part, own, g, q = np.empty((count, count)), np.empty(count), np.empty(count), np.empty(count)
    for s in range(count):
        k = place[set_[s]]
        row, out = gram[k], part[s]
        for t in range(count):
            out[t] = row[place[set_[t]]]
        own[s], q[s] = x[set_[s]], pull[set_[s]]
        if stride >= 0.0:
            far = own[s] + (own[s] - last[k]) * stride
            last[k] = own[s]
            own[s] = far if far * own[s] > 0.0 else 0.0
    for s in range(count):
        g[s] = -q[s]
    for t in range(count):
        if own[t] != 0.0:
            row = part[t]
            for s in range(count):
                g[s] += own[t] * row[s]
    sweeps = 0
    if most_sweeps > 0:
        sweeps, _ = minimise(part, q, square, l1, l2, low, share, least, most_sweeps, g, own)
    reach = 0.0
    for i in range(len(y)):
        weighted[i] = -y[i]
    for s in range(count):
        x[set_[s]] = own[s]
        if own[s] != 0.0:
            reach += np.sqrt(part[s, s]) * abs(own[s])
            column = columns[place[set_[s]]]
            for i in range(len(y)):
                weighted[i] += own[s] * column[i]
    for i in range(len(y)):
        weighted[i] *= c[i]
    return sweeps, reach


@kernel
def _gap(
    g: Any, x: Any, pull: Any, set_: Any, square: float, l1: float, l2: float, low: float
) -> Any:
    """The gap and the objective, if x is 0 outside of the set."""
    largest, excess = pushes_of(g, l1, low)
    return gap_from(largest, excess, g[set_], x[set_], pull[set_], square, l1, l2)
