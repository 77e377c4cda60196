"""The certificate: a bound on how far any coefficients are from the best possible ones.

For any w and any dual point a with a finite D(a),  P(w) − D(a) ≥ P(w) − min P.  The gap is the sum
of the non-negative parts of ``terms.py``, evaluated on a frozen pair in float64 from the data as
given, plus a bound on the rounding errors of that evaluation. The lower bound on min P is D(a) by
itself, less its own rounding errors: near the optimum it is sharper than P(w) minus the gap.

``certificate_from_sums`` makes every certificate. ``evaluate`` and ``prove.py`` lead a pair to it;
partitions of distributed data lead theirs to it as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import products, storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.broken_law import raise_broken_law
from dualgap.proof.dual_point import (
    AS_MAINTAINED,
    FLOAT64,
    FLOAT64_CHEAP_BOUNDS,
    DualPoint,
    Precision,
    make_feasible,
)
from dualgap.proof.feature_terms import feature_terms
from dualgap.proof.goal import ratio, reference, relative_words
from dualgap.proof.rounding import BalanceCost, of_entries
from dualgap.proof.small_point import SmallPoint, small_point
from dualgap.proof.tuning import TUNING

_NORM_ERROR = 1.0 + 1e-9  # covers the rounding errors of norms


@dataclass(frozen=True, eq=False)
class Certificate:
    """Proof of the quality of a coefficient vector.

    ``primal``         the objective P(w), as float64 computes it
    ``dual``           no coefficients can have a smaller objective than this
    ``gap``            at least P(w) − min P, never negative: the sum of all contributions and of
                       bounds on rounding errors (up to which it is primal − dual)
    ``scale``          P(0), the objective at zero coefficients with the best unpenalised intercept
    ``relative_gap``   gap / best possible objective, which ``tol`` refers to (``goal.py``)
    ``sample_parts``, ``feature_parts``  what each sample and each feature adds to the gap;
                       ``sample_parts`` is empty if the caller did not ask for it (``evaluate``)
    ``radius``         ‖w − w*‖ ≤ radius; None when the penalty is not strongly convex
    ``constant``       the value of the constant feature, the last one; 0 when there is none
    ``upper``          P(w) is at most this, rounding errors included
    ``least``          what losses and penalty cannot be below, whatever the coefficients
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
    least: float = field(default=0.0, repr=False)

    @property
    def reference(self) -> float:
        """What ``relative_gap`` is relative to."""
        return reference(self.dual, self.least, self.scale)

    @property
    def relative_gap(self) -> float:
        return ratio(self.gap, self.reference)

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
        return np.asarray(self.radius * np.sqrt(squares + self.constant**2) * _NORM_ERROR)

    def __str__(self) -> str:
        if not np.isfinite(self.primal):
            return "objective infinite: the coefficients break the constraint or overflow the loss"
        if not np.isfinite(self.dual):
            return f"objective {self.primal:.6g}; no bound on the best possible objective was found"
        digits = 4 + int(max(0.0, -np.log10(max(self.relative_gap, 1e-12))))
        return (
            f"objective {self.primal:.{digits}g}; no model can do better than "
            f"{self.dual:.{digits}g}; gap {self.gap:.1e} ({relative_words(self)})"
        )


def certificate_from_sums(
    problem: Problem,
    samples: terms.Sums,
    sample_parts: Floats,
    w: Floats,
    point: DualPoint,
    scale: float,
    least: float,
) -> tuple[Certificate, float]:
    """Make a certificate from the sums over all samples and a feasible dual point.

    Every certificate is made here, wherever its samples are: for partitions, ``problem`` is the
    driver's. Also returns what rounding errors and the exact balance of free features have added.
    """
    parts = np.empty(problem.coef_size)
    with np.errstate(over="ignore", invalid="ignore"):
        features = feature_terms(problem.penalty, problem.lam, w, point.u, point.error, parts)
    return certificate_from_all_sums(
        problem, samples, features, point, sample_parts, parts, scale, least
    )


def certificate_from_all_sums(
    problem: Problem,
    samples: terms.Sums,
    features: terms.Sums,
    point: DualPoint,
    sample_parts: Floats,
    feature_parts: Floats,
    scale: float,
    least: float,
) -> tuple[Certificate, float]:
    """The same, if the sums over features are known as well."""
    with np.errstate(over="ignore", invalid="ignore"):
        cost = BalanceCost(0.0, np.inf, np.inf) if point.cost is None else point.cost
        gap_error = samples.gap_error + features.gap_error + cost.gap
        dual_error = samples.dual_error + features.dual_error + cost.dual
        primal = samples.values + features.values
        gap = samples.gap + features.gap + gap_error
        dual = 0.0 - (samples.conjs + features.conjs + dual_error)
        upper = primal
        if point.error.size:  # the sums of these lines are rounded as well
            dual, gap = 0.0 - _rounded_up(-dual), _rounded_up(gap)
            # P ≤ D + gap is often the better bound.
            upper = _rounded_up(primal + (samples.primal_error + features.primal_error))
            # An exact balance costs little of D(a), but up to |x||w| of the terms of the gap: where
            # free coefficients are large, the difference of the two bounds is far smaller.
            apart = _rounded_up(upper - dual) if dual > -np.inf else np.inf
            gap = apart if 0.0 <= apart < 0.5 * gap else gap  # below 0 a law is broken: as_proof
            upper = min(upper, _rounded_up(dual_error - samples.conjs - features.conjs + gap))
    if problem.width > 1:
        feature_parts = feature_parts.reshape(problem.d, -1).sum(axis=1)
    gap = np.inf if math.isnan(gap) or math.isinf(primal) else gap
    certificate = Certificate(
        primal=np.inf if math.isnan(primal) else primal,
        dual=-np.inf if math.isnan(dual) else dual,
        gap=gap,
        scale=scale,
        radius=_radius(gap, problem.lam * problem.least_strength),
        sample_parts=sample_parts,
        feature_parts=feature_parts,
        constant=problem.constant,
        upper=np.inf if math.isnan(upper) else upper,
        least=least,
    )
    return certificate, gap_error + dual_error


def _rounded_up(number: float) -> float:
    return number + 4.0 * EPS * abs(number)


def _radius(gap: float, strength: float) -> float | None:
    if strength == 0.0:
        return None
    if not gap < np.inf:
        return np.inf
    return math.sqrt(2.0 * gap) / math.sqrt(strength) * (1.0 + 4.0 * EPS)


# --- from a pair to its certificate ---------------------------------------------------------------


class Pair(NamedTuple):
    """A primal and a dual point with their products z = Xw and u = (1/λ) Σ c a x.

    ``z_anew`` and ``u_anew`` say that a product was computed from the data for this very point, so
    that a proof need not repeat it. Otherwise a run may have kept it up to date by small additions.
    ``lent`` says that ``a`` is part of the state of a run, which will change: copy it to keep it.
    """

    w: Floats
    a: Floats
    z: Floats
    u: Floats
    z_anew: bool = False
    u_anew: bool = False
    lent: bool = False


def evaluate(problem: Problem, pair: Pair, *, parts: bool = True) -> Certificate:
    """The certificate of a pair as a run maintains it, without rounding errors: not a proof.

    If ``parts`` is false, it lacks the parts of samples.
    """
    return attempt(problem, pair, AS_MAINTAINED, parts=parts).certificate


class Attempt(NamedTuple):
    """A certificate, the feasible pair that it rests on, and what rounding errors have added."""

    certificate: Certificate
    pair: Pair
    point: DualPoint
    rounding: float

    @property
    def larger_gap(self) -> float:
        """The gap or the difference of the two bounds, whichever is larger."""
        return max(self.certificate.gap, self.certificate.primal - self.certificate.dual)

    @property
    def is_sharp(self) -> bool:
        return self.rounding <= TUNING.rounding_share * self.certificate.gap


def attempt(problem: Problem, pair: Pair, precision: Precision, *, parts: bool = True) -> Attempt:
    """A certificate of this pair, after its dual point was made feasible."""
    if precision in (FLOAT64, FLOAT64_CHEAP_BOUNDS):
        found = small_point(problem, pair)
        if found is not None:
            return _small_attempt(problem, pair, found)
    with np.errstate(over="ignore", invalid="ignore"):
        pair, point, shrinkage = make_feasible(problem, pair, precision)
        sample_parts = np.empty(len(problem.y) if parts else 0)
        samples = terms.sample_terms(
            problem.loss, problem.y, problem.entry_shares, pair.z, pair.a,
            of_entries(precision.error_of_z(problem, pair.w), problem.n_targets), sample_parts,
            problem.block_width, problem.weight_error,
        )  # fmt: skip
        if parts and problem.n_targets > 1:
            sample_parts = sample_parts.reshape(problem.n, -1).sum(axis=1)
    certificate, rounding = certificate_from_sums(
        problem, samples, sample_parts, pair.w, point, problem.scale, problem.least
    )
    # A shorter dual point costs about that share of D(a), which is about as large as P(0).
    return Attempt(certificate, pair, point, rounding + shrinkage * problem.scale)


def _small_attempt(problem: Problem, pair: Pair, found: SmallPoint) -> Attempt:
    certificate, rounding = certificate_from_all_sums(
        problem, found.samples, found.features, found.point, found.sample_parts,
        found.feature_parts, problem.scale, problem.least,
    )  # fmt: skip
    pair = Pair(pair.w, found.a, found.z, pair.u, z_anew=True)
    return Attempt(certificate, pair, found.point, rounding + found.shrinkage * problem.scale)


class Proof(NamedTuple):
    """A certificate, with what it rests on: a dual point, coefficients, decision values, and u."""

    certificate: Certificate
    dual: Floats
    w: Floats
    z: Floats
    point: DualPoint


def as_proof(problem: Problem, found: Attempt) -> Proof:
    """An attempt as a proof; an error if its two bounds contradict each other."""
    certificate, pair = found.certificate, found.pair
    if certificate.dual > certificate.upper:
        raise_broken_law(problem, certificate, pair.w, pair.a)
    return Proof(certificate, pair.a, pair.w, pair.z, found.point)
