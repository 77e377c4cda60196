"""A proven bound on how far a fitted model is from the optimum of its own objective."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

from dualgap.compile.scalar import EPS
from dualgap.estimators.foreign.reader import FittedProblem, fitted_problems
from dualgap.problem.intercept import joined
from dualgap.proof.certificate import Certificate
from dualgap.proof.certify import CertificateSum
from dualgap.proof.prove import prove
from dualgap.run.solve import solve

# Bounds the rounding of λ, of the shares c and of the unit, relative to the objective.
_ROUNDING = 64.0 * EPS


class FittedProof(NamedTuple):
    """The coefficients of a model for one of its problems, and what is proven about them.

    ``bound`` is the best lower bound that was found; that of ``certificate`` rests on ``dual``.
    ``rounding_factor`` says how much more than usual rounding changes the problem: 1 − l1_ratio has
    few digits if l1_ratio is close to 1.
    """

    coef: Any
    intercept: Any
    dual: Any
    certificate: Certificate
    bound: float
    rounding_factor: float = 1.0


def certify_fitted(
    model: Any,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    offset: Any = None,
    tol: float = 1e-6,
    max_epochs: int = 1000,
) -> Certificate | CertificateSum:
    """What ``dualgap.certify`` does with a fitted model; see there."""
    found = fitted_problems(model, X, y, sample_weight, offset)
    return summed([in_units(prove_fitted(one, tol, max_epochs), one.unit) for one in found])


def summed(proofs: list[Certificate]) -> Certificate | CertificateSum:
    return proofs[0] if len(proofs) == 1 else CertificateSum(tuple(proofs))


def prove_fitted(fitted: FittedProblem, tol: float, max_epochs: int) -> FittedProof:
    """A proof of a relative gap of at most ``tol``, if the model is that good."""
    problem, coef, intercept, unit = fitted
    w = joined(problem, coef, intercept)
    proof, dual = prove(problem, w, None)
    bound = proof.dual
    if proof.relative_gap > tol:
        # The dual point of the model itself is poor, above all at kinks: search for the best one.
        solution = solve(problem, tol=tol, max_epochs=max_epochs)
        proof, dual = prove(problem, w, problem.flat(solution.dual, "dual", problem.n))
        # If the model has diverged, rounding errors hide which bound is the best.
        bound = max(proof.dual, solution.certificate.dual)
        ours = solution.certificate.gap
        if not solution.converged and ours > 0.1 * proof.gap:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"the optimum is known up to {unit * ours:.1e} only, so the proven gap of "
                f"{unit * proof.gap:.1e} may exceed the true one by as much: raise max_epochs, or "
                "scale the features",
                ConvergenceWarning,
                stacklevel=4,
            )
    factor = 1.0 / (1.0 - _l1_ratio(problem.feature_penalty))
    return FittedProof(coef, intercept, problem.shaped(dual), proof, bound, factor)


def _l1_ratio(penalty: Any) -> float:
    while hasattr(penalty, "base"):
        penalty = penalty.base
    ratio = float(getattr(penalty, "l1_ratio", 0.0))
    return ratio if ratio < 1.0 else 0.0


def in_units(proven: FittedProof, unit: float) -> Certificate:
    """The certificate in the units of the model's own objective."""
    proof = proven.certificate
    primal, dual = unit * proof.primal, unit * proven.bound
    # No term of P, counted from its least value, changes by a larger share than this; at the
    # optimum the terms sum to at most P(0).
    share, least = _ROUNDING * proven.rounding_factor, unit * abs(proof.scale)
    of_primal, of_dual = share * (abs(primal) + least), share * (abs(dual) + least)
    return replace(
        proof,
        primal=primal,
        upper=unit * proof.upper + of_primal,
        dual=dual - of_dual,
        gap=unit * proof.gap + of_primal + of_dual,
        scale=unit * proof.scale,
        least=unit * proof.least,
        sample_parts=unit * proof.sample_parts,
        feature_parts=unit * proof.feature_parts,
    )
