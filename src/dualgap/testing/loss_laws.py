"""The laws of losses.

Fenchel and Young with equality at the slope, the conjugate against a numerical supremum, the dual
step against its optimality and Moreau's identity, the declared constants.
"""

from __future__ import annotations

from math import inf, isinf
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from dualgap.compile import rules
from dualgap.compile.kernels import kernel
from dualgap.losses.targets import targets_of
from dualgap.testing._common import POINTS, SLOPES, check_compiled, holds, room
from dualgap.testing.block_loss_laws import check_block_loss

_Q = (1e-6, 0.1, 1.0, 30.0, 1e6)


def check_loss(loss: Any) -> None:
    """Raise AssertionError if a loss breaks a law."""
    targets = targets_of(loss)
    if targets.block:
        check_block_loss(loss)
        return
    name = type(loss).__name__
    holds(targets.examples, "targets must have examples", loss=name)
    targets.check(np.array(targets.examples), len(targets.examples), name)
    for y in targets.examples:
        _check_slope(loss, y)
        for a in SLOPES:
            _check_loss_conjugate(loss, y, float(a))
            _check_dual_step(loss, y, float(a))
    check_compiled(
        _loss_rules,
        lambda y, z, a: (
            loss.value(z, y),
            loss.slope(z, y),
            loss.curvature(z, y),
            loss.conj(a, y),
            loss.project(a, y),
            loss.dual_step(loss.project(a, y), z, 0.5, y),
        ),
        loss,
        [(y, z, a) for y in targets.examples for z in POINTS[::3] for a in SLOPES[::3]],
    )


def _check_slope(loss: Any, y: float) -> None:
    for z in POINTS:
        value, slope = loss.value(z, y), loss.slope(z, y)
        a = loss.project(-slope, y)
        holds(abs(a + slope) <= 1e-12 * (1 + abs(slope)), "−φ'(z) must be feasible", y=y, z=z)
        equality = value + loss.conj(a, y) + a * z
        holds(
            abs(equality) <= room(value, a * z),
            "Fenchel-Young must be an equality at a = −φ'(z)",
            y=y,
            z=z,
            difference=equality,
        )
        holds(abs(slope) <= loss.lipschitz * (1 + 1e-12), "|φ'| exceeds lipschitz", y=y, z=z)
        for other in POINTS:
            below = value + slope * (other - z)
            holds(
                loss.value(other, y) >= below - room(value, below),
                "φ must lie above its tangent",
                y=y,
                z=z,
                other=other,
            )
            if loss.gamma > 0.0:
                change = abs(loss.slope(other, y) - slope)
                holds(
                    change <= abs(other - z) / loss.gamma * (1 + 1e-9) + 1e-12,
                    "φ' changes faster than 1/gamma allows",
                    y=y,
                    z=z,
                    other=other,
                )
        _check_curvature(loss, y, z)


def _check_curvature(loss: Any, y: float, z: float) -> None:
    h = 1e-6 * (1.0 + abs(z))
    left, right = loss.slope(z - h, y), loss.slope(z + h, y)
    if not np.isclose(loss.curvature(z - h, y), loss.curvature(z + h, y), rtol=1e-3, atol=1e-9):
        return  # a kink of φ' lies here
    if not loss.differentiable and abs(right - left) > 0.1:
        return  # a kink of φ
    measured = (right - left) / (2.0 * h)
    holds(
        np.isclose(
            loss.curvature(z, y), measured, rtol=1e-3, atol=1e-6 * (1.0 + abs(left) / h * 1e-9)
        ),
        "curvature is not the derivative of slope",
        y=y,
        z=z,
        measured=measured,
    )


def _check_loss_conjugate(loss: Any, y: float, a: float) -> None:
    conj = loss.conj(a, y)
    near = loss.project(a, y)
    holds(not isinf(loss.conj(near, y)), "project must end in the domain", y=y, a=a)
    holds(isinf(conj) or near == a, "project must keep a feasible point", y=y, a=a)
    for z in POINTS:
        holds(
            isinf(conj) or loss.value(z, y) + conj + a * z >= -room(conj, a * z),
            "Fenchel-Young is broken",
            y=y,
            a=a,
            z=z,
        )
    supremum = _supremum(lambda z: -a * z - loss.value(z, y))
    holds(
        isinf(conj) == isinf(supremum)
        and (isinf(conj) or abs(conj - supremum) <= 1e-5 * (1 + abs(conj))),
        "conj is not the supremum of −a z − φ(z)",
        y=y,
        a=a,
        conj=conj,
        supremum=supremum,
    )


def _supremum(function: Any) -> float:
    """The supremum of a concave function on the line; inf when it keeps growing."""
    ends = np.array([function(z) for z in (-1e3, 1e3, -1e6, 1e6)])
    best = inf
    if not (ends[2] > ends[0] + 1e-3 or ends[3] > ends[1] + 1e-3):
        runs = [
            -minimize_scalar(
                lambda z: -function(z), bounds=(-r, r), method="bounded", options={"xatol": 1e-12}
            ).fun
            for r in (1e-3, 1.0, 10.0, 50.0, 1e3)
        ]
        best = max(*runs, *ends)
    return best


def _check_dual_step(loss: Any, y: float, a: float) -> None:
    a = loss.project(a, y)
    for z in POINTS[::2]:
        nearest = loss.dual_step(a, z, 0.0, y)
        gap = loss.value(z, y) + loss.conj(nearest, y) + nearest * z
        holds(
            abs(gap) <= room(loss.value(z, y), nearest * z),
            "dual_step with q = 0 must reach Fenchel-Young equality",
            y=y,
            a=a,
            z=z,
        )
        for q in _Q:
            new = loss.dual_step(a, z, q, y)
            holds(not isinf(loss.conj(new, y)), "dual_step leaves the domain", y=y, a=a, z=z, q=q)
            # Moreau: new = −φ'(z') at the point z' = z + q(new − a).
            moved = z + q * (new - a)
            size = abs(q * new) + abs(q * a) + abs(z)
            gap = loss.value(moved, y) + loss.conj(new, y) + new * moved
            slack = room(loss.value(moved, y), new * moved) + 1e-13 * size * (1.0 + abs(new))
            if np.isfinite(loss.lipschitz) or loss.gamma > 0.0:
                steep = min(loss.lipschitz, size / loss.gamma if loss.gamma > 0.0 else inf)
                slack += 1e-13 * size * steep
            holds(
                abs(gap) <= slack, "dual_step breaks Moreau's identity", y=y, a=a, z=z, q=q, gap=gap
            )
            for other in (new + shift for shift in (-0.1, -1e-3, 1e-3, 0.1)):
                holds(
                    _dual_objective(loss, y, z, q, a, other)
                    <= _dual_objective(loss, y, z, q, a, new)
                    + room(loss.conj(new, y), z * new, q * new * new, q * a * a),
                    "dual_step is not the maximiser",
                    y=y,
                    a=a,
                    z=z,
                    q=q,
                    other=other,
                )


def _dual_objective(loss: Any, y: float, z: float, q: float, a: float, new: float) -> float:
    return float(-loss.conj(new, y) - z * new - 0.5 * q * (new - a) ** 2)


@kernel
def _loss_rules(loss: Any, y: float, z: float, a: float, out: Any) -> None:
    out[0] = rules.value(loss, z, y)
    out[1] = rules.slope(loss, z, y)
    out[2] = rules.curvature(loss, z, y)
    out[3] = rules.conj(loss, a, y)
    out[4] = rules.project(loss, a, y)
    out[5] = rules.dual_step(loss, rules.project(loss, a, y), z, 0.5, y)
