"""How far a fitted model of scikit-learn is from its own optimum, proven."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from dualgap._scalar import EPS
from dualgap.certificate import Certificate, certify
from dualgap.certifying import CertificateSum
from dualgap.estimators.foreign import Part, parts
from dualgap.solve import solve

_ROUNDING = 64.0 * EPS  # of λ, of the shares c and of the unit, relative to the objective


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
    proofs = tuple(prove_part(part, tol, max_epochs) for part in parts(model, X, y, sample_weight))
    return proofs[0] if len(proofs) == 1 else CertificateSum(proofs)


def prove_part(part: Part, tol: float, max_epochs: int) -> Certificate:
    problem, coef, intercept, unit = part
    proof = certify(problem, coef, intercept=intercept)
    if proof.gap > tol * proof.scale:
        # The dual point of the model itself is a poor one, above all at kinks: look for the best.
        solution = solve(problem, tol=tol, max_epochs=max_epochs)
        proof = certify(problem, coef, solution.dual, intercept)
        # Of a model that has diverged, rounding errors hide which bound is the best.
        proof = replace(proof, dual=max(proof.dual, solution.certificate.dual))
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
    return _in_units(proof, unit)


def _in_units(proof: Certificate, unit: float) -> Certificate:
    """The certificate in the units of the model's own objective."""
    primal, dual = unit * proof.primal, unit * proof.dual
    return replace(
        proof,
        primal=primal,
        dual=dual - _ROUNDING * abs(dual),
        gap=unit * proof.gap + _ROUNDING * (abs(primal) + abs(dual)),
        scale=unit * proof.scale,
        sample_parts=unit * proof.sample_parts,
        feature_parts=unit * proof.feature_parts,
    )
