"""Coordinate steps over columns: the minimum of a Newton model over some features.

The model around w is  r·Xδ + ½ Σ_i h_i (Xδ)_i² + λ g(w + δ),  with r and h the slopes and
curvatures of the losses; ``q`` are its curvatures along single features. A step minimises it over
one feature and updates r, which reads its column twice.

An intercept without penalty is set to its minimum after every step of another feature. As it is
linear in these, that takes one number a step: slopes are r − s k h, k being the constant feature,
and the intercept is s less than in x. So columns far from 0 need no more sweeps than others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.rules import conj, conj_slope, entry, place, prox, span, value
from dualgap.steps.working_set.tuning import TUNING

# Kernels read module-level names.
_EXTRAPOLATED_SWEEPS, _EXTRAPOLATION_RIDGE = TUNING.extrapolated_sweeps, TUNING.extrapolation_ridge


@inner
def coordinate_minimum(penalty: Any, lam: float, j: int, x: float, g: float, q: float) -> float:
    """The minimum over s of g·s + (q/2)(s − x)² + λ g_j(s), g being the gradient at x."""
    if q <= 0.0:  # a feature without entries: the penalty decides
        return conj_slope(penalty, 0.0, x, j)
    return prox(penalty, x - g / q, lam / q, j)


@kernel
def gains(penalty: Any, lam: float, q: Any, w: Any, u: Any, out: Any) -> None:
    """What each feature could gain by a step: q δ², up to a factor."""
    for j in range(len(w)):
        away = coordinate_minimum(penalty, lam, j, w[j], -lam * u[j], q[j]) - w[j]
        out[j] = q[j] * away * away


@kernel
def feature_gap(penalty: Any, lam: float, w: Any, u: Any, scale: float) -> float:
    """The gap of features at s u: λ Σ_j g_j(w_j) + g_j*(s u_j) − s w_j u_j, s = ``scale``."""
    total = 0.0
    for j in range(len(w)):
        at = scale * u[j]
        total += value(penalty, w[j], j) + conj(penalty, at, j) - w[j] * at
    return lam * total


@kernel
def curvatures(matrix: Any, h: Any, features: Any, constant: float, q: Any, cross: Any) -> None:
    """q_j = Σ_k h_k (A_jk − m_j)² for j in ``features``, and cross_j = ``constant`` Σ_k h_k A_jk.

    m_j is the mean weighted by h, or 0 if ``constant`` is 0.
    """
    weight = h.sum()
    for turn in range(len(features)):
        j = features[turn]
        start, stop = span(matrix, j)
        total, inside = 0.0, 0.0
        if constant != 0.0:
            for t in range(start, stop):
                k = place(matrix, j, t)
                total += h[k] * entry(matrix, j, t)
                inside += h[k]
        mean = total / weight if weight > 0.0 else 0.0
        cross[turn] = constant * total
        total = mean * mean * max(weight - inside, 0.0)
        for t in range(start, stop):
            x = np.float64(entry(matrix, j, t)) - mean
            total += h[place(matrix, j, t)] * x * x
        q[turn] = total


@kernel
def dots(matrix: Any, r: Any, features: Any, out: Any) -> None:
    """A_j·r for j in ``features``."""
    for turn in range(len(features)):
        j = features[turn]
        start, stop = span(matrix, j)
        total = 0.0
        for t in range(start, stop):
            total += r[place(matrix, j, t)] * entry(matrix, j, t)
        out[turn] = total


@inner
def _sweep(
    matrix: Any,
    penalty: Any,
    lam: float,
    features: Any,
    q: Any,
    h: Any,
    r: Any,
    x: Any,
    active: Any,
    count: int,
    cross: Any,
    total: float,
    s: float,
) -> tuple[float, int, int, float]:
    """Make a step for each of the first ``count`` of ``active``, which keeps those that moved.

    Returns the largest violation (the change of a gradient by its own step), how many features
    moved, the number of entries read, and s.
    """
    largest = 0.0
    kept = 0
    work = 0
    for position in range(count):
        turn = active[position]
        j = features[turn]
        start, stop = span(matrix, j)
        g = 0.0
        for t in range(start, stop):
            g += r[place(matrix, j, t)] * entry(matrix, j, t)
        work += stop - start
        g -= s * cross[turn]
        new = coordinate_minimum(penalty, lam, j, x[turn], g, q[turn])
        delta = new - x[turn]
        if delta != 0.0:
            x[turn] = new  # not x + δ, which could round out of a bound
            for t in range(start, stop):
                k = place(matrix, j, t)
                r[k] += delta * h[k] * entry(matrix, j, t)
            s += delta * cross[turn] / total
            work += stop - start
            largest = max(largest, q[turn] * abs(delta))
            active[kept] = turn
            kept += 1
    return largest, kept, work, s


@inner
def _settle(
    h: Any, r: Any, x: Any, intercept: int, constant: float, total: float, s: float
) -> float:
    """Put s into r and into the intercept of x; returns the s that the slopes still ask for."""
    if intercept < 0:
        return 0.0
    x[intercept] -= s
    left = 0.0
    for i in range(len(r)):
        r[i] -= s * constant * h[i]
        left += r[i]
    return constant * left / total


@inner
def extrapolate(past: Any, out: Any) -> bool:
    """The limit that the rows of ``past`` seem to have (Anderson 1965; Bertrand, Massias 2021).

    It is the average of the later rows with weights that sum to 1 and make their steps cancel;
    returns False if there are no such weights.
    """
    steps = len(past) - 1
    system = np.empty((steps, steps))
    for s in range(steps):
        for t in range(s + 1):
            total = 0.0
            for k in range(past.shape[1]):
                total += (past[s + 1, k] - past[s, k]) * (past[t + 1, k] - past[t, k])
            system[s, t] = system[t, s] = total
    largest = 0.0
    for s in range(steps):
        largest = max(largest, system[s, s])
    weights = np.ones(steps)
    for s in range(steps):
        system[s, s] += _EXTRAPOLATION_RIDGE * largest
    for s in range(steps):  # elimination: the system is positive definite
        if system[s, s] <= 0.0:
            return False
        for t in range(s + 1, steps):
            factor = system[t, s] / system[s, s]
            for k in range(s, steps):
                system[t, k] -= factor * system[s, k]
            weights[t] -= factor * weights[s]
    for s in range(steps - 1, -1, -1):
        for k in range(s + 1, steps):
            weights[s] -= system[s, k] * weights[k]
        weights[s] /= system[s, s]
    total = weights.sum()
    if total == 0.0:
        return False
    out[:] = 0.0
    for s in range(steps):
        for k in range(len(out)):
            out[k] += weights[s] / total * past[s + 1, k]
    return True


@inner
def _jump(
    matrix: Any,
    penalty: Any,
    lam: float,
    features: Any,
    h: Any,
    r: Any,
    x: Any,
    goal: Any,
    along: Any,
) -> None:
    """Move to ``goal`` if the model is smaller there."""
    along[:] = 0.0
    change = 0.0
    for turn in range(len(features)):
        amount = goal[turn] - x[turn]
        if amount != 0.0:
            j = features[turn]
            change += lam * (value(penalty, goal[turn], j) - value(penalty, x[turn], j))
            start, stop = span(matrix, j)
            for t in range(start, stop):
                along[place(matrix, j, t)] += amount * entry(matrix, j, t)
    for i in range(len(r)):
        change += (r[i] + 0.5 * h[i] * along[i]) * along[i]
    if change < 0.0:
        x[:] = goal
        for i in range(len(r)):
            r[i] += h[i] * along[i]


@kernel
def descend(
    matrix: Any,
    penalty: Any,
    lam: float,
    features: Any,
    q: Any,
    h: Any,
    r: Any,
    x: Any,
    cross: Any,
    intercept: int,
    constant: float,
    tolerance: float,
    fraction: float,
    most: int,
) -> tuple[float, float]:
    """At most ``most`` sweeps over the features, until no violation exceeds ``tolerance`` or the
    ``fraction`` of the largest in the first sweep; returns that one, and the entries read.

    Between two sweeps over all features only those that still move are visited, and every few
    sweeps the sequence is extrapolated. ``intercept`` is its turn, -1 if there is none to settle.
    """
    first = -1.0
    active = np.empty(len(features), np.int64)
    total_curvature = cross[intercept] if intercept >= 0 else 1.0
    s = _settle(h, r, x, intercept, constant, total_curvature, 0.0)
    of_intercept = total_curvature * abs(s)
    past, goal = np.empty((_EXTRAPOLATED_SWEEPS, len(features))), np.empty(len(features))
    along = np.empty(len(r))
    known = 0
    total = 0
    sweeps = 0
    count = len(features)
    everything = True
    while sweeps < most:
        if everything:
            count = 0
            for turn in range(len(features)):
                if turn != intercept:
                    active[count] = turn
                    count += 1
        largest, count, work, s = _sweep(
            matrix, penalty, lam, features, q, h, r, x, active, count, cross, total_curvature, s
        )
        sweeps += 1
        total += work
        if first < 0.0:
            first = largest = max(largest, of_intercept)
            tolerance = max(tolerance, fraction * first)
        if largest <= tolerance:
            if everything:
                break
            everything = True
            continue
        everything = False
        past[known] = x
        if intercept >= 0:
            past[known, intercept] -= s
        known += 1
        if known == _EXTRAPOLATED_SWEEPS:
            s = _settle(h, r, x, intercept, constant, total_curvature, s)
            if extrapolate(past, goal):
                _jump(matrix, penalty, lam, features, h, r, x, goal, along)
                total += work // 2
                s = _settle(h, r, x, intercept, constant, total_curvature, 0.0)
            known = 0
    _settle(h, r, x, intercept, constant, total_curvature, s)
    return first, float(total)
