"""The certificate: a bound on how far any coefficients are from the best possible ones.

For any w and any dual point a with a finite D(a),  P(w) − D(a) ≥ P(w) − min P.  The gap is the sum
of the non-negative parts of ``terms.py``, evaluated on a frozen pair in float64 from the data as
given, plus a bound on the rounding errors of that evaluation. The lower bound on min P is D(a) by
itself, less its own rounding errors: near the optimum it is sharper than P(w) minus the gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import products, storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof import terms
from dualgap.proof.ballast import Charge
from dualgap.proof.contradiction import refuse_contradiction
from dualgap.proof.dual_point import EXACT, GIVEN, PLAIN, ROUGH, Point, Sums, feasible

# A proof is sharp if rounding errors account for no more than this part of its gap.
_SHARE = 1e-3
_LOOSE = 1.0 + 1e-9  # covers the rounding errors of norms
# Entries of X from which a pass that only makes bounds sharper is worth saving.
_LARGE = 100_000


@dataclass(frozen=True, eq=False)
class Certificate:
    """Proof of the quality of a coefficient vector.

    ``primal``         the objective P(w), as float64 has it
    ``dual``           no coefficients can have a smaller objective than this
    ``gap``            at least P(w) − min P, never negative: the sum of the parts and of rounding
                       errors (up to which it is primal − dual)
    ``scale``          P(0), the objective at zero coefficients with the best unpenalised intercept
    ``relative_gap``   gap / scale, the number that ``tol`` refers to
    ``sample_parts``, ``feature_parts``  what each sample and each feature adds to the gap; of
                       samples empty where nobody has asked for it (``evaluate``)
    ``radius``         ‖w − w*‖ ≤ radius; None when the penalty is not strongly convex
    ``constant``       the value of the constant feature, the last one; 0 when there is none
    ``upper``          P(w) is at most this, rounding errors included
    """

    primal: float
    dual: float
    gap: float
    scale: float
    radius: float | None
    sample_parts: Floats = field(repr=False)
    feature_parts: Floats = field(repr=False)
    constant: float = field(default=0.0, repr=False)
    upper: float = field(default=np.inf, repr=False)

    @property
    def relative_gap(self) -> float:
        if self.gap == 0.0:
            return 0.0
        return self.gap / self.scale if self.scale > 0.0 else np.inf

    def decision_radius(self, X: Any) -> Floats:
        """How far each decision value x·w can be from that of the exact optimum."""
        if self.radius is None:
            raise ValueError(
                "the penalty is not strongly convex, so there is no bound on decision values; "
                "add an L2 part, for example penalties.ElasticNet(0.99)"
            )
        matrix = storage.rows(storage.as_data(X))
        needed = len(self.feature_parts) - (self.constant != 0.0)
        if matrix.shape[1] != needed:
            raise ValueError(f"X has {matrix.shape[1]} features where {needed} are needed")
        squares = np.empty(matrix.shape[0])
        products.weighted_squares(matrix, np.ones(matrix.shape[1]), squares)
        return np.asarray(self.radius * np.sqrt(squares + self.constant**2) * _LOOSE)

    def __str__(self) -> str:
        if not np.isfinite(self.primal):
            return "objective infinite: the coefficients break the constraint or overflow the loss"
        if not np.isfinite(self.dual):
            return f"objective {self.primal:.6g}; no bound on the best possible objective was found"
        digits = 4 + int(max(0.0, -np.log10(max(self.relative_gap, 1e-12))))
        return (
            f"objective {self.primal:.{digits}g}; no model can do better than "
            f"{self.dual:.{digits}g}; gap {self.gap:.1e} ({self.relative_gap:.1e} of P(0))"
        )


class Pair(NamedTuple):
    """A primal and a dual point with their images z = Xw and u = (1/λ) Σ c a x.

    ``z_anew`` and ``u_anew`` say that an image is a sum over the data, made for this very point: a
    proof need not repeat it. Else it may have been kept up to date by small additions. ``lent``
    says that ``a`` is part of the state of a run, which will change: who keeps it makes a copy.
    """

    w: Floats
    a: Floats
    z: Floats
    u: Floats
    z_anew: bool = False
    u_anew: bool = False
    lent: bool = False


def certify(problem: Problem, coef: Any, dual: Any = None, intercept: Any = 0.0) -> Certificate:
    """Certify any coefficients, wherever they come from.

    ``dual`` is a dual point (a_i for each sample, w = ∇g*(u) at the optimum). The point
    −φ'(Xw), which needs no knowledge, and 0, which says that losses have a minimum, are tried as
    well, and the best of them is used. ``intercept`` is what decision values have on top of X·coef.
    For a loss of K classes, ``coef`` has shape (p, K), ``dual`` (n, K) and ``intercept`` (K,).
    """
    dual = None if dual is None else problem.flat(dual, "dual", problem.n)
    return prove(problem, joined(problem, coef, intercept), dual)[0]


class _Proof(NamedTuple):
    """A certificate, the dual point that it rests on, and what rounding errors have added."""

    certificate: Certificate
    dual: Floats
    rounding: float

    @property
    def reach(self) -> float:
        """The gap, or the difference of the bounds, if that is larger."""
        own = self.certificate
        return max(own.gap, own.primal - own.dual)

    @property
    def is_sharp(self) -> bool:
        return self.rounding <= _SHARE * self.certificate.gap


def prove(
    problem: Problem,
    w: Floats,
    dual: Floats | None,
    enough: float = 0.0,
    z: Floats | None = None,
    u: Floats | None = None,
) -> tuple[Certificate, Floats]:
    """The certificate, and the dual point that it rests on. u is computed anew for each one.

    Tried are ``dual``, −φ'(Xw) and 0, until a gap of ``enough`` is proven. Rounding errors are
    bounded roughly at first, if that may be enough; sums are taken in twice the precision only
    where the errors of float64 matter, since it takes many times as long.
    ``z`` and ``u`` are the images of ``w`` and ``dual`` if these were just computed from the data.
    """
    z = problem.decision(w) if z is None else z
    pairs: list[Pair] = []
    best: _Proof | None = None
    for pair in _candidates(problem, w, dual, z, u):
        nothing = not pair.a.any()
        if nothing and best and best.certificate.gap <= best.certificate.primal - problem.least:
            continue
        if enough > 0.0 and problem.entries >= _LARGE:
            best = _better(best, _evaluate(problem, pair, ROUGH))
            if best.reach <= enough:
                break
        pairs.append(pair)
        best = _better(best, _evaluate(problem, pair, PLAIN))
        if best.reach <= enough:
            break
    return _sharpened(problem, w, pairs, best, enough)


def prove_pair(problem: Problem, w: Floats, dual: Floats) -> tuple[Certificate, Floats]:
    """The same with this dual point and no other: two passes over the data."""
    pair = _given(problem, w, dual, problem.decision(w), None)
    return _sharpened(problem, w, [pair], _evaluate(problem, pair, PLAIN), 0.0)


def _candidates(
    problem: Problem, w: Floats, dual: Floats | None, z: Floats, u: Floats | None
) -> Iterator[Pair]:
    if dual is not None:
        yield _given(problem, w, dual, z, u)
    a = np.empty(problem.dual_size)
    terms.slopes(problem.loss, problem.y, z, a)
    yield Pair(w, a, z, np.empty(0))
    yield Pair(w, np.zeros(problem.dual_size), z, np.empty(0))


def _given(problem: Problem, w: Floats, dual: Floats, z: Floats, u: Floats | None) -> Pair:
    a = np.empty(problem.dual_size)
    terms.projections(problem.loss, problem.y, dual, a)
    if not np.array_equal(a, dual):
        return Pair(w, a, z, np.empty(0))
    return Pair(w, dual, z, np.empty(0) if u is None else u, u_anew=u is not None)


def _better(one: _Proof | None, other: _Proof) -> _Proof:
    return other if one is None or other.certificate.gap < one.certificate.gap else one


def _sharpened(
    problem: Problem, w: Floats, pairs: list[Pair], best: _Proof | None, enough: float
) -> tuple[Certificate, Floats]:
    if best is None or not (best.is_sharp or best.reach <= enough):
        for pair in pairs:
            best = _better(best, _evaluate(problem, pair, EXACT))
    assert best is not None
    refuse_contradiction(problem, best.certificate, w, best.dual)
    return best.certificate, best.dual


def evaluate(problem: Problem, pair: Pair, *, parts: bool = True) -> Certificate:
    """The certificate of a pair as a run maintains it, without the rounding errors, and if
    ``parts`` is false without the parts of samples."""
    return _evaluate(problem, pair, GIVEN, parts=parts).certificate


def _evaluate(problem: Problem, pair: Pair, sums: Sums, *, parts: bool = True) -> _Proof:
    with np.errstate(over="ignore", invalid="ignore"):
        pair, point, shorter = feasible(problem, pair, sums)
        sample_parts = np.empty(problem.n if parts else 0)
        samples = terms.sample_terms(
            problem.loss, problem.y, problem.c, pair.z, pair.a, sums.of_z(problem, pair.w),
            sample_parts, problem.width, problem.weight_error,
        )  # fmt: skip
    certificate, rounding = judged(problem, samples, sample_parts, pair.w, point, problem.scale)
    # A shorter dual point costs about as large a part of D(a), whose size is that of P(0).
    return _Proof(certificate, pair.a, rounding + shorter * problem.scale)


def judged(
    frame: Problem,
    samples: terms.Sums,
    sample_parts: Floats,
    w: Floats,
    point: Point,
    scale: float,
) -> tuple[Certificate, float]:
    """The proof, from sums over all samples, wherever these are, and a feasible dual point; and
    what rounding errors and the exact balance of free features have added to it."""
    feature_parts = np.empty(frame.coef_size)
    with np.errstate(over="ignore", invalid="ignore"):
        features = terms.feature_terms(
            frame.penalty, frame.lam, w, point.u, point.error, feature_parts
        )
        cost = Charge(0.0, np.inf, np.inf) if point.cost is None else point.cost
        of_gap = samples.of_gap + features.of_gap + cost.of_gap
        of_dual = samples.of_dual + features.of_dual + cost.of_dual
        primal = samples.values + features.values
        gap = samples.gap + features.gap + of_gap
        dual = 0.0 - (samples.conjs + features.conjs + of_dual)
        upper = primal
        if point.error.size:  # the sums of these lines are rounded as well
            dual, gap = 0.0 - _above(-dual), _above(gap)
            # P ≤ D + gap is often the better bound.
            upper = _above(primal + (samples.of_primal + features.of_primal))
            upper = min(upper, _above(of_dual - samples.conjs - features.conjs + gap))
    if frame.width > 1:
        feature_parts = feature_parts.reshape(frame.d, -1).sum(axis=1)
    gap = np.inf if np.isnan(gap) or np.isinf(primal) else gap
    certificate = Certificate(
        primal=np.inf if np.isnan(primal) else primal,
        dual=-np.inf if np.isnan(dual) else dual,
        gap=gap,
        scale=scale,
        radius=_radius(gap, frame.lam * frame.least_strength),
        sample_parts=sample_parts,
        feature_parts=feature_parts,
        constant=frame.constant,
        upper=np.inf if np.isnan(upper) else upper,
    )
    return certificate, of_gap + of_dual


def _above(number: float) -> float:
    return number + 4.0 * EPS * abs(number)


def _radius(gap: float, strength: float) -> float | None:
    if strength == 0.0:
        return None
    if not gap < np.inf:
        return np.inf
    return float(np.sqrt(2.0 * gap) / np.sqrt(strength)) * (1.0 + 4.0 * EPS)
