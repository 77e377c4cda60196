"""How far a fitted model of scikit-learn is from its own optimum, proven."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

from dualgap.compile.scalar import EPS
from dualgap.estimators.foreign.reader import Part, parts
from dualgap.problem.intercept import joined
from dualgap.proof.certificate import Certificate, prove
from dualgap.proof.certify import CertificateSum
from dualgap.run.solve import solve

_ROUNDING = 64.0 * EPS  # of λ, of the shares c and of the unit, relative to the objective


class PartProof(NamedTuple):
    """The answer of a model to one of its problems, and what is proven of it.

    ``bound`` is the best lower bound that was found; that of ``certificate`` rests on ``dual``.
    ``loose`` says how many times as much as usual rounding changes the problem: l2 = 1 − l1_ratio
    has few digits where l1_ratio is close to 1.
    """

    coef: Any
    intercept: Any
    dual: Any
    certificate: Certificate
    bound: float
    loose: float = 1.0


def certify_model(
    model: Any,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    tol: float = 1e-6,
    max_epochs: int = 1000,
) -> Certificate | CertificateSum:
    """What ``dualgap.certify`` does with a fitted model; see there."""
    found = parts(model, X, y, sample_weight)
    return summed([in_units(proven_part(part, tol, max_epochs), part.unit) for part in found])


def summed(proofs: list[Certificate]) -> Certificate | CertificateSum:
    return proofs[0] if len(proofs) == 1 else CertificateSum(tuple(proofs))


def proven_part(part: Part, tol: float, max_epochs: int) -> PartProof:
    """A proof of a gap of at most ``tol`` · P(0), if the model is that good."""
    problem, coef, intercept, unit = part
    w = joined(problem, coef, intercept)
    proof, dual = prove(problem, w, None)
    bound = proof.dual
    if proof.gap > tol * proof.scale:
        # The dual point of the model itself is a poor one, above all at kinks: look for the best.
        solution = solve(problem, tol=tol, max_epochs=max_epochs)
        proof, dual = prove(problem, w, problem.flat(solution.dual, "dual", problem.n))
        # Of a model that has diverged, rounding errors hide which bound is the best.
        bound = max(proof.dual, solution.certificate.dual)
        ours = solution.certificate.gap
        if not solution.converged and ours > 0.1 * proof.gap:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"the optimum was found up to {unit * ours:.1e} only, so that the proven gap of "
                f"{unit * proof.gap:.1e} may be larger than the true one by as much: raise "
                "max_epochs, or scale the features",
                ConvergenceWarning,
                stacklevel=4,
            )
    loose = 1.0 / (1.0 - _l1_ratio(problem.feature_penalty))
    return PartProof(coef, intercept, problem.shaped(dual), proof, bound, loose)


def _l1_ratio(penalty: Any) -> float:
    while hasattr(penalty, "base"):
        penalty = penalty.base
    ratio = float(getattr(penalty, "l1_ratio", 0.0))
    return ratio if ratio < 1.0 else 0.0


def in_units(proven: PartProof, unit: float) -> Certificate:
    """The certificate in the units of the model's own objective."""
    proof = proven.certificate
    primal, dual = unit * proof.primal, unit * proven.bound
    # No term of P, counted from its least value, changes by a larger part than this; those of the
    # optimum sum to no more than P(0) does.
    part, least = _ROUNDING * proven.loose, unit * abs(proof.scale)
    of_primal, of_dual = part * (abs(primal) + least), part * (abs(dual) + least)
    return replace(
        proof,
        primal=primal,
        upper=unit * proof.upper + of_primal,
        dual=dual - of_dual,
        gap=unit * proof.gap + of_primal + of_dual,
        scale=unit * proof.scale,
        sample_parts=unit * proof.sample_parts,
        feature_parts=unit * proof.feature_parts,
    )
