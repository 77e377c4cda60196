"""The certificate: a bound on how far any coefficients are from the best possible ones.

For any w and any dual point a with a finite D(a),  P(w) − D(a) ≥ P(w) − min P.  The gap is the sum
of the non-negative parts of ``terms.py``, evaluated on a frozen pair in float64 from the data as
given, plus a bound on the rounding errors of that evaluation. A dot product of m terms is taken to
err by at most (2 + √m)·EPS times the norms (Higham and Mary's probabilistic bound).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dualgap import terms
from dualgap._validate import Floats, finite_vector
from dualgap.linalg import products, storage
from dualgap.problem import Problem
from dualgap.unpenalised import balance


@dataclass(frozen=True)
class Certificate:
    """Proof of the quality of a coefficient vector.

    ``primal``         the objective P(w)
    ``dual``           no coefficients can have a smaller objective than this
    ``gap``            primal − dual ≥ P(w) − min P ≥ 0
    ``scale``          P(0), the objective at zero coefficients
    ``relative_gap``   gap / scale, the number that ``tol`` refers to
    ``sample_parts``, ``feature_parts``  what each sample and each feature adds to the gap
    ``radius``         ‖w − w*‖ ≤ radius; None when the penalty is not strongly convex
    """

    primal: float
    dual: float
    gap: float
    scale: float
    radius: float | None
    sample_parts: Floats = field(repr=False)
    feature_parts: Floats = field(repr=False)

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
        squares = np.empty(matrix.shape[0])
        products.weighted_squares(matrix, np.ones(matrix.shape[1]), squares)
        return np.asarray(self.radius * np.sqrt(squares))

    def __str__(self) -> str:
        if not np.isfinite(self.primal):
            return "objective infinite: the coefficients break the penalty's constraint"
        if not np.isfinite(self.dual):
            return f"objective {self.primal:.6g}; no bound on the best possible objective was found"
        digits = 4 + int(max(0.0, -np.log10(max(self.relative_gap, 1e-12))))
        return (
            f"objective {self.primal:.{digits}g}; no model can do better than "
            f"{self.dual:.{digits}g}; gap {self.gap:.1e} ({self.relative_gap:.1e} of P(0))"
        )


class Pair(NamedTuple):
    """A primal and a dual point with their images z = Xw and u = (1/λ) Σ c a x."""

    w: Floats
    a: Floats
    z: Floats
    u: Floats


def certify(problem: Problem, coef: Any, dual: Any = None) -> Certificate:
    """Certify any coefficients, wherever they come from.

    ``dual`` is a dual point (a_i for each sample, w = ∇g*(u) at the optimum). The point
    −φ'(Xw), which needs no knowledge, is tried as well, and the better of the two is used.
    """
    w = finite_vector(coef, "coef", problem.d)
    z = problem.decision(w)
    best = evaluate(problem, _from_primal(problem, w, z), rounding=True)
    if dual is not None:
        a = np.empty(problem.n)
        terms.projections(problem.loss, problem.y, finite_vector(dual, "dual", problem.n), a)
        given = evaluate(problem, Pair(w, a, z, problem.average(a)), rounding=True)
        best = min(given, best, key=lambda certificate: certificate.gap)
    return best


def _from_primal(problem: Problem, w: Floats, z: Floats) -> Pair:
    a = np.empty(problem.n)
    terms.slopes(problem.loss, problem.y, z, a)
    return Pair(w, a, z, problem.average(a))


def evaluate(problem: Problem, pair: Pair, *, rounding: bool = False) -> Certificate:
    """The certificate of a pair whose images are given; ``certify`` computes them from the data."""
    pair = feasible(problem, pair)
    z_error, u_error = _errors(problem, pair) if rounding else (np.empty(0), np.empty(0))
    losses, sample_parts = np.empty((2, problem.n))
    penalties, feature_parts = np.empty((2, problem.d))
    slack = terms.sample_terms(
        problem.loss, problem.y, problem.c, pair.z, pair.a, z_error, losses, sample_parts
    )
    slack += terms.feature_terms(
        problem.penalty, problem.lam, pair.w, pair.u, u_error, penalties, feature_parts
    )
    primal = float(np.sum(losses) + np.sum(penalties))
    gap = float(np.sum(sample_parts) + np.sum(feature_parts) + slack)
    gap = np.inf if np.isnan(gap) or np.isnan(primal) else gap
    return _certificate(problem, primal, gap, sample_parts, feature_parts)


def _certificate(
    problem: Problem, primal: float, gap: float, sample_parts: Floats, feature_parts: Floats
) -> Certificate:
    strength = problem.lam * problem.features.strength.min()
    return Certificate(
        primal=primal,
        dual=primal - gap if np.isfinite(primal) else -np.inf,
        gap=gap,
        scale=problem.scale,
        radius=float(np.sqrt(2.0 * gap / strength)) if strength > 0.0 else None,
        sample_parts=sample_parts,
        feature_parts=feature_parts,
    )


def feasible(problem: Problem, pair: Pair) -> Pair:
    """Move the dual point to where g*(u) is finite: balance unpenalised features, then shrink."""
    low, high = problem.features.low, problem.features.high
    free = (low == 0.0) & (high == 0.0)
    if free.any():
        a = balance(problem, pair.z, np.flatnonzero(free))
        pair = pair._replace(a=a, u=problem.average(a))
        settled = free & (np.abs(pair.u) <= _error_of_u(problem, pair.a))
        pair.u[settled] = 0.0
    if not np.isfinite(np.minimum(high, -low)).any():
        return pair
    # Shrinking keeps a feasible: 0 belongs to the domain of every loss that is bounded below.
    error = _error_of_u(problem, pair.a)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.minimum(
            np.where(pair.u + error > high, high / (pair.u + error), 1.0),
            np.where(pair.u - error < low, low / (pair.u - error), 1.0),
        )
    shrink = float(np.min(room[~free], initial=1.0))
    return pair if shrink == 1.0 else pair._replace(a=pair.a * shrink, u=pair.u * shrink)


def _errors(problem: Problem, pair: Pair) -> tuple[Floats, Floats]:
    z_error = _relative(problem.row_counts) * np.sqrt(problem.row_squares) * np.linalg.norm(pair.w)
    return z_error, _error_of_u(problem, pair.a)


def _error_of_u(problem: Problem, a: Floats) -> Floats:
    size = np.linalg.norm(problem.c * a) / problem.lam
    return np.asarray(_relative(problem.column_counts) * np.sqrt(problem.column_squares) * size)


def _relative(counts: Floats) -> Floats:
    return np.asarray((2.0 + np.sqrt(counts)) * terms.EPS)
