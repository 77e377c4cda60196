"""What theory promises; here for the sets that a sampling draws: the rate of Quartz (Qu et al.
2014), in ``promises/`` the other bounds of the papers.

Theorem 9: after t iterations the expected gap is at most (1 − θ)^t times the first one, with
θ = min_i p_i γ/(γ + q_i) and q_i = c_i v_i/λ. Without sample weights that is (29) of the paper,
p_i λγn/(v_i + λγn). A penalty that is not 1-strongly convex changes the metric in which v is
taken; samples of weight 0 do not count.
"""

from __future__ import annotations

from math import ceil, log

from dualgap.linalg.validate import number, positive, whole
from dualgap.problem import Problem
from dualgap.samplings.base import Sampling
from dualgap.samplings.eso import distributed_factors, part_size, tau_nice_factors
from dualgap.samplings.promises.adaptive import (
    adaptive_gaps,
    adaptive_rate,
    dual_residues,
    is_covered,
    mean_rate,
    optimal_probabilities,
)
from dualgap.samplings.promises.batches import (
    REGIMES,
    average_sparsity,
    batch_iterations,
    disdca_iterations,
    distributed_sparsity,
    leading_factor,
    quartz_is_ahead,
    sparse_rounds,
)
from dualgap.samplings.promises.gaps import (
    best_sigma,
    burn_in,
    coordinate_scores,
    expected_decrease,
    gap_iterations,
    gapwise_spread,
    mixed_iterations,
    nonuniformity,
    spread,
    suboptimality,
)
from dualgap.samplings.promises.saddle import (
    perturbation_constant,
    perturbed_iterations,
    spdc_iterations,
    spdc_passes,
)
from dualgap.samplings.uniform import Uniform
from dualgap.samplings.words import as_sampling
from dualgap.steps.base import dual_refusal
from dualgap.steps.sets.sampling_facts import (
    SamplingFacts,
    probability_refusal,
    quartz_rate,
    sampling_facts,
)

__all__ = [
    "REGIMES",
    "adaptive_gaps",
    "adaptive_rate",
    "average_sparsity",
    "batch_iterations",
    "best_sigma",
    "burn_in",
    "contraction",
    "coordinate_scores",
    "disdca_iterations",
    "distributed_sparsity",
    "distributed_speedup",
    "dual_residues",
    "expected_decrease",
    "gap_iterations",
    "gapwise_spread",
    "is_covered",
    "iterations",
    "leading_factor",
    "mean_rate",
    "mixed_iterations",
    "nonuniformity",
    "optimal_probabilities",
    "perturbation_constant",
    "perturbed_iterations",
    "predicted_speedup",
    "quartz_is_ahead",
    "rate",
    "sparse_rounds",
    "spdc_iterations",
    "spdc_passes",
    "speedup",
    "spread",
    "suboptimality",
    "tau_nice_speedup",
]


def rate(problem: Problem, sampling: Sampling | str) -> float:
    """θ: by which share the expected gap falls with each set (29).

    Here and below, ``sampling`` may be a name, such as "uniform" or "tau-nice(64)".
    """
    if problem.loss.gamma == 0.0:
        raise ValueError(
            f"the {type(problem.given_loss).__name__} loss is not smooth, so theory knows no rate"
        )
    return quartz_rate(problem, bound_facts(problem, sampling)[1])


def iterations(problem: Problem, sampling: Sampling | str, gap: float, target: float) -> int:
    """How many sets bring an expected gap from ``gap`` to ``target`` (30)."""
    ratio = number(gap, "gap", 0.0) / positive(target, "target")
    return ceil(log(max(ratio, 1.0)) / rate(problem, sampling))


def speedup(problem: Problem, sampling: Sampling | str) -> float:
    """How many single samples, drawn uniformly, a set is worth: T(1)/T(τ), or T(1, 1)/T(c, τ)."""
    return rate(problem, sampling) / rate(problem, Uniform())


def contraction(problem: Problem, sampling: Sampling | str) -> float:
    """By which share errors of quadratic losses fall with each set: min_i p_i(2s_i − s_i²).

    s_i = γ/(γ + q_i). A step of option I takes the share s_i of the error of a_i, as far as others
    do not interfere, so that 1 − (1 − s_i)² of its square are gone. Theory promises s_i of that,
    which is about as much for s_i near 1 and half of it for small s_i, those of large sets.
    """
    facts = bound_facts(problem, sampling)[1]
    share = problem.loss.gamma / (problem.loss.gamma + facts.q)
    return float((facts.p * (2.0 - share) * share)[problem.c > 0.0].min())


def predicted_speedup(problem: Problem, sampling: Sampling | str) -> float:
    """The speed-up that ``contraction`` predicts, (2 − s_τ)/(2 − s₁) times that of ``speedup``."""
    rate(problem, sampling)  # refuses what has none
    return contraction(problem, sampling) / contraction(problem, Uniform())


def tau_nice_speedup(n: int, tau: int, omega: float, lam: float, gamma: float = 1.0) -> float:
    """T(1)/T(τ) where samples have norm 1 and features ``omega`` entries (36)."""
    if whole(tau, "tau", 1) > whole(n, "n", 1):
        raise ValueError(f"tau must be at most n={n}, not {tau}")
    omega = number(omega, "omega", 1.0, float(n))
    easy = _easiness(n, lam, gamma)
    return float(tau * (1.0 + easy) / (tau_nice_factors(omega, n, tau) + easy))


def distributed_speedup(
    n: int, c: int, tau: int, omega: float, lam: float, gamma: float = 1.0
) -> float:
    """T(1, 1)/T(c, τ) where samples have norm 1 and features ``omega`` entries, from (41).

    A feature is taken to occur in as many partitions as it can, min(c, ω): the worst case. If c
    does not divide n, sets are those of ``samplings.Distributed``.
    """
    if whole(c, "c", 1) > whole(n, "n", 1):
        raise ValueError(f"c must be at most n={n}, not {c}")
    size = part_size(n, c)
    if whole(tau, "tau", 1) > size:
        raise ValueError(f"tau must be at most {size}, the samples of a partition, not {tau}")
    omega = number(omega, "omega", 1.0, float(n))
    easy = _easiness(n, lam, gamma)
    factor = distributed_factors(omega, min(float(c), omega), size, tau)
    return float(n * tau / size * (1.0 + easy) / (factor + easy))


def _easiness(n: int, lam: float, gamma: float) -> float:
    """λγn, beside which ‖x_i‖² = 1 is large or small."""
    return positive(lam, "lam") * positive(gamma, "gamma") * n


def bound_facts(problem: Problem, sampling: Sampling | str) -> tuple[Sampling, SamplingFacts]:
    """The sampling, bound to the problem, with its marginals and v; refuses in words."""
    sampling = as_sampling(sampling)
    refusal = (
        probability_refusal(sampling) or dual_refusal(problem) or sampling.refusal(problem, "dual")
    )
    if refusal:
        raise ValueError(f"theory does not fit sampling {type(sampling).__name__}: {refusal}")
    bound = sampling.bind(problem)
    return bound, sampling_facts(problem, bound)
