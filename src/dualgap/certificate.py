"""The certificate: a bound on how far any coefficients are from the best possible ones.

For any w and any dual point a with a finite D(a),  P(w) − D(a) ≥ P(w) − min P.  The gap is the sum
of the non-negative parts of ``terms.py``, evaluated on a frozen pair in float64 from the data as
given, plus a bound on the rounding errors of that evaluation. The lower bound on min P is D(a) by
itself, less its own rounding errors: near the optimum it is sharper than P(w) minus the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dualgap import terms
from dualgap._scalar import EPS
from dualgap._validate import Floats
from dualgap.intercept import joined
from dualgap.linalg import exact, products, storage
from dualgap.linalg.products import norm
from dualgap.losses._simplex import LOOSE
from dualgap.problem import Problem
from dualgap.unpenalised import balance

_SHRINKS = 8  # until rounding errors no longer lead out of the domain of g*


@dataclass(frozen=True, eq=False)
class Certificate:
    """Proof of the quality of a coefficient vector.

    ``primal``         the objective P(w)
    ``dual``           no coefficients can have a smaller objective than this
    ``gap``            at least P(w) − min P, never negative: the sum of the parts and of rounding
                       errors (up to which it is primal − dual)
    ``scale``          P(0), the objective at zero coefficients with the best unpenalised intercept
    ``relative_gap``   gap / scale, the number that ``tol`` refers to
    ``sample_parts``, ``feature_parts``  what each sample and each feature adds to the gap
    ``radius``         ‖w − w*‖ ≤ radius; None when the penalty is not strongly convex
    ``constant``       the value of the constant feature, the last one; 0 when there is none
    """

    primal: float
    dual: float
    gap: float
    scale: float
    radius: float | None
    sample_parts: Floats = field(repr=False)
    feature_parts: Floats = field(repr=False)
    constant: float = field(default=0.0, repr=False)

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
        return np.asarray(self.radius * np.sqrt(squares + self.constant**2))

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
    """A primal and a dual point with their images z = Xw and u = (1/λ) Σ c a x."""

    w: Floats
    a: Floats
    z: Floats
    u: Floats


def certify(problem: Problem, coef: Any, dual: Any = None, intercept: Any = 0.0) -> Certificate:
    """Certify any coefficients, wherever they come from.

    ``dual`` is a dual point (a_i for each sample, w = ∇g*(u) at the optimum). The point
    −φ'(Xw), which needs no knowledge, and 0, which says that losses have a minimum, are tried as
    well, and the best of them is used. ``intercept`` is what decision values have on top of X·coef.
    For a loss of K classes, ``coef`` has shape (p, K), ``dual`` (n, K) and ``intercept`` (K,).
    """
    dual = None if dual is None else problem.flat(dual, "dual", problem.n)
    return prove(problem, joined(problem, coef, intercept), dual)[0]


def prove(problem: Problem, w: Floats, dual: Floats | None) -> tuple[Certificate, Floats]:
    """The certificate, and the dual point that it rests on. u is computed anew for each one."""
    z = problem.decision(w)
    nothing = Pair(w, np.zeros(problem.dual_size), z, np.zeros(problem.coef_size))
    a = np.empty(problem.dual_size)
    terms.slopes(problem.loss, problem.y, z, a)
    pairs = [nothing._replace(a=a), nothing]
    if dual is not None:
        pairs.append(_given(problem, w, dual, z))
    proofs = [_evaluate(problem, pair, rounding=True) for pair in pairs]
    return min(proofs, key=lambda proof: proof[0].gap)


def prove_pair(problem: Problem, w: Floats, dual: Floats) -> tuple[Certificate, Floats]:
    """The same with this dual point and no other: two passes over the data."""
    return _evaluate(problem, _given(problem, w, dual, problem.decision(w)), rounding=True)


def _given(problem: Problem, w: Floats, dual: Floats, z: Floats) -> Pair:
    a = np.empty(problem.dual_size)
    terms.projections(problem.loss, problem.y, dual, a)
    return Pair(w, a, z, np.zeros(problem.coef_size))


def evaluate(problem: Problem, pair: Pair) -> Certificate:
    """The certificate of a pair as a run maintains it, without the rounding errors."""
    return _evaluate(problem, pair, rounding=False)[0]


def _evaluate(problem: Problem, pair: Pair, *, rounding: bool) -> tuple[Certificate, Floats]:
    with np.errstate(over="ignore", invalid="ignore"):
        pair, u_error, slack = feasible(problem, pair, rounding=rounding)
        z_error = _error_of_z(problem, pair.w) if rounding else np.empty(0)
        losses, loss_conjs, sample_parts = np.empty((3, problem.n))
        of_gap, of_dual = terms.sample_terms(
            problem.loss,
            problem.y,
            problem.c,
            pair.z,
            pair.a,
            z_error,
            losses,
            loss_conjs,
            sample_parts,
        )
        penalties, penalty_conjs, feature_parts = np.empty((3, problem.coef_size))
        more_of_gap, more_of_dual = terms.feature_terms(
            problem.penalty,
            problem.lam,
            pair.w,
            pair.u,
            u_error,
            penalties,
            penalty_conjs,
            feature_parts,
        )
        primal = float(np.sum(losses) + np.sum(penalties))
        gap = float(np.sum(sample_parts) + np.sum(feature_parts) + of_gap + more_of_gap + slack)
        dual = 0.0 - float(
            np.sum(loss_conjs) + np.sum(penalty_conjs) + of_dual + more_of_dual + slack
        )
        strength = problem.lam * problem.features.strength.min()
    gap = np.inf if np.isnan(gap) or np.isinf(primal) else gap
    certificate = Certificate(
        primal=np.inf if np.isnan(primal) else primal,
        dual=-np.inf if np.isnan(dual) else dual,
        gap=gap,
        scale=problem.scale,
        radius=_radius(gap, strength),
        sample_parts=sample_parts,
        feature_parts=feature_parts.reshape(problem.d, -1).sum(axis=1),
        constant=problem.constant,
    )
    return certificate, pair.a


def _radius(gap: float, strength: float) -> float | None:
    if strength == 0.0:
        return None
    return float(np.sqrt(2.0 * gap / strength)) if gap < np.inf else np.inf


def feasible(problem: Problem, pair: Pair, *, rounding: bool) -> tuple[Pair, Floats, float]:
    """Move the dual point to where g*(u) is finite: balance unpenalised features, then shrink.

    Also returns a bound on the error of u, empty if rounding errors are not asked for, and what the
    balance of unpenalised features, which is never exact, may cost.
    """
    free = problem.features.free
    reach = np.empty(0)
    if free.any():
        pair, reach = _balanced(problem, pair)
    error = np.empty(0)
    if rounding:
        pair, error = _measured(problem, pair)
    pair, error = _shrunk(problem, pair, error)
    if not reach.size:
        return pair, error, 0.0
    missing = np.abs(pair.u[free]) + (error[free] if rounding else 0.0)
    u = pair.u.copy()
    u[free] = 0.0
    return pair._replace(u=u), error, float(2.0 * problem.lam * np.sum(missing * reach))


def _shrunk(problem: Problem, pair: Pair, error: Floats) -> tuple[Pair, Floats]:
    """The pair, made smaller until g*(u) is finite for u up to its error."""
    low, high, free = problem.features.low, problem.features.high, problem.features.free
    if not np.isfinite(np.minimum(high, -low)[~free]).any():
        return pair, error
    for trial in range(_SHRINKS):
        # That keeps a feasible: 0 belongs to the domain of every loss that is bounded below.
        size = error if error.size else 0.0
        with np.errstate(divide="ignore"):
            room = np.minimum(
                np.where(pair.u + size > high, high / (pair.u + size), 1.0),
                np.where(pair.u - size < low, low / (pair.u - size), 1.0),
            )
        shrink = float(np.min(room[~free], initial=1.0))
        if shrink == 1.0:
            break
        # What a is rounded to may lead outside again, by as little: later trials go further in.
        shrink = max(1.0 - (1.0 - shrink) * 4.0**trial, 0.0)
        pair = pair._replace(a=pair.a * shrink, u=pair.u * shrink)
        if not error.size:
            break
        pair, error = _measured(problem, pair)
    else:
        return _nothing(problem, pair), 0.0 * error
    return pair, error


def _nothing(problem: Problem, pair: Pair) -> Pair:
    """With a = 0, which is always feasible and says at least that losses have a minimum."""
    return pair._replace(a=np.zeros(problem.dual_size), u=np.zeros(problem.coef_size))


def _measured(problem: Problem, pair: Pair) -> tuple[Pair, Floats]:
    """The pair with the u of its a, and a bound on the error of that."""
    if problem.width > 1:
        return pair._replace(u=problem.average(pair.a)), error_of_u(problem, pair.a)
    u, error = exact.average(problem, pair.a)
    return pair._replace(u=u), error


def _balanced(problem: Problem, pair: Pair) -> tuple[Pair, Floats]:
    """The pair with a balanced dual point, and how large the free coefficients may be."""
    a, reach = balance(problem, pair)
    free = problem.unpenalised.places
    u = problem.average(a)
    if np.isinf(reach).any() or (np.abs(u[free]) > error_of_u(problem, a)[free]).any():
        return _nothing(problem, pair), np.zeros(len(free))  # no balance was found
    # However small the coefficients are here, at the optimum they may be as large as targets need.
    typical = np.sqrt(np.repeat(problem.column_squares, problem.width)[free] / problem.n)
    with np.errstate(divide="ignore"):
        needed = np.where(typical > 0.0, (1.0 + np.abs(problem.y).max()) / typical, 0.0)
    return pair._replace(a=a, u=u), reach + needed


def _error_of_z(problem: Problem, w: Floats) -> Floats:
    """A bound on the rounding errors of X w; for blocks on their Euclidean norms.

    The inequality of Cauchy and Schwarz holds in any units of the features: as they are, and with
    columns of norm 1, which serves where their sizes differ by powers of ten.
    """
    terms_ = _effective(problem.row_counts, problem.by_rows)
    as_given = np.sqrt(problem.row_squares) * norm(w)
    even = np.sqrt(problem.even_squares) * norm(np.repeat(problem.column_sizes, problem.width) * w)
    return np.asarray(terms_ * EPS * np.fmin(as_given, even))


def error_of_u(problem: Problem, a: Floats) -> Floats:
    """A bound on the rounding errors of (1/λ) Σ c a x, and on what blocks lack of feasibility."""
    terms_ = _effective(problem.column_counts, not problem.by_rows)
    if problem.width > 1:
        terms_ += LOOSE * problem.width
    weighted = problem.weighted(a).reshape(problem.n, problem.width)
    size = np.array([norm(column) for column in weighted.T]) / problem.lam
    error = terms_ * EPS * np.sqrt(problem.column_squares)
    return np.outer(error, size).ravel()


def _effective(counts: Floats, blocked: bool) -> Floats:
    """EPS times this bounds the relative error of a sum of so many products."""
    if blocked:
        counts = np.minimum(counts, products.BLOCK + counts / products.BLOCK)
    return np.asarray(2.0 + counts)
