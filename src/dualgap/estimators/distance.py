"""How far a fitted model of scikit-learn is from its own optimum, proven."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

from dualgap._scalar import EPS
from dualgap.certificate import Certificate, certify
from dualgap.estimators.foreign import Part, parts
from dualgap.solve import solve

_ROUNDING = 64.0 * EPS  # of λ, of the shares c and of the unit, relative to the objective


@dataclass(frozen=True, eq=False)
class CertificateSum:
    """Proof for a model that solves several problems: one-vs-rest, or several targets.

    ``parts`` has a ``Certificate`` for each class or target; ``primal``, ``dual``, ``gap`` and
    ``scale`` are their sums, and mean for the model what they mean for a part.
    """

    parts: tuple[Certificate, ...]

    @property
    def primal(self) -> float:
        return sum(part.primal for part in self.parts)

    @property
    def dual(self) -> float:
        return sum(part.dual for part in self.parts)

    @property
    def gap(self) -> float:
        return sum(part.gap for part in self.parts)

    @property
    def scale(self) -> float:
        return sum(part.scale for part in self.parts)

    @property
    def relative_gap(self) -> float:
        if self.gap == 0.0:
            return 0.0
        return self.gap / self.scale if self.scale > 0.0 else float("inf")

    def __str__(self) -> str:
        return (
            f"{len(self.parts)} problems: objective {self.primal:.6g}; no model can do better than "
            f"{self.dual:.6g}; gap {self.gap:.1e} ({self.relative_gap:.1e} of P(0))"
        )


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
    proofs = tuple(_prove(part, tol, max_epochs) for part in parts(model, X, y, sample_weight))
    return proofs[0] if len(proofs) == 1 else CertificateSum(proofs)


def _prove(part: Part, tol: float, max_epochs: int) -> Certificate:
    problem, coef, intercept, unit = part
    proof = certify(problem, coef, intercept=intercept)
    if proof.gap > tol * proof.scale:
        # The dual point of the model itself is a poor one, above all at kinks: look for the best.
        solution = solve(problem, tol=tol, max_epochs=max_epochs)
        proof = certify(problem, coef, solution.dual, intercept)
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
