"""Digests of arrays and of X, by which a checkpoint recognises its data."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from dualgap.linalg import storage

_CHUNK_BYTES = 1 << 24  # read at a time, so that memory maps stay on disk; not measured
MARK = "#"  # every digest begins with it


def digest(*arrays: Any) -> str:
    """The digest of the types, shapes and bytes of contiguous arrays."""
    found = hashlib.blake2b(digest_size=16)
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        flat = array.reshape(-1, order="A")
        step = max(1, _CHUNK_BYTES // max(array.itemsize, 1))
        for first in range(0, len(flat), step):
            found.update(np.ascontiguousarray(flat[first : first + step]).data)
    return f"{MARK}{found.hexdigest()}"


def digest_of_data(X: Any) -> str:
    """The digest of X as it is stored: the same numbers in another layout have another digest."""
    if storage.is_coded(X):
        return f"codes {digest(X.numbers, X.codes)}"
    if storage.is_sparse(X):
        used = int(X.indptr[-1])
        return f"{X.format} {digest(X.data[:used], X.indices[:used], X.indptr)}"
    if X.flags.c_contiguous or X.flags.f_contiguous:
        return f"{'C' if X.flags.c_contiguous else 'F'} {digest(X)}"
    return f"rows {digest(*X)}"
