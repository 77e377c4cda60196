"""Quartz beside other methods with mini-batches (Qu et al. 2014, sections 5 and 6).

Complexities are the leading factors of the papers, without logarithms, for samples of norm 1: ω is
``average_sparsity``, or ``distributed_sparsity`` for partitions.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, Literal

import numpy as np

from dualgap.linalg.validate import number, positive, unknown, whole
from dualgap.problem import Problem
from dualgap.samplings.base import metric_squares
from dualgap.samplings.eso import occurrences, tau_nice_factors

Batch = Literal["sdca", "asdca", "spdc", "quartz"]
# λγn of the five columns of table 3.
REGIMES = ("1/sqrt(n)", "1/tau", "1", "tau", "sqrt(n)")


def average_sparsity(problem: Problem, tau: int) -> float:
    """ω̃ of (35): max_i v_i = (1 + (ω̃ − 1)(τ − 1)/(n − 1)) max_i ‖x_i‖² for τ-nice sets."""
    n = problem.n
    return _sparsity(problem, whole(tau, "tau", 1), n)


def distributed_sparsity(problem: Problem, c: int, tau: int) -> float:
    """ω̂ of (42), the same for τ samples of each of c partitions of n/c samples."""
    if whole(c, "c", 1) > problem.n:
        raise ValueError(f"c must be at most n={problem.n}, not {c}")
    return _sparsity(problem, whole(tau, "tau", 1), problem.n / c)


def _sparsity(problem: Problem, tau: int, size: float) -> float:
    omega, _ = occurrences(problem, np.zeros(problem.n, np.int64))
    alone = float(metric_squares(problem, np.ones(problem.d)).max())
    share = (tau - 1.0) / max(size - 1.0, 1.0)
    if share == 0.0:  # any ω̃ will do: take the one of small sets
        share = 1e-6
    together = float(metric_squares(problem, 1.0 + (omega - 1.0) * share).max())
    return 1.0 + (together / alone - 1.0) / share if alone > 0.0 else 1.0


def batch_iterations(
    method: Batch, n: int, tau: int, lam: float, gamma: float = 1.0, omega: float = 1.0
) -> float:
    """Table 2: the iterations of mini-batches of ``tau`` for a factor e."""
    n, tau = whole(n, "n", 1), whole(tau, "tau", 1)
    hard = 1.0 / (positive(lam, "lam") * positive(gamma, "gamma"))
    if method == "sdca":
        return n + hard
    if method == "asdca":
        root, third = sqrt(n * hard / tau), n ** (1 / 3) * (hard / tau) ** (2 / 3)
        return float(4.0 * max(n / tau, root, hard / tau, third))
    if method == "spdc":
        return n / tau + sqrt(n * hard / tau)
    if method == "quartz":
        return float(n / tau + tau_nice_factors(omega, n, tau) * hard / tau)
    raise ValueError(unknown("method", method, ("sdca", "asdca", "spdc", "quartz")))


def leading_factor(method: Batch, regime: str, n: int, tau: int, omega: float = 1.0) -> float:
    """Table 3: the same up to constants, where λγn is 1/√n, 1/τ, 1, τ or √n."""
    if regime not in REGIMES:
        raise ValueError(unknown("regime", regime, REGIMES))
    column, r = REGIMES.index(regime), sqrt(n)
    rows: dict[str, tuple[float, ...]] = {
        "sdca": (n * r, n * tau, n, n, n),
        "asdca": (
            n * r / tau + n**1.25 / sqrt(tau) + n ** (4 / 3) / tau ** (2 / 3),
            n,
            n / sqrt(tau),
            n / tau,
            n / tau + n**0.75 / sqrt(tau),
        ),
        "spdc": (
            n**1.25 / sqrt(tau),
            n,
            n / sqrt(tau),
            n / tau,
            n / tau + n**0.75 / sqrt(tau),
        ),
        "quartz": (
            n * r / tau + omega * r,
            n + omega * tau,
            n / tau + omega,
            n / tau,
            n / tau + omega / r,
        ),
    }
    if method not in rows:
        raise ValueError(unknown("method", method, tuple(rows)))
    return float(rows[method][column])


def quartz_is_ahead(n: int, tau: int, omega: float, lam: float, gamma: float = 1.0) -> bool:
    """Proposition 15: whether λγn ≤ 1 (38) and the data are so sparse (39) that Quartz needs fewer
    iterations than ASDCA and SPDC."""
    easy = positive(lam, "lam") * positive(gamma, "gamma") * n
    factor = 1.0 + float(tau_nice_factors(number(omega, "omega", 1.0, float(n)), n, tau))
    return bool(easy <= 1.0 and easy * tau >= factor**2)


def disdca_iterations(
    n: int, c: int, tau: int, lam: float, gamma: float = 1.0, largest: float = 1.0
) -> float:
    """(43): the rounds of basic DisDCA for a factor e; ``largest`` is max ‖x_i‖²."""
    parts = whole(n, "n", 1) / (whole(c, "c", 1) * whole(tau, "tau", 1))
    return parts + positive(largest, "largest") / (positive(lam, "lam") * positive(gamma, "gamma"))


def sparse_rounds(n: int, c: int, tau: int, omega: Any, lam: float, gamma: float = 1.0) -> float:
    """The bound (42) of T(c, τ), which knows nothing of the partition; τ ≥ 2 and n/c ≥ 2."""
    if whole(tau, "tau", 2) < 2 or whole(n, "n", 1) < 2 * whole(c, "c", 1):
        raise ValueError("(42) needs tau >= 2 and n >= 2c")
    factor = (1.0 + 1.0 / (tau - 1.0)) * (1.0 + (tau - 1.0) * (omega - 1.0) / (n / c - 1.0))
    hard = 1.0 / (positive(lam, "lam") * positive(gamma, "gamma"))
    return float(n / (c * tau) + factor * hard / (c * tau))
