"""Checks of constructor parameters and of sample weights, in words."""

from __future__ import annotations

import numbers
from collections.abc import Collection
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from dualgap.linalg.validate import Floats, number, unknown, whole

MAX_ITER = 10_000  # where max_iter is None


def flag(value: Any, name: str) -> bool:
    """True or False, and nothing that only looks like it."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def choice(value: Any, name: str, known: Collection[str]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(unknown(name, str(value), known))
    return value


def inverse_strength(C: Any) -> float:
    """C > 0; infinite for no penalty."""
    return number(C, "C", 0.0, open_low=True)


def rounds(max_iter: Any) -> int:
    """How many epochs are allowed."""
    return MAX_ITER if max_iter is None else whole(max_iter, "max_iter", 0)


def seeds(random_state: Any, runs: int) -> list[int]:
    """A seed for each run of ``solve``; None is a fixed one, so that fits can be repeated.

    Drawn before threads start, among which nobody could say who draws first.
    """
    if random_state is None:
        return [0] * runs
    if isinstance(random_state, numbers.Integral):
        return [int(random_state)] * runs
    if isinstance(random_state, np.random.Generator):
        return [int(seed) for seed in random_state.integers(2**31 - 1, size=runs)]
    return [int(seed) for seed in check_random_state(random_state).randint(2**31 - 1, size=runs)]


def sample_weights(given: Any, n: int) -> Floats | None:
    """Weights as a vector; None and a single number make no difference between samples."""
    if given is None:
        return None
    if isinstance(given, numbers.Number):
        return np.full(n, number(given, "sample_weight", 0.0, open_low=True))
    weights = check_array(given, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, not shape {weights.shape}")
    if len(weights) != n:
        raise ValueError(f"sample_weight has {len(weights)} entries for {n} samples")
    if (weights < 0.0).any():
        raise ValueError("sample_weight has negative entries")
    if not weights.any():
        raise ValueError("sample_weight is zero for every sample")
    return np.asarray(weights)


def total(weights: Floats | None, n: int) -> float:
    """Σ s."""
    return float(n) if weights is None else float(np.sum(weights))
