"""The offsets of samples: checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import LARGEST, Floats, finite_matrix, finite_vector


def checked_offset(offset: Any, n: int, width: int) -> Floats:
    """A copy of the offsets, of shape (n,), or (n, K) for a loss of K classes."""
    if width == 1:
        found = finite_vector(offset, "offset", n)
    else:
        found = finite_matrix(offset, "offset", (n, width))
    if np.abs(found).max() > LARGEST:
        raise ValueError(f"offset has entries beyond {LARGEST:.0e}: rescale it")
    return storage.read_only(np.array(found, dtype=np.float64, order="C"))
