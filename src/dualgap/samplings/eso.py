"""Expected separable overapproximation: v with E‖Σ_{i∈S} h_i x_i‖² ≤ Σ_i p_i v_i h_i² for all h.

It bounds how much the updates of a set can interfere (Qu et al. 2014, Assumption 4; the lemmas
below are theirs). For the samplings of the paper v_i = Σ_j factor_j x_ij², where
factor_j grows with ω_j, the number of samples that have feature j. A feature of a single sample
causes no interference. Each function reads X once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import entry, place, span
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, whole
from dualgap.problem import Problem
from dualgap.samplings.base import SetSampling, metric_squares
from dualgap.samplings.estimate import estimated
from dualgap.samplings.labels import as_labels


def serial(X: Any) -> Floats:
    """v for one sample at a time, whatever the probabilities: ‖x_i‖² (Lemma 5)."""
    problem = _plain(X)
    return metric_squares(problem, np.ones(problem.d))


def tau_nice(X: Any, tau: int) -> Floats:
    """v for sets of ``tau`` samples, all equally likely (Lemma 6)."""
    problem = _plain(X)
    if whole(tau, "tau", 1) > problem.n:
        raise ValueError(f"tau must be at most {problem.n}, the number of samples, not {tau}")
    omega, _ = occurrences(problem, np.zeros(problem.n, np.int64))
    return metric_squares(problem, tau_nice_factors(omega, problem.n, tau))


def distributed(X: Any, c: int, tau: int) -> Floats:
    """v for ``tau`` samples of each of ``c`` partitions of consecutive samples (Lemma 8).

    For other partitions: ``estimate(X, sampling)``, or ``sampling.eso`` of a ``Distributed``.
    """
    problem = _plain(X)
    if whole(c, "c", 1) > problem.n:
        raise ValueError(f"c must be at most {problem.n}, the number of samples, not {c}")
    size = part_size(problem.n, c)
    if whole(tau, "tau", 1) > size:
        raise ValueError(
            f"{problem.n} samples in c={c} partitions leave {size} for each, fewer than tau={tau}"
        )
    omega, active = occurrences(problem, np.arange(problem.n) // size)
    return metric_squares(problem, distributed_factors(omega, active, size, tau))


def product(X: Any, groups: Any) -> Floats:
    """v for one sample of each group, if no two groups share a feature: ‖x_i‖² (Lemma 7).

    ``groups``: a label for each sample, or a list of index arrays that hold each sample once.
    """
    problem = _plain(X)
    labels = as_labels(groups, "groups", problem.n)
    if len(labels) != problem.n:
        raise ValueError(f"groups has {len(labels)} labels where {problem.n} are needed")
    _, active = occurrences(problem, labels)
    if (active > 1.0).any():
        raise ValueError(
            f"groups share {int((active > 1.0).sum())} features, the first of them feature "
            f"{int(np.argmax(active > 1.0))}: product sampling needs groups that share none"
        )
    return metric_squares(problem, np.ones(problem.d))


def estimate(X: Any, sampling: SetSampling) -> Floats:
    """v for any sampling of sets, from the sets that it draws; ``estimated`` says how sure it is.

    Where a lemma fits, its v is a theorem and costs less; this one is for all other samplings,
    or to see how far a lemma is from the best multiple of ‖x_i‖².
    """
    problem = _plain(X)
    if not isinstance(sampling, SetSampling):
        raise ValueError(
            f"sampling must be one that draws sets, such as TauNice(4), not {sampling!r}; "
            "for single samples use serial(X)"
        )
    refusal = sampling.refusal(problem, "dual")
    if refusal:
        raise ValueError(f"{sampling!r} does not fit X: {refusal}")
    return estimated(problem, sampling.bind(problem))


def tau_nice_factors(omega: Any, n: int, tau: int) -> Any:
    """1 + (ω − 1)(τ − 1)/(n − 1), of Lemma 6."""
    return 1.0 + (omega - 1.0) * (tau - 1.0) / max(n - 1, 1)


def distributed_factors(omega: Any, active: Any, size: int, tau: int) -> Any:
    """The factors of Lemma 8 for partitions of n/c = ``size`` samples; ``active`` (ω') of the
    partitions have the feature.

    Samples of a partition meet in a set with probability τ/size·within, of different ones with
    τ/size·across; across ≥ within, and ω' counts how much of the feature is across.
    """
    within, across = (tau - 1.0) / max(size - 1, 1), tau / size
    spread = omega * (active - 1.0) / np.maximum(active, 1.0)
    return 1.0 + within * (omega - 1.0) + (across - within) * spread


def part_size(n: int, c: int) -> int:
    """⌈n/c⌉: where c does not divide n, samples of zeros complete the last partitions."""
    return -(-n // c)


def occurrences(problem: Problem, labels: Any) -> tuple[Floats, Floats]:
    """ω_j, how many samples have feature j (stored zeros do not count), and how many labels they
    have."""
    labels = np.ascontiguousarray(labels, dtype=np.int64)
    omega, active = np.empty((2, problem.d))
    _count(problem.rows, labels, np.argsort(labels, kind="stable"), omega, active)
    return omega, active


@kernel
def _count(matrix: Any, labels: Any, order: Any, counts: Any, active: Any) -> None:
    """For each place k: how many coordinates have a nonzero there, and with how many labels.

    ``order``: the coordinates, sorted by label.
    """
    last = np.full(len(counts), -1, np.int64)
    counts[:] = 0.0
    active[:] = 0.0
    for turn in range(len(order)):
        i = order[turn]
        start, stop = span(matrix, i)
        for t in range(start, stop):
            if entry(matrix, i, t) != 0.0:
                k = place(matrix, i, t)
                counts[k] += 1.0
                if last[k] != labels[i]:
                    last[k] = labels[i]
                    active[k] += 1.0


def _plain(X: Any) -> Problem:
    """X as checked data, in the metric of an L2 penalty, which is that of X itself."""
    X = storage.as_data(X)
    return Problem(X, np.zeros(X.shape[0]))
