"""AdaSDCA: what a step gains with probabilities that follow the residues (Csiba et al. 2015).

The paper has equal weights; with weights c_i, and q_i = c_i‖x_i‖²/λ, all of it holds as below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats, finite_vector, number
from dualgap.problem import Problem
from dualgap.samplings.base import metric_squares


def dual_residues(problem: Problem, dual: Any) -> Floats:
    """|κ_i| = |α_i + φ'(x_i·w)| at w = ∇g*(ᾱ) (7)."""
    from dualgap.proof.certificate import evaluate  # late: steps import samplings
    from dualgap.steps.base import Start
    from dualgap.steps.coordinate.coordinate import Coordinate

    _refuse_kinks(problem)
    run = Coordinate("dual").start(problem, Start(None, finite_vector(dual, "dual", problem.n)))
    pair = run.pair()
    return run.scores(pair, evaluate(problem, pair)).residue


def adaptive_rate(problem: Problem, residues: Any, p: Any) -> float:
    """θ(κ, p) (10): a step on a sample drawn by p is expected to gain θ·gap in the dual.

    For quadratic losses that holds for any coherent p (Proposition 10), for others if
    θ(κ, p) ≤ min p_i over κ_i ≠ 0 (Proposition 6), see ``is_covered``.
    """
    kappa, p, hard = _checked(problem, residues, p)
    used = kappa > 0.0
    if not used.any():
        return 1.0  # at the optimum there is nothing to gain
    if not (p[used] > 0.0).all():
        raise ValueError(
            f"p is not coherent: it is 0 for sample {int(np.argmax(used & (p <= 0.0)))}, "
            "whose residue is not"
        )
    easy = float(np.sum(problem.c * problem.loss.gamma * kappa**2))
    return easy / float(np.sum(hard[used] * kappa[used] ** 2 / p[used]))


def optimal_probabilities(problem: Problem, residues: Any) -> Floats:
    """The p of largest θ(κ, p): p_i ∝ |κ_i|√(v_i + nλγ) (14)."""
    kappa, _, hard = _checked(problem, residues, np.ones(problem.n))
    weights = kappa * np.sqrt(hard)
    total = weights.sum()
    return weights / total if total > 0.0 else np.full(problem.n, 1.0 / problem.n)


def is_covered(problem: Problem, residues: Any, p: Any) -> bool:
    """Whether Theorem 7, or for a quadratic loss Theorem 11, covers a step with these."""
    if problem.loss.quadratic:
        return True
    kappa, p, _ = _checked(problem, residues, p)
    return bool(adaptive_rate(problem, kappa, p) <= p[kappa > 0.0].min(initial=np.inf))


def mean_rate(rates: Any, gaps: Any) -> float:
    """θ̃_t = E[θ·gap]/E[gap] (16), from the θ(κ, p) and the gaps of several runs at iteration t."""
    rates, gaps = np.asarray(rates, float), np.asarray(gaps, float)
    return float(np.sum(rates * gaps) / np.sum(gaps))


def adaptive_gaps(rates: Sequence[float], distance: float) -> Floats:
    """The bounds of E[gap_t] for t = 0, 1, ... (15), Theorems 7 and 11.

    ``rates``: θ̃_0, θ̃_1, ...; ``distance``: D(α*) − D(α⁰). As in the paper's proof the product is
    over k < t, which (15) writes as k ≤ t.
    """
    found = np.asarray(rates, float)
    left = np.concatenate([[1.0], np.cumprod(1.0 - found)[:-1]])
    return np.asarray(number(distance, "distance", 0.0) * left / found)


def _checked(problem: Problem, residues: Any, p: Any) -> tuple[Floats, Floats, Floats]:
    """|κ|, p and c(γ + q)."""
    _refuse_kinks(problem)
    kappa = np.abs(finite_vector(residues, "residues", problem.n))
    p = finite_vector(p, "p", problem.n)
    q = problem.c / problem.lam * metric_squares(problem, np.ones(problem.d))
    return kappa, p, problem.c * (problem.loss.gamma + q)


def _refuse_kinks(problem: Problem) -> None:
    from dualgap.steps.sets.quartz import rate_refusal  # late: steps import samplings

    refusal = rate_refusal(problem)
    if refusal:
        raise ValueError(f"theory knows no rate: {refusal}")
