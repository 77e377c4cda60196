"""The laws of steps: they report a pair of the problem, their bounds hold, they make progress."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import evaluate
from dualgap.steps.base import Start
from dualgap.testing._common import holds


def check_step(step: Any, problem: Problem, epochs: int = 5, seed: int = 0) -> None:
    """Raise AssertionError if a step breaks a law on a problem that it accepts."""
    holds(
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
        holds(np.allclose(pair.z, image, rtol=1e-9, atol=1e-9), "z must be X w", z=pair.z)
        holds(np.allclose(pair.u, average, rtol=1e-9, atol=1e-9), "u must be Σ c a x/λ", u=pair.u)
        feasible = np.empty(problem.dual_size)
        terms.projections(problem.loss, problem.y, pair.a, feasible)
        holds((feasible == pair.a).all(), "the dual point must be feasible", a=pair.a)
        certificate = evaluate(problem, pair)
        bounds.append(certificate.dual)
        objectives.append(certificate.primal)
    holds(max(bounds) <= min(objectives) + 1e-9, "no bound may exceed an objective", bounds=bounds)
    holds(min(objectives) < problem.scale, "a step must make progress", objectives=objectives)
