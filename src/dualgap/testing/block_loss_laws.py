"""The laws of block losses: those of ``loss_laws.py`` for vectors, K classes at a time.

Points are random, at scales where some classes have next to no share and where all are alike.
"""

from __future__ import annotations

from math import isinf
from typing import Any

import numpy as np
from scipy.optimize import minimize

from dualgap.compile import rules
from dualgap.compile.kernels import kernel
from dualgap.linalg.validate import Floats
from dualgap.testing._common import check_compiled, holds, room

_Q = (1e-6, 0.1, 1.0, 30.0, 1e6, 1e12)
_SCALES = (1e-3, 0.3, 3.0, 40.0, 800.0)


def check_block_loss(loss: Any, widths: tuple[int, ...] = (2, 3, 7), seed: int = 0) -> None:
    """Raise AssertionError if a block loss breaks a law."""
    rng = np.random.default_rng(seed)
    for width in widths:
        points = [scale * rng.standard_normal(width) for scale in _SCALES for _ in range(3)]
        points += [np.zeros(width), points[0] + 1e3]
        for y in (0.0, width - 1.0):
            duals = [project(loss, scale * rng.standard_normal(width), y) for scale in _SCALES]
            duals += [project(loss, -slope(loss, z, y), y) for z in points]
            duals.append(np.zeros(width))
            for z in points:
                _check_slope(loss, z, y, points, duals)
            for a in duals:
                _check_conjugate(loss, a, y)
                _check_projection(loss, rng.standard_normal(width), a, y)
                for z in points[::3]:
                    _check_dual_step(loss, a, z, y, duals)
            check_compiled(
                _block_rules,
                lambda y, a, z: _plain_rules(loss, y, a, z),
                loss,
                [(y, a, z) for a in duals[::3] for z in points[::3]],
            )


def slope(loss: Any, z: Floats, y: float) -> Floats:
    out = np.empty(len(z))
    loss.slope_into(z, y, out)
    return out


def project(loss: Any, a: Floats, y: float) -> Floats:
    out = np.empty(len(a))
    loss.project_into(a, y, out)
    return out


def dual_step(loss: Any, a: Floats, z: Floats, q: float, y: float) -> Floats:
    out = np.empty(len(a))
    loss.dual_step_into(a, z, q, y, out)
    return out


def _check_slope(loss: Any, z: Floats, y: float, points: list[Floats], duals: list[Floats]) -> None:
    value, at = loss.value(z, y), slope(loss, z, y)
    a = project(loss, -at, y)
    holds(np.abs(a + at).max() <= 1e-12, "−∇φ(z) must be feasible", y=y, z=z)
    equality = value + loss.conj(a, y) + a @ z
    holds(
        abs(equality) <= room(value, *(a * z)),
        "Fenchel-Young must be an equality at a = −∇φ(z)",
        y=y,
        z=z,
        difference=equality,
    )
    holds(np.linalg.norm(at) <= loss.lipschitz * (1 + 1e-12), "‖∇φ‖ exceeds lipschitz", y=y, z=z)
    for b in duals:
        part = value + loss.conj(b, y) + b @ z
        holds(part >= -room(value, *(b * z)), "Fenchel-Young is broken", y=y, a=b, z=z)
    near = [z + h * (other - z) for other in points for h in (1.0, 1e-2)]
    for other in near:
        below = value + at @ (other - z)
        holds(
            loss.value(other, y) >= below - room(value, *(at * (other - z))),
            "φ must lie above its tangent",
            y=y,
            z=z,
            other=other,
        )
        if loss.gamma > 0.0:
            change = np.linalg.norm(slope(loss, other, y) - at)
            holds(
                change <= np.linalg.norm(other - z) / loss.gamma * (1 + 1e-9) + 1e-12,
                "∇φ changes faster than 1/gamma allows",
                y=y,
                z=z,
                other=other,
            )


def _check_conjugate(loss: Any, a: Floats, y: float) -> None:
    """The supremum of −a·z − φ(z), climbed to by BFGS.

    For losses with kinks it starts at a point whose slopes are nearly −a, by Moreau's identity.
    """
    conj = loss.conj(a, y)
    holds(not isinf(conj), "project must end in the domain", y=y, a=a)
    start, q = np.zeros(len(a)), 1e6
    if loss.gamma == 0.0:
        start = q * (dual_step(loss, a, start, q, y) - a)
    found = minimize(
        lambda z: loss.value(z, y) + a @ z,
        start,
        jac=lambda z: slope(loss, z, y) + a,
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 2000},
    )
    holds(
        abs(conj + found.fun) <= 1e-5 * (1 + abs(conj)),
        "conj is not the supremum of −a·z − φ(z)",
        y=y,
        a=a,
        conj=conj,
        supremum=-found.fun,
    )


def _check_projection(loss: Any, far: Floats, a: Floats, y: float) -> None:
    holds((project(loss, a, y) == a).all(), "project must keep a feasible point", y=y, a=a)
    near = project(loss, far, y)
    # A projection makes an obtuse angle with every feasible point.
    holds((far - near) @ (a - near) <= 1e-12, "project is not the nearest point", y=y, a=far)
    outside = a + 0.1 * np.ones(len(a))
    holds(isinf(loss.conj(outside, y)), "conj must be infinite where Σ a ≠ 0", y=y, a=outside)
    beyond = a.copy()
    beyond[(int(y) + 1) % len(a)] += 1.5
    beyond[int(y)] -= 1.5
    holds(isinf(loss.conj(beyond, y)), "conj must be infinite outside its domain", y=y, a=beyond)


def _check_dual_step(loss: Any, a: Floats, z: Floats, y: float, duals: list[Floats]) -> None:
    best = dual_step(loss, a, z, 0.0, y)
    gap = loss.value(z, y) + loss.conj(best, y) + best @ z
    holds(
        abs(gap) <= room(loss.value(z, y), *(best * z)),
        "dual_step with q = 0 must reach Fenchel-Young equality",
        y=y,
        a=a,
        z=z,
    )
    for q in _Q:
        new = dual_step(loss, a, z, q, y)
        at = {"y": y, "a": a, "z": z, "q": q, "new": new}
        holds((project(loss, new, y) == new).all(), "dual_step leaves the domain", **at)
        # Moreau: new = −∇φ(z') at the point z' = z + q(new − a).
        moved = z + q * (new - a)
        size = q * (np.linalg.norm(new) + np.linalg.norm(a)) + np.linalg.norm(z)
        gap = loss.value(moved, y) + loss.conj(new, y) + new @ moved
        slack = room(*(new * moved)) + 1e-13 * size * loss.lipschitz
        holds(abs(gap) <= slack, "dual_step breaks Moreau's identity", gap=gap, **at)
        top = _dual_objective(loss, a, z, q, y, new)
        for other in duals[::4]:
            for shift in (1e-4, 1.0):
                trial = project(loss, new + shift * (other - new), y)
                holds(
                    _dual_objective(loss, a, z, q, y, trial)
                    <= top + room(loss.conj(new, y), *(z * new), q * 1e-3),
                    "dual_step is not the maximiser",
                    other=trial,
                    **at,
                )


def _dual_objective(loss: Any, a: Floats, z: Floats, q: float, y: float, new: Floats) -> float:
    return float(-loss.conj(new, y) - z @ new - 0.5 * q * np.sum((new - a) ** 2))


def _plain_rules(loss: Any, y: float, a: Floats, z: Floats) -> Floats:
    return np.concatenate(
        [
            [loss.value(z, y), loss.conj(a, y)],
            slope(loss, z, y),
            project(loss, a + z, y),
            dual_step(loss, a, z, 0.5, y),
        ]
    )


@kernel
def _block_rules(loss: Any, y: float, a: Any, z: Any, out: Any) -> None:
    width = len(a)
    out[0] = rules.value(loss, z, y)
    out[1] = rules.conj(loss, a, y)
    rules.slope_into(loss, z, y, out[2 : 2 + width])
    rules.project_into(loss, a + z, y, out[2 + width : 2 + 2 * width])
    rules.dual_step_into(loss, a, z, 0.5, y, out[2 + 2 * width :])
