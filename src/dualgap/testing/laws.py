"""The laws, as functions that raise AssertionError with a sentence that says which one is broken.

They test mathematics, not snapshots: Fenchel and Young with equality at the slope, the conjugate
against a numerical supremum, steps against a numerical optimum, Moreau, the declared constants.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isinf
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from dualgap import _rules as rules
from dualgap import samplings, terms
from dualgap._compile import kernel
from dualgap.certificate import evaluate
from dualgap.problem import Problem
from dualgap.steps.start import Start
from dualgap.steps.views import Scores

_Z = np.concatenate([-np.geomspace(30, 1e-3, 12), [0.0], np.geomspace(1e-3, 30, 12)])
_A = np.concatenate([-np.geomspace(5, 1e-6, 10), [0.0], np.geomspace(1e-6, 5, 10)])
_Q = (1e-6, 0.1, 1.0, 30.0, 1e6)
_TARGETS = {"real": (-2.5, 0.0, 0.7, 12.0), "binary": (-1.0, 1.0), "count": (0.0, 1.0, 7.0)}


def _holds(condition: Any, sentence: str, **at: Any) -> None:
    if not condition:
        where = ", ".join(f"{name}={value!r}" for name, value in at.items())
        raise AssertionError(f"{sentence} (at {where})")


def _room(*terms_: float) -> float:
    """Rounding room for a sum of such terms."""
    return 1e-11 * (1.0 + sum(abs(term) for term in terms_))


# --- losses ---------------------------------------------------------------------------------------


def check_loss(loss: Any) -> None:
    """Raise AssertionError if a loss breaks a law."""
    for y in _TARGETS[loss.targets]:
        _check_slope(loss, y)
        for a in _A:
            _check_loss_conjugate(loss, y, float(a))
            _check_dual_step(loss, y, float(a))
    _check_compiled(
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
        [(y, z, a) for y in _TARGETS[loss.targets] for z in _Z[::3] for a in _A[::3]],
    )


def _check_slope(loss: Any, y: float) -> None:
    for z in _Z:
        value, slope = loss.value(z, y), loss.slope(z, y)
        a = loss.project(-slope, y)
        _holds(abs(a + slope) <= 1e-12 * (1 + abs(slope)), "−φ'(z) must be feasible", y=y, z=z)
        equality = value + loss.conj(a, y) + a * z
        _holds(
            abs(equality) <= _room(value, a * z),
            "Fenchel-Young must be an equality at a = −φ'(z)",
            y=y,
            z=z,
            difference=equality,
        )
        _holds(abs(slope) <= loss.lipschitz * (1 + 1e-12), "|φ'| exceeds lipschitz", y=y, z=z)
        for other in _Z:
            below = value + slope * (other - z)
            _holds(
                loss.value(other, y) >= below - _room(value, below),
                "φ must lie above its tangent",
                y=y,
                z=z,
                other=other,
            )
            if loss.gamma > 0.0:
                change = abs(loss.slope(other, y) - slope)
                _holds(
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
    _holds(
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
    _holds(not isinf(loss.conj(near, y)), "project must end in the domain", y=y, a=a)
    _holds(isinf(conj) or near == a, "project must keep a feasible point", y=y, a=a)
    for z in _Z:
        _holds(
            isinf(conj) or loss.value(z, y) + conj + a * z >= -_room(conj, a * z),
            "Fenchel-Young is broken",
            y=y,
            a=a,
            z=z,
        )
    supremum = _supremum(lambda z: -a * z - loss.value(z, y))
    _holds(
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
    for z in _Z[::2]:
        nearest = loss.dual_step(a, z, 0.0, y)
        gap = loss.value(z, y) + loss.conj(nearest, y) + nearest * z
        _holds(
            abs(gap) <= _room(loss.value(z, y), nearest * z),
            "dual_step with q = 0 must reach Fenchel-Young equality",
            y=y,
            a=a,
            z=z,
        )
        for q in _Q:
            new = loss.dual_step(a, z, q, y)
            _holds(not isinf(loss.conj(new, y)), "dual_step leaves the domain", y=y, a=a, z=z, q=q)
            # Moreau: new = −φ'(z') at the point z' = z + q(new − a).
            moved = z + q * (new - a)
            size = abs(q * new) + abs(q * a) + abs(z)
            gap = loss.value(moved, y) + loss.conj(new, y) + new * moved
            slack = _room(loss.value(moved, y), new * moved) + 1e-13 * size * (1.0 + abs(new))
            if np.isfinite(loss.lipschitz) or loss.gamma > 0.0:
                steep = min(loss.lipschitz, size / loss.gamma if loss.gamma > 0.0 else inf)
                slack += 1e-13 * size * steep
            _holds(
                abs(gap) <= slack, "dual_step breaks Moreau's identity", y=y, a=a, z=z, q=q, gap=gap
            )
            for other in (new + shift for shift in (-0.1, -1e-3, 1e-3, 0.1)):
                _holds(
                    _dual_objective(loss, y, z, q, a, other)
                    <= _dual_objective(loss, y, z, q, a, new)
                    + _room(loss.conj(new, y), z * new, q * new * new, q * a * a),
                    "dual_step is not the maximiser",
                    y=y,
                    a=a,
                    z=z,
                    q=q,
                    other=other,
                )


def _dual_objective(loss: Any, y: float, z: float, q: float, a: float, new: float) -> float:
    return float(-loss.conj(new, y) - z * new - 0.5 * q * (new - a) ** 2)


# --- penalties ------------------------------------------------------------------------------------


def check_penalty(penalty: Any, d: int = 3) -> None:
    """Raise AssertionError if a penalty breaks a law in one of its ``d`` features."""
    for j in range(d):
        for u in _A:
            _check_penalty_conjugate(penalty, float(u), j)
        for u in _Z:
            _check_prox(penalty, float(u), j)
    _check_compiled(
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
        [(j, u, t) for j in range(d) for u in _Z[::3] for t in _A[::3]],
    )


def _check_penalty_conjugate(penalty: Any, u: float, j: int) -> None:
    low, high = penalty.domain(j)
    conj = penalty.conj(u, j)
    _holds(isinf(conj) == (not low <= u <= high), "conj is finite exactly on domain", u=u, j=j)
    if isinf(conj):
        return
    points = sorted({penalty.prox(float(z), 1e-3, j) for z in _Z})
    for w in points:
        value = penalty.value(w, j)
        part = value + conj - w * u
        _holds(part >= -_room(value, conj, w * u), "Fenchel-Young is broken", u=u, w=w, j=j)
    for near in points:
        w = penalty.conj_slope(u, near, j)
        part = penalty.value(w, j) + conj - w * u
        _holds(
            abs(part) <= _room(conj, w * u),
            "Fenchel-Young must be an equality at conj_slope",
            u=u,
            w=w,
            j=j,
        )
    supremum = max(w * u - penalty.value(w, j) for w in [*points, penalty.conj_slope(u, 0.0, j)])
    _holds(
        abs(supremum - conj) <= _room(conj),
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
        _holds(not isinf(value), "prox must satisfy the constraint", u=u, t=t, j=j)

        def objective(v: float, t: float = t) -> float:
            return float(0.5 * (v - u) ** 2 + t * penalty.value(v, j))

        best = objective(w)
        for shift in (-1.0, -1e-3, 1e-3, 1.0):
            _holds(
                objective(w + shift) >= best - _room(best),
                "prox is not the minimiser",
                u=u,
                t=t,
                j=j,
            )
        slope = (u - w) / t  # Moreau: a subgradient of g at w
        low, high = penalty.domain(j)
        inside = min(max(slope, low), high)
        rounding = 1e-14 * (abs(u) + abs(w)) / t  # of the slope
        _holds(abs(inside - slope) <= rounding, "prox moves too far", u=u, t=t, j=j)
        part = value + penalty.conj(inside, j) - w * inside
        _holds(
            abs(part) <= 1e-9 * (1.0 + abs(value) + abs(w * slope)),
            "prox breaks Moreau's identity",
            u=u,
            t=t,
            j=j,
            part=part,
        )
        for other in (penalty.prox(float(z), t, j) for z in _Z[::4]):
            quadratic = 0.5 * mu * (other - w) ** 2 if other != w else 0.0
            below = value + slope * (other - w) + quadratic
            _holds(
                penalty.value(other, j) >= below - _room(below) - rounding * abs(other - w),
                "g is less convex than strength says",
                u=u,
                t=t,
                j=j,
                other=other,
            )


# --- both: the compiled rule is the Python rule ---------------------------------------------------


@kernel
def _loss_rules(loss: Any, y: float, z: float, a: float, out: Any) -> None:
    out[0] = rules.value(loss, z, y)
    out[1] = rules.slope(loss, z, y)
    out[2] = rules.curvature(loss, z, y)
    out[3] = rules.conj(loss, a, y)
    out[4] = rules.project(loss, a, y)
    out[5] = rules.dual_step(loss, rules.project(loss, a, y), z, 0.5, y)


@kernel
def _penalty_rules(penalty: Any, j: int, u: float, t: float, out: Any) -> None:
    out[0] = rules.value(penalty, rules.prox(penalty, u, 1.0, j), j)
    out[1] = rules.conj(penalty, t, j)
    out[2] = rules.conj_slope(penalty, t, u, j)
    out[3] = rules.prox(penalty, u, abs(t), j)
    out[4], out[5] = rules.domain(penalty, j)
    out[6] = rules.strength(penalty, j)


def _check_compiled(compiled: Any, plain: Any, obj: Any, points: Iterable[tuple[Any, ...]]) -> None:
    for point in points:
        expected = np.array(plain(*point), dtype=float)
        found = np.empty(len(expected))
        compiled(obj, *point, found)
        _holds(
            np.allclose(found, expected, rtol=1e-12, atol=1e-12),
            "a compiled rule differs from the Python one",
            point=point,
            found=found,
            expected=expected,
        )


# --- samplings ------------------------------------------------------------------------------------


def check_sampling(sampling: samplings.Sampling, seed: int = 0) -> None:
    """Raise AssertionError if a sampling breaks a law."""
    rng = np.random.default_rng(seed)
    n = 17
    residue = rng.exponential(size=n) * (rng.random(n) < 0.7)
    scores = Scores(
        residue,
        residue**2,
        rng.exponential(size=n) + 0.01,
        np.full(n, 0.1),
        np.full(n, 2.0),
    )
    weights = sampling.weights(scores)
    _holds(weights.shape == (n,), "one weight for each coordinate", shape=weights.shape)
    _holds(
        np.isfinite(weights).all() and (weights >= 0.0).all(),
        "weights must be >= 0",
        weights=weights,
    )
    _holds(
        (weights[residue > 0.0] > 0.0).all(), "coherence: a residue needs a weight", weights=weights
    )
    # The first index of a block follows the weights, whatever a sampling does inside the block.
    draws = 20_000
    first = np.array([sampling.draw(weights, n, rng)[0] for _ in range(draws)])
    p = weights / weights.sum()
    expected = draws * p
    counts = np.bincount(first, minlength=n)
    _holds((counts[p == 0.0] == 0).all(), "a weight of zero is never drawn", counts=counts)
    sigma = np.sqrt(expected * (1.0 - p) + 1e-9)
    _holds(
        (np.abs(counts - expected) <= 5.0 * sigma + 1.0).all(),
        "marginals differ from the weights",
        counts=counts,
        expected=expected,
    )
    one = sampling.draw(weights, n, np.random.default_rng(7))
    two = sampling.draw(weights, n, np.random.default_rng(7))
    _holds(0 < len(one) <= n and np.array_equal(one, two), "the same seed draws the same", one=one)
    _holds(np.min(one) >= 0 and np.max(one) < n, "indices are coordinates", one=one)


# --- steps ----------------------------------------------------------------------------------------


def check_step(step: Any, problem: Problem, epochs: int = 5, seed: int = 0) -> None:
    """Raise AssertionError if a step breaks a law on a problem that it accepts."""
    _holds(
        step.refusal(problem) is None,
        "the step must accept the problem",
        says=step.refusal(problem),
    )
    rng = np.random.default_rng(seed)
    run = step.start(problem, Start())
    bounds, objectives = [], []
    for _ in range(epochs):
        run.advance(rng.permutation(run.size))
        pair = run.pair()
        image, average = problem.decision(pair.w), problem.average(pair.a)
        _holds(np.allclose(pair.z, image, rtol=1e-9, atol=1e-9), "z must be X w", z=pair.z)
        _holds(np.allclose(pair.u, average, rtol=1e-9, atol=1e-9), "u must be Σ c a x/λ", u=pair.u)
        feasible = np.empty(problem.n)
        terms.projections(problem.loss, problem.y, pair.a, feasible)
        _holds((feasible == pair.a).all(), "the dual point must be feasible", a=pair.a)
        certificate = evaluate(problem, pair)
        bounds.append(certificate.dual)
        objectives.append(certificate.primal)
    _holds(max(bounds) <= min(objectives) + 1e-9, "no bound may exceed an objective", bounds=bounds)
    _holds(min(objectives) < problem.scale, "a step must make progress", objectives=objectives)
