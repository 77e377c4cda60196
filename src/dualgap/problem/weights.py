"""Sample weights: checked, and as shares of their sum."""

from __future__ import annotations

from typing import Any

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, finite_vector

# A weight below this fraction of the largest one has a share c_i whose products underflow.
_LEAST_WEIGHT = 1e-250


def checked_weights(sample_weight: Any, n: int) -> Floats | None:
    """The weights, checked; None if they are equal."""
    weights = finite_vector(sample_weight, "sample_weight", n)
    if (weights < 0.0).any():
        raise ValueError("sample_weight has negative entries")
    largest = weights.max()
    if largest == 0.0:
        raise ValueError("sample_weight is zero for every sample")
    if ((weights > 0.0) & (weights < _LEAST_WEIGHT * largest)).any():
        raise ValueError(
            f"sample_weight has entries below {_LEAST_WEIGHT:.0e} times the largest one, whose "
            "shares leave the range of float64: make them 0"
        )
    return None if weights.min() == largest else storage.read_only(weights.copy())


def shares_of(weights: Floats) -> Floats:
    shares = weights / weights.max()  # first, so that the sum cannot overflow
    return storage.as_shares(shares / shares.sum())
