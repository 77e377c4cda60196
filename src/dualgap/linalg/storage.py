"""From a user's matrix (NumPy, SciPy, memory maps) to what kernels read, without copying.

Only arrays that kernels cannot read are copied: integers and unusual floats, unaligned or
foreign-endian data, sparse formats other than CSR and CSC, duplicate or unsorted entries.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import entry, place, span
from dualgap.linalg import parallel
from dualgap.linalg.cells import cells_of
from dualgap.linalg.coded_matrix import CodedMatrix
from dualgap.linalg.matrices import Bordered, Codes, Dense, Extended, Ones, Sparse
from dualgap.linalg.validate import Floats, real_array

_COMPARED_AT_ONCE = 1 << 16  # entries, so that a comparison stops early and needs little memory
_SHARED_FROM = 1 << 20  # entries from which two threads share a pass over indices

Stored = Dense | Sparse | Codes
Matrix = Stored | Bordered | Extended


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sp.issparse(X))


def is_coded(X: Any) -> bool:
    """Whether X has categories that are stored as codes; then it is sparse as well."""
    return isinstance(X, CodedMatrix)


def is_on_disk(X: Any) -> bool:
    """Whether X is a matrix of ``datasets.open_folder``, which must never be copied.

    Other memory maps, such as joblib's, are read in place too, but are small enough to be copied.
    """
    return bool(getattr(type(X), "on_disk", False)) and is_mapped(X.data)


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A view that kernels cannot write to; also gives each kernel a single signature."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def as_shares(weights: Floats) -> Floats:
    """Sample weights as kernels read them: equal weights take the memory of one number.

    Others are stored in reverse, so that both have the same type and kernels are compiled once.
    """
    if weights.strides[0] <= 0 and not weights.flags.writeable:
        return weights
    if (weights == weights[0]).all():
        return np.broadcast_to(weights[0], weights.shape)
    return read_only(weights[::-1].copy()[::-1])


def are_equal(shares: Floats) -> bool:
    """Whether all entries of the result of ``as_shares`` are equal."""
    return shares.strides == (0,)


def divided(shares: Floats, divisor: float) -> Floats:
    """The result of ``as_shares``, divided by a number."""
    if are_equal(shares):
        return np.broadcast_to(shares[0] / divisor, shares.shape)
    return as_shares(shares / divisor)


def chosen(shares: Floats, places: Any) -> Floats:
    """Some entries of the result of ``as_shares``."""
    if are_equal(shares):
        return np.broadcast_to(shares[0], len(places))
    return as_shares(shares[places])


def as_data(X: Any) -> Any:
    """X as a float32 or float64 array, CSR or CSC matrix; refuses anything else."""
    if is_coded(X):
        return X  # made by us
    if is_sparse(X):
        return _as_compressed(X)
    array = real_array(X, "X")
    if array.ndim != 2:
        raise ValueError(
            f"X must have two dimensions (samples, features), not shape {array.shape}"
            + ("; use X.reshape(-1, 1) for a single feature" if array.ndim == 1 else "")
        )
    _refuse_empty(array.shape)
    return _as_float(array)


def rows(X: Any, part_of: Stored | None = None) -> Stored:
    """The rows of the result of ``as_data``, as coordinates.

    ``part_of`` is a larger matrix that these rows were taken from: they get the same type, so that
    the same compiled kernels serve both.
    """
    if is_coded(X):
        cells, levels = cells_of(X)
        numbers = X.numbers if X.numbers.size else np.zeros((len(cells), 1), X.dtype)
        numbers, codes, cells = map(read_only, (numbers, X.codes, cells))
        ones = _sparse(levels, levels.shape[1], Ones)
        return Codes(numbers, codes, cells, ones, X.numbers.shape[1], X.shape[1])
    if is_sparse(X):
        X = X.tocsr()  # X itself when it is one
        return _sparse(X, X.shape[1], None if part_of is None else type(part_of))
    return Dense(read_only(X if _row_major(X) else np.ascontiguousarray(X)))


def columns(X: Any) -> Stored:
    """The columns of the result of ``as_data``, as coordinates."""
    if is_sparse(X):
        X = X.tocsc()
        return _sparse(X, X.shape[0])
    return Dense(read_only(X.T if _row_major(X.T) else np.ascontiguousarray(X.T)))


def chosen_rows(X: Any, places: Any) -> Any:
    """Some rows of an array, row by row in memory; ``take`` needs a third of the time of X[places],
    but copies all of an array that does not lie that way."""
    ordered = X.flags.c_contiguous
    return np.take(X, places, axis=0) if ordered else np.ascontiguousarray(X[places])


def selected(X: Any, stored: Any, places: Any) -> Any:
    """Some rows of X, copied into a matrix of their own; ``stored`` has all of them."""
    return X[places] if is_coded(X) else select(stored, places)


def select(stored: Dense | Sparse, places: Any) -> Any:
    """Some of the rows, copied into a matrix of their own."""
    if isinstance(stored, Dense):
        return chosen_rows(stored.data, places)
    indptr = np.zeros(len(places) + 1, stored.indptr.dtype)
    np.cumsum(stored.indptr[1:][places] - stored.indptr[:-1][places], out=indptr[1:])
    indices = np.empty(indptr[-1], stored.indices.dtype)
    ones = isinstance(stored, Ones)
    data = np.empty(0 if ones else len(indices), stored.data.dtype)
    halves = (
        [0, len(places) // 2, len(places)]
        if len(indices) >= _SHARED_FROM // 4
        else [0, len(places)]
    )
    calls = [
        (stored, places[first:last], indptr[first:last], indices, data)
        for first, last in pairwise(halves)
    ]
    parallel.together(_copy_rows, calls)
    data = stored.data[: len(indices)] if ones else data
    indices = indices.view(indptr.dtype)
    return sp.csr_array((data, indices, indptr), shape=(len(places), stored.shape[1]))


@kernel
def _copy_rows(stored: Any, places: Any, begin: Any, indices: Any, data: Any) -> None:
    """Copy rows to their new positions; without their values if ``data`` is empty."""
    for k in range(len(places)):
        i = places[np.uint64(k)]
        start, stop = span(stored, i)
        shift = np.int64(begin[np.uint64(k)]) - start
        if len(data):
            for t in range(start, stop):
                indices[np.uint64(t + shift)] = place(stored, i, t)
                data[np.uint64(t + shift)] = entry(stored, i, t)
        else:
            for t in range(start, stop):
                indices[np.uint64(t + shift)] = place(stored, i, t)


def counts(stored: Stored, some: slice) -> Floats:
    """How many entries some coordinates have, in a new vector."""
    if isinstance(stored, (Dense, Codes)):
        return np.full(some.stop - some.start, float(span(stored, 0)[1]))
    first, last = stored.indptr[:-1][some], stored.indptr[1:][some]
    return np.asarray(np.subtract(last, first, out=np.empty(len(first))))


def _row_major(X: np.ndarray[Any, Any]) -> bool:
    # Reading a memory map across its order is slow, but a copy may not fit into memory.
    return X.flags.c_contiguous or is_mapped(X)


def is_mapped(array: Any) -> bool:
    """Whether an array is a memory-mapped file."""
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


def _as_float(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype not in (np.float32, np.float64) or not array.dtype.isnative:
        narrow = array.dtype.kind == "f" and array.dtype.itemsize <= 4
        return array.astype(np.float32 if narrow else np.float64)
    return array if array.flags.aligned else array.copy()


def _as_compressed(X: Any) -> Any:
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions (samples, features), not shape {X.shape}")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold real numbers, not {X.dtype}")
    _refuse_empty(X.shape)
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    _refuse_broken(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    data = _as_float(X.data)
    if data is not X.data:
        X = type(X)((data, X.indices, X.indptr), shape=X.shape)
    return X


def _sparse(X: Any, width: int, kind: Any = None) -> Sparse:
    indptr, indices = X.indptr, X.indices
    if indptr.dtype != indices.dtype or indptr.dtype not in (np.int32, np.int64):
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    indptr, indices, data = map(np.ascontiguousarray, (indptr, indices, X.data))
    # NumPy has two names for 64-bit integers; compiled kernels know one of them.
    indptr, indices = (part.view(f"i{part.itemsize}") for part in (indptr, indices))
    if indices.itemsize == 4:
        # For a signed index Numba checks whether it counts from the end: half the time of a pass.
        # (Unsigned 64-bit indices would become floats in the sums of kernels.)
        indices = indices.view("u4")
    kind = kind or (Ones if _is_one(data) else Sparse)
    found: Sparse = kind(read_only(indptr), read_only(indices), read_only(data), width)
    return found


def _is_one(data: Any) -> bool:
    """Whether all entries are 1, as in sets and one-hot codes."""
    parts = (
        data[first : first + _COMPARED_AT_ONCE] for first in range(0, len(data), _COMPARED_AT_ONCE)
    )
    return len(data) > 0 and all(bool((part == 1.0).all()) for part in parts)


def _refuse_empty(shape: tuple[int, ...]) -> None:
    if min(shape) == 0:
        raise ValueError(f"X is empty: {shape[0]} samples and {shape[1]} features")


def _refuse_broken(X: Any) -> None:
    # Kernels do not check indices, so a damaged matrix must be caught here.
    lines, width = X.shape if X.format == "csr" else X.shape[::-1]
    stored = min(len(X.indices), len(X.data))
    sound = (
        len(X.indptr) == lines + 1
        and X.indptr[0] == 0
        and X.indptr[-1] <= stored
        and (np.diff(X.indptr) >= 0).all()
    )
    if sound and X.indptr[-1]:
        used = X.indices[: X.indptr[-1]]
        used = used.view(f"u{used.itemsize}")  # a negative index becomes huge
        halves = np.array_split(used, 2) if len(used) >= _SHARED_FROM else [used]
        sound = max(parallel.together(np.max, [(half,) for half in halves])) < width
    if not sound:
        raise ValueError("X is a damaged sparse matrix: its index arrays do not fit its shape")
