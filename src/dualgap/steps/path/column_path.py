"""A path for wide data: at each λ the minimum on the features that may matter, then a full pass.

Features enter once the strong rule expects them to matter (Tibshirani et al. 2012). Their columns
are kept dense and centred, with the Gram matrix of all that ever entered, so that the minimum on a
set costs no pass over X. A pass per set finds the features that are missing and the duality gap.
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
from dualgap.steps.path.gram_minimum import gap_of, minimise
from dualgap.steps.path.gram_path import PathPoint
from dualgap.steps.path.tuning import TUNING


class ColumnPath:
    """A path of a problem with squared loss and few samples.

    ``x``, ``last``  the coefficients at this λ and at the one before
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
        self.pull = self._products(self.y)
        self.x, self.g, self.last = np.zeros(problem.p), -self.pull, np.zeros(problem.p)
        self.known = np.empty(0, np.int64)
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
        for lam in lams:
            stride = (before - lam) / (older - before) if older > before else 0.0
            last = self.x.copy()
            with single_threaded_blas():
                solved = self._solve(lam, before, stride, tol, sweeps)
            older, before, self.last = before, lam, last
            used = np.flatnonzero(self.x)
            coef = self.x[used]
            inner = self.y_mean - float(coef @ self.means[self.place[used]])
            yield PathPoint(used, coef, inner, solved)

    def _solve(
        self, lam: float, before: float, stride: float, tol: float, most_sweeps: int
    ) -> bool:
        l1, l2 = self.l1_ratio * lam, (1.0 - self.l1_ratio) * lam
        edge = max(2.0 * l1 - self.l1_ratio * before, 0.0)
        least, share = LEAST_SHARE * 0.5 * self.square, TUNING.share_of_target
        inside, sweeps = np.zeros(self.problem.p, np.bool_), 0
        places = np.empty(self.problem.p, np.int64)
        for _ in range(TUNING.sets):
            count, grows = _grow(self.g, self.x, self.low, edge, inside, places)
            if not grows:
                share *= TUNING.more_accurate
            edge = l1
            if count > TUNING.most_features:
                return False
            set_ = places[:count].copy()
            self._enter(set_)
            own = self.place[set_]
            part, pull = self.gram[np.ix_(own, own)], self.pull[set_]
            if sweeps == 0:
                x = self._predicted(set_, stride)
                g = part @ x - pull
            else:
                g, x = self.g[set_], self.x[set_]
            left = most_sweeps - sweeps
            terms = self.square, l1, l2, self.low, share * tol, least, left
            sweeps += _minimise(part, pull, *terms, g, x)
            self.x[set_] = x
            used = own[x != 0.0]
            self.g = -self._products(self.y - x[x != 0.0] @ self.columns[used])
            gap, objective = _gap(self.g, self.x, self.pull, self.square, l1, l2, self.low)
            target = tol * max(objective - gap, least)
            sizes = np.sqrt(np.diagonal(self.gram)[used])
            reach = float(np.sum(sizes * np.abs(x[x != 0.0])))
            rounding = TUNING.rounding * EPS * reach * (reach + np.sqrt(self.square))
            if not rounding <= TUNING.trusted_share * target:
                return False
            if gap + rounding <= target:
                return True
            if sweeps >= most_sweeps:
                return False
        return False

    def _predicted(self, set_: Any, stride: float) -> Floats:
        """Where the last two points lead: a path is linear while signs stay the same."""
        x = self.x[set_]
        far = x + (x - self.last[set_]) * stride
        return np.asarray(np.where(far * x > 0.0, far, 0.0))

    def _products(self, residual: Floats) -> Floats:
        """Σ c x r, for a residual of mean 0 if there is an intercept."""
        X, weights = self.problem.X, self.c * residual
        if storage.is_sparse(X) or X.dtype != np.float64:
            return self.problem.summed(weights, 1)[: self.problem.p]
        return np.asarray(weights @ X)

    def _enter(self, set_: Any) -> None:
        """Keep the columns of the set that are not known yet, and extend the Gram matrix."""
        new = set_[self.place[set_] < 0]
        if not len(new):
            return
        X = self.problem.X
        own = X[:, new].toarray() if storage.is_sparse(X) else X[:, new]
        own = np.ascontiguousarray(own.T, dtype=np.float64)
        means = own @ self.c if self.problem.intercept is True else np.zeros(len(new))
        own -= means[:, None]
        old, size = len(self.known), len(self.known) + len(new)
        self.place[new] = np.arange(old, size)
        self.known = np.concatenate([self.known, new])
        self.means = np.concatenate([self.means, means])
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
def _grow(g: Any, x: Any, low: float, edge: float, inside: Any, places: Any) -> tuple[int, bool]:
    """Add the features whose pull exceeds ``edge``, and those that are used. Fills in the places of
    all inside; returns how many they are, and whether there is a new one."""
    count, grows = 0, False
    for j in range(len(g)):
        push = -g[j] if low == 0.0 else abs(g[j])
        if not inside[j] and (push > edge or x[j] != 0.0):
            inside[j] = grows = True
        if inside[j]:
            places[count] = j
            count += 1
    return count, grows


@kernel
def _minimise(
    gram: Any,
    pull: Any,
    square: float,
    l1: float,
    l2: float,
    low: float,
    share: float,
    least: float,
    most_sweeps: int,
    g: Any,
    x: Any,
) -> int:
    terms = square, l1, l2, low, share, least, most_sweeps
    made: int = minimise(gram, pull, *terms, g, x)[0]
    return made


@kernel
def _gap(g: Any, x: Any, pull: Any, square: float, l1: float, l2: float, low: float) -> Any:
    return gap_of(g, x, pull, square, l1, l2, low)
