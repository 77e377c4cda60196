"""What steps with fixed probabilities need to know of a sampling: marginals, ESO vector, rate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.samplings.base import checked_weights, metric_squares
from dualgap.samplings.scores import Scores


class SamplingFacts(NamedTuple):
    """What a sampling does on a problem.

    ``weights``  as the sampling's ``draw`` wants them
    ``p``        marginals: how likely an iteration is to visit each sample
    ``v``        the ESO vector (Qu et al. 2014, (6)), in the metric of the penalty
    ``q``        c v/λ, the curvature of the dual that makes the steps of a set safe together
    ``scores``   what the sampling was shown
    """

    weights: Floats
    p: Floats
    v: Floats
    q: Floats
    scores: Scores


def sampling_facts(problem: Problem, sampling: Any) -> SamplingFacts:
    """Marginals and curvatures of a sampling that is bound to the problem."""
    share = problem.c / problem.lam
    alone = share * metric_squares(problem, np.ones(problem.d))
    unknown = np.ones(problem.n)  # nothing that changes on the way may matter
    scores = Scores(
        unknown,
        unknown,
        problem.c * alone,
        problem.c * problem.loss.gamma,
        np.full(problem.n, float(problem.loss.lipschitz)),
    )
    weights = checked_weights(sampling, scores)
    never = (weights == 0.0) & (problem.c > 0.0)
    if never.any():
        raise ValueError(
            f"sampling {type(sampling).__name__} never draws sample {int(np.argmax(never))}: "
            "give each a positive probability"
        )
    v = sampling.eso(problem, weights)
    return SamplingFacts(weights, sampling.marginals(weights), v, share * v, scores)


def probability_refusal(sampling: Any) -> str | None:
    """Why theory for fixed, independent probabilities does not cover a sampling, in words."""
    if sampling.refresh == "never" and sampling.independent:
        return None
    name = type(sampling).__name__
    how = f"{name} changes them" if sampling.refresh != "never" else f"draws of {name} are not"
    return (
        f"theory wants fixed probabilities and independent draws, and {how}: "
        "use Uniform, Importance, TauNice, Product, Distributed or Arbitrary"
    )


def quartz_rate(problem: Problem, known: SamplingFacts) -> float:
    """θ = min_i p_i γ/(γ + q_i) (Qu et al. 2014, (29)); samples of weight 0 do not count."""
    gamma = problem.loss.gamma
    return float((known.p * gamma / (gamma + known.q))[problem.c > 0.0].min())
