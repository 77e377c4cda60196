"""A path on the Gram matrix of all features: every λ in one compiled run.

Features that the strong rule (Tibshirani et al. 2012) expects at zero wait until their gradients
say otherwise. A point is solved when the duality gap, which follows from the moments, is within
``tol`` of the objective, rounding errors included.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import Floats
from dualgap.proof.goal import LEAST_SHARE
from dualgap.steps.path.gram_minimum import gap_of, minimise
from dualgap.steps.path.tuning import TUNING

_SETS, _MORE_ACCURATE = TUNING.sets, TUNING.more_accurate
_SHARE_OF_TARGET, _TRUSTED_SHARE = TUNING.share_of_target, TUNING.trusted_share
_ROUNDING = TUNING.rounding * EPS


class Moments(NamedTuple):
    """What least squares needs to know of data, with weights c that sum to 1.

    ``gram``, ``pull``, ``square``  Σ c x xᵀ, Σ c x y and Σ c y², of centred data with an intercept
    ``sizes``, ``size``             how large columns and y were before centring, as root mean
                                    squares, since rounding errors are in proportion to these
    """

    gram: Floats
    pull: Floats
    square: float
    sizes: Floats
    size: float


class PathPoint(NamedTuple):
    """A model on a few features of a problem's moved data, and whether its gap is within tol."""

    features: Any
    coef: Floats
    intercept: float
    solved: bool

    def coefficients(self, problem: Any) -> Floats:
        """All coefficients of the problem, with that of the constant feature."""
        out = np.zeros(problem.d)
        out[self.features] = self.coef
        if problem.has_intercept:
            out[-1] = self.intercept
        return out


class PathPoints(NamedTuple):
    """Coefficients at each λ, and whether the gap there is within ``tol``."""

    coefs: Floats
    solved: Any

    def points(self) -> Iterator[PathPoint]:
        """One after the other, for data that are not centred."""
        for coef, solved in zip(self.coefs, self.solved):
            used = np.flatnonzero(coef)
            yield PathPoint(used, coef[used], 0.0, bool(solved))


def gram_path(
    moments: Moments, lams: Floats, l1_ratio: float, positive: bool, tol: float, max_sweeps: int
) -> PathPoints:
    """All points of a path of decreasing λ > 0."""
    d = len(moments.pull)
    coefs, solved = np.zeros((len(lams), d)), np.zeros(len(lams), np.bool_)
    x, g = np.zeros(d), -moments.pull
    sweeps = min(max_sweeps, TUNING.most_sweeps)
    settings = l1_ratio, 0.0 if positive else -np.inf, tol, sweeps, TUNING.uninterrupted
    done = 0
    while done < len(lams):  # Python sees Ctrl-C between two calls
        done = _follow(*moments, lams, *settings, done, x, g, coefs, solved)
    return PathPoints(coefs, solved)


@kernel
def _follow(
    gram: Any,
    pull: Any,
    square: float,
    sizes: Any,
    size: float,
    lams: Any,
    l1_ratio: float,
    low: float,
    tol: float,
    most_sweeps: int,
    most_work: float,
    first: int,
    x: Any,
    g: Any,
    coefs: Any,
    solved: Any,
) -> int:
    """Solve λ after λ from ``first`` on; returns the first that is left."""
    d, work, least = len(x), 0.0, LEAST_SHARE * 0.5 * square
    inside = np.zeros(d, np.bool_)
    own_x, own_g, own_pull, places = np.empty(d), np.empty(d), np.empty(d), np.empty(d, np.int64)
    for turn in range(first, len(lams)):
        if work > most_work:
            return turn
        l1, l2 = l1_ratio * lams[turn], (1.0 - l1_ratio) * lams[turn]
        edge = max(2.0 * l1 - l1_ratio * lams[max(turn - 1, 0)], 0.0)
        share, sweeps = _SHARE_OF_TARGET, 0
        for k in range(d):
            inside[k] = False
        for _ in range(_SETS):
            count, grew = 0, False
            for k in range(d):
                push = -g[k] if low == 0.0 else abs(g[k])
                if not inside[k] and (x[k] != 0.0 or push > edge):
                    inside[k] = grew = True
                if inside[k]:
                    places[count] = k
                    own_x[count], own_g[count], own_pull[count] = x[k], g[k], pull[k]
                    count += 1
            if not grew:
                share *= _MORE_ACCURATE
            edge = l1
            part = np.empty((count, count))
            for s in range(count):
                row, own = gram[places[s]], part[s]
                for t in range(count):
                    own[t] = row[places[t]]
            made, cost = minimise(
                part, own_pull[:count], square, l1, l2, low, share * tol, least,
                most_sweeps - sweeps, own_g[:count], own_x[:count],
            )  # fmt: skip
            sweeps += made
            reach, used = 0.0, 0
            for s in range(count):
                x[places[s]] = own_x[s]
            for k in range(d):
                g[k] = -pull[k]
            for k in range(d):
                if x[k] != 0.0:
                    reach += sizes[k] * abs(x[k])
                    used += 1
                    row = gram[k]
                    for j in range(d):
                        g[j] += x[k] * row[j]
            work += cost + float(count) * count + float(used) * d
            gap, objective = gap_of(g, x, pull, square, l1, l2, low)
            target = tol * max(objective - gap, least)
            rounding = _ROUNDING * reach * (reach + size)
            if not rounding <= _TRUSTED_SHARE * target:
                return len(lams)
            if gap + rounding <= target:
                solved[turn] = True
                break
            if sweeps >= most_sweeps:
                break
        coefs[turn] = x
    return len(lams)
