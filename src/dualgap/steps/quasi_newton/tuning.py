"""The constants of quasi-Newton steps: what each trades, and where it was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Every constant that changes the path of a run, and none that changes its optimum."""

    # --- steps (quasi_newton.py) ---

    # Pairs that a run remembers. news20 takes 364 steps with 3, 272 with 10, and 219 with 30, whose
    # vector operations cost more than the steps they save.
    memory: int = 10
    # Steps between two gap checks, and the multiplications that these may take at most, so that
    # time limits and Ctrl-C are noticed. Small data: a step takes 0.1 ms.
    most_steps: int = 50
    least_steps: int = 4
    multiplications: float = 4e9
    # Steps are made until the expected gap is below this share of the target; the bounds on
    # rounding errors add to it.
    safe_share: float = 0.8

    # --- the line search (quasi_newton.py) ---

    # Sufficient decrease and curvature, as usual (Nocedal, Wright 2006): trials cost no product.
    decrease: float = 1e-4
    slope_left: float = 0.9
    trials: int = 40
    # P may grow by this share of itself, which is rounding.
    rounding: float = 1e-14

    # --- the first approximation of the Hessian (scaling.py) ---

    # A matrix of correlations is computed once the steps so far have cost this share of it: no
    # shape of data costs much more than the better of the two, whichever that is. Correlated
    # columns (2,000 × 300, K = 5): 28 steps instead of 380; independent ones: 27 instead of 24.
    worth: float = 0.5
    # It is computed again when the mean curvature has changed by this factor, under the same rule.
    changed: float = 2.0
    # Rows for each feature that it is computed from, at least.
    rows_per_feature: int = 10
    # The largest side of such a matrix, which bounds its memory (0.1 GB).
    largest: int = 4000
    # The share of the mean curvature that stands for the penalty of a free intercept.
    held_intercept: float = 0.1

    # --- where vectors live (spaces.py) ---

    # So many features for each sample make combinations of samples the smaller vectors: these have
    # two parts, and three sums instead of two.
    wide: float = 2.0
    columns_at_once: int = 1 << 20  # numbers of X that XXᵀ converts to float64 at once


TUNING = Tuning()
