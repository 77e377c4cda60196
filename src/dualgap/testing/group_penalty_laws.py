"""The laws of penalties on groups of features: those of ``penalty_laws.py``, for blocks."""

from __future__ import annotations

from math import isinf
from typing import Any

import numpy as np

from dualgap.compile import group_rules, rules
from dualgap.compile.kernels import kernel
from dualgap.linalg.validate import Floats
from dualgap.penalties.blocks import Blocks, blocks_of
from dualgap.testing._common import holds, room

_SIZES = (1e-3, 0.3, 1.0, 4.0)
_STEPS = (1e-3, 0.3, 1.0, 40.0)


def check_group_penalty(penalty: Any, width: int = 1) -> None:
    """Raise AssertionError if a checked penalty breaks a law in one of its groups.

    ``width``: the number of coefficients for each feature.
    """
    blocks, rng = blocks_of(penalty, None, width), np.random.default_rng(0)
    for k in range(blocks.n_blocks):
        size = int(blocks.starts[k + 1] - blocks.starts[k]) * width
        points = [np.zeros(size)]
        for scale in _SIZES if size else ():
            points += [scale * rng.standard_normal(size), scale * np.abs(rng.standard_normal(size))]
            points.append(points[-1] * (np.arange(size) == size - 1))  # one entry alone
        _check_block(blocks, k, points)


def _check_block(blocks: Blocks, k: int, points: list[Floats]) -> None:
    zero, mu = np.zeros(len(points[0])), rules.strength(blocks, k)
    holds(rules.value(blocks, zero, k) == 0.0, "g is 0 at 0", k=k)
    holds(group_rules.gauge(blocks, zero, k) == 0.0, "the gauge is 0 at 0", k=k)
    allowed = [prox(blocks, point, 1e-3, k) for point in points]
    for u in points:
        _check_gauge(blocks, k, u, points, allowed)
        _check_conjugate(blocks, k, u, mu, allowed)
        for t in _STEPS:
            _check_prox(blocks, k, u, t, mu, allowed)
    for w in allowed:
        holds(rules.value(blocks, w, k) >= 0.0, "g is least at 0", k=k, w=w)
        _check_smooth(blocks, k, w)
        _check_compiled(blocks, k, w)


def prox(penalty: Any, u: Floats, t: float, k: int) -> Floats:
    """What ``prox_into`` writes."""
    out = np.empty(len(u))
    group_rules.prox_into(penalty, u, t, k, out)
    return out


def _check_gauge(
    blocks: Blocks, k: int, u: Floats, points: list[Floats], allowed: list[Floats]
) -> None:
    size = group_rules.gauge(blocks, u, k)
    holds(size >= 0.0, "a gauge is not negative", k=k, u=u, gauge=size)
    if isinf(size):
        return
    for w in allowed:
        slack = room(float(w @ u), size * rules.value(blocks, w, k))
        holds(
            w @ u <= size * rules.value(blocks, w, k) + slack,
            "0 does not minimise gauge·g(w) − u·w",
            k=k,
            u=u,
            w=w,
        )
    at = group_rules.gauge(blocks, 0.5 * u, k)
    holds(abs(at - 0.5 * size) <= room(size), "gauge(u/2) is not half of gauge(u)", k=k, u=u)
    larger = group_rules.gauge(blocks, np.abs(u), k)
    holds(larger >= size - room(size), "a gauge falls if entries grow in size", k=k, u=u)
    for other in points:
        added, sum_ = (
            group_rules.gauge(blocks, np.abs(other), k),
            group_rules.gauge(blocks, u + other, k),
        )
        holds(sum_ <= (size + added) * (1 + 1e-11), "gauges are not subadditive", k=k, u=u, v=other)
    if size > 0.0 and rules.strength(blocks, k) == 0.0:
        inside, outside = u * ((1.0 - 1e-9) / size), u * ((1.0 + 1e-9) / size)
        holds(
            rules.conj(blocks, inside, k) == 0.0,
            "conj is not 0 where the gauge is < 1",
            k=k,
            u=inside,
        )
        holds(
            isinf(rules.conj(blocks, outside, k)), "conj is finite beyond gauge 1", k=k, u=outside
        )


def _check_conjugate(blocks: Blocks, k: int, u: Floats, mu: float, allowed: list[Floats]) -> None:
    conj = rules.conj(blocks, u, k)
    holds(mu == 0.0 or not isinf(conj), "conj is infinite in spite of strength", k=k, u=u)
    if isinf(conj):
        return
    for w in allowed:
        part = rules.value(blocks, w, k) + conj - w @ u
        holds(part >= -room(conj, float(w @ u)), "Fenchel-Young is broken", k=k, u=u, w=w)
    best = np.empty(len(u))
    group_rules.conj_slope_into(blocks, u, k, best)
    part = rules.value(blocks, best, k) + conj - best @ u
    holds(
        abs(part) <= room(conj, float(best @ u)),
        "Fenchel-Young must be an equality at conj_slope_into",
        k=k,
        u=u,
        w=best,
    )


def _check_prox(
    blocks: Blocks, k: int, u: Floats, t: float, mu: float, allowed: list[Floats]
) -> None:
    w = prox(blocks, u, t, k)
    value = rules.value(blocks, w, k)
    holds(not isinf(value), "prox_into must satisfy the constraint", k=k, u=u, t=t)
    slope = (u - w) / t  # a subgradient of g at w
    for other in allowed:
        below = value + slope @ (other - w) + 0.5 * mu * np.sum((other - w) ** 2)
        slack = room(value, float(slope @ other), float(slope @ w))
        slack += 1e-14 * float(np.sum(np.abs(u)) + 1.0) / t * float(np.sum(np.abs(other - w)))
        holds(
            rules.value(blocks, other, k) >= below - slack,
            "prox_into is not the minimiser, or g is less convex than strength says",
            k=k,
            u=u,
            t=t,
            other=other,
        )


def _check_smooth(blocks: Blocks, k: int, w: Floats) -> None:
    """The derivatives against differences, along the entries that are not 0."""
    slope, bend = np.zeros(len(w)), np.zeros((len(w), len(w)))
    used = w != 0.0
    if not group_rules.smooth_into(blocks, w, k, slope, bend) or not used.any():
        return
    far = 1e-4 * np.min(np.abs(w[used]))
    for i in np.flatnonzero(used):
        step = far * (np.arange(len(w)) == i)
        ends = [rules.value(blocks, w + sign * step, k) for sign in (1.0, -1.0)]
        found = (ends[0] - ends[1]) / (2.0 * far)
        close = abs(found - slope[i]) <= 1e-5 * (1.0 + abs(found)) + 1e-12 / far
        holds(close, "smooth_into: the slope is not that of g", k=k, w=w, i=i)
        tilted = []
        for sign in (1.0, -1.0):
            there, other = np.zeros(len(w)), np.zeros((len(w), len(w)))
            group_rules.smooth_into(blocks, w + sign * step, k, there, other)
            tilted.append(there)
        row = (tilted[0] - tilted[1]) / (2.0 * far)
        size = 1.0 + np.abs(bend[i][used]).max()
        close = (np.abs(row - bend[i])[used] <= 1e-4 * size + 1e-12 / far).all()
        holds(close, "smooth_into: the bend is not the derivative of the slope", k=k, w=w, i=i)


def _check_compiled(blocks: Blocks, k: int, w: Floats) -> None:
    """The compiled rules are the Python rules."""
    plain, found = (np.zeros((3, max(len(w), 4))) for _ in range(2))
    getattr(_rules, "py_func", _rules)(blocks, w, k, plain)
    _rules(blocks, w, k, found)
    same = np.allclose(found, plain, rtol=1e-12, atol=1e-12)
    holds(same, "a compiled rule differs from the Python one", k=k, w=w, found=found, plain=plain)


@kernel
def _rules(penalty: Any, w: Any, k: int, out: Any) -> None:
    out[0, 0] = rules.value(penalty, w, k)
    out[0, 1] = rules.conj(penalty, 0.01 * w, k)
    out[0, 2] = group_rules.gauge(penalty, w, k)
    out[0, 3] = rules.strength(penalty, k)
    group_rules.prox_into(penalty, w, 0.5, k, out[1, : len(w)])
    group_rules.conj_slope_into(penalty, 0.01 * w, k, out[2, : len(w)])
