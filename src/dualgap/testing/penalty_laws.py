"""The laws of penalties.

Fenchel and Young with equality at ``conj_slope``, the prox against its optimality and Moreau's
identity, the declared domain and strong convexity, what the penalty says about its structure.
"""

from __future__ import annotations

from math import inf, isinf
from typing import Any

import numpy as np

from dualgap.compile import rules
from dualgap.compile.kernels import kernel
from dualgap.penalties import structure
from dualgap.penalties.structure import is_on_groups
from dualgap.testing._common import POINTS, SLOPES, check_compiled, holds, room
from dualgap.testing.group_penalty_laws import check_group_penalty


def check_penalty(penalty: Any, d: int = 3) -> None:
    """Raise AssertionError if a penalty breaks a law in one of its ``d`` features, or in one of the
    groups of these."""
    if is_on_groups(penalty):
        checked = structure.check_penalty(penalty, d)
        for width in (1, 2):
            check_group_penalty(checked, width)
        return
    for j in range(d):
        for u in SLOPES:
            _check_penalty_conjugate(penalty, float(u), j)
        for u in POINTS:
            _check_prox(penalty, float(u), j)
        _check_structure(penalty, d, j)
    check_compiled(
        _penalty_rules,
        lambda j, u, t: (
            penalty.value(penalty.prox(u, 1.0, j), j),
            penalty.conj(t, j),
            penalty.conj_slope(t, u, j),
            penalty.prox(u, abs(t), j),
            *penalty.domain(j),
            penalty.strength(j),
        ),
        penalty,
        [(j, u, t) for j in range(d) for u in POINTS[::3] for t in SLOPES[::3]],
    )


def _check_penalty_conjugate(penalty: Any, u: float, j: int) -> None:
    low, high = penalty.domain(j)
    conj = penalty.conj(u, j)
    holds(isinf(conj) == (not low <= u <= high), "conj is finite exactly on domain", u=u, j=j)
    if isinf(conj):
        return
    points = sorted({penalty.prox(float(z), 1e-3, j) for z in POINTS})
    for w in points:
        value = penalty.value(w, j)
        part = value + conj - w * u
        holds(part >= -room(value, conj, w * u), "Fenchel-Young is broken", u=u, w=w, j=j)
    for near in points:
        w = penalty.conj_slope(u, near, j)
        part = penalty.value(w, j) + conj - w * u
        holds(
            abs(part) <= room(conj, w * u),
            "Fenchel-Young must be an equality at conj_slope",
            u=u,
            w=w,
            j=j,
        )
    supremum = max(w * u - penalty.value(w, j) for w in [*points, penalty.conj_slope(u, 0.0, j)])
    holds(
        abs(supremum - conj) <= room(conj),
        "conj is not the supremum of u w − g(w)",
        u=u,
        j=j,
        conj=conj,
    )


def _check_prox(penalty: Any, u: float, j: int) -> None:
    mu = penalty.strength(j)
    for t in (1e-4, 0.3, 1.0, 40.0):
        w = penalty.prox(u, t, j)
        value = penalty.value(w, j)
        holds(not isinf(value), "prox must satisfy the constraint", u=u, t=t, j=j)

        def objective(v: float, t: float = t) -> float:
            return float(0.5 * (v - u) ** 2 + t * penalty.value(v, j))

        best = objective(w)
        for shift in (-1.0, -1e-3, 1e-3, 1.0):
            holds(
                objective(w + shift) >= best - room(best),
                "prox is not the minimiser",
                u=u,
                t=t,
                j=j,
            )
        slope = (u - w) / t  # Moreau: a subgradient of g at w
        low, high = penalty.domain(j)
        inside = min(max(slope, low), high)
        rounding = 1e-14 * (abs(u) + abs(w)) / t  # of the slope
        holds(abs(inside - slope) <= rounding, "prox moves too far", u=u, t=t, j=j)
        part = value + penalty.conj(inside, j) - w * inside
        holds(
            abs(part) <= 1e-9 * (1.0 + abs(value) + abs(w * slope)),
            "prox breaks Moreau's identity",
            u=u,
            t=t,
            j=j,
            part=part,
        )
        for other in (penalty.prox(float(z), t, j) for z in POINTS[::4]):
            quadratic = 0.5 * mu * (other - w) ** 2 if other != w else 0.0
            below = value + slope * (other - w) + quadratic
            holds(
                penalty.value(other, j) >= below - room(below) - rounding * abs(other - w),
                "g is less convex than strength says",
                u=u,
                t=t,
                j=j,
                other=other,
            )


def _check_structure(penalty: Any, d: int, j: int) -> None:
    uniform, shape = structure.is_uniform(penalty), structure.shape_of(penalty, d)
    low, high = (float(np.broadcast_to(bound, d)[j]) for bound in structure.bounds(penalty))
    for w in map(float, POINTS):
        value = penalty.value(w, j)
        holds(isinf(value) or low <= w <= high, "g is finite outside of its bounds", w=w, j=j)
        alike = not uniform or value == penalty.value(w, 0)
        holds(alike, "g is declared uniform, but differs between features", w=w, j=j)
        square = not structure.is_half_square(penalty) or value == 0.5 * w * w
        holds(square, "g is declared to be ½w², but is not", w=w, value=value)
        if shape is None:
            continue
        expected = inf
        if shape.low[j] <= w <= shape.high[j]:
            expected = shape.l1[j] * abs(w) + 0.5 * shape.l2[j] * w * w
        same = value == expected or abs(value - expected) <= room(value)
        holds(same, "g is not its elastic_form", w=w, j=j, value=value, expected=expected)


@kernel
def _penalty_rules(penalty: Any, j: int, u: float, t: float, out: Any) -> None:
    out[0] = rules.value(penalty, rules.prox(penalty, u, 1.0, j), j)
    out[1] = rules.conj(penalty, t, j)
    out[2] = rules.conj_slope(penalty, t, u, j)
    out[3] = rules.prox(penalty, u, abs(t), j)
    out[4], out[5] = rules.domain(penalty, j)
    out[6] = rules.strength(penalty, j)
