"""Files in LIBSVM format, packed or not, as a sparse matrix and a vector of labels."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from dualgap.datasets.errors import ColumnError, DatasetDamagedError
from dualgap.datasets.lines import LineError, Parsed, blocks, parsed
from dualgap.datasets.registry import Entry

_OPEN: dict[str, Callable[..., Any]] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
_LARGEST_INT32 = np.iinfo(np.int32).max
# Some tables count the zeros that a file spells out, and print densities with few digits.
_NNZ_TOLERANCE, _DENSITY_TOLERANCE = 1e-4, 0.05


class LibsvmFile(NamedTuple):
    """What a file holds, and whether its features were counted from 0."""

    X: Any
    y: Any
    zero_based: bool


Counting = bool | Literal["auto"]


def read(path: Path, d: int | None = None, zero_based: Counting = "auto") -> LibsvmFile:
    """The rows of a known data set; two classes get the labels -1 and +1."""
    try:
        rows = read_libsvm(path, d, zero_based)
    except DatasetDamagedError as error:
        words = damaged(path, str(error.__cause__ or error))
        raise DatasetDamagedError(f"{words}: delete it, or replace it by a good copy") from error
    return rows._replace(y=labels(rows.y))


def read_libsvm(path: Path, d: int | None = None, zero_based: Counting = "auto") -> LibsvmFile:
    """The rows as they are; ``d`` adds the empty columns that a file does not show at its end.

    ``zero_based``  whether the first feature has the index 0; "auto": if some index is 0
    """
    with open(path, "rb") as raw, unpacked(raw, path) as file:
        y, counts, indices, values = rows_of(file, first=int(zero_based is False))
        if not len(y):
            raise ValueError("it has no rows")
    if zero_based == "auto":
        zero_based = bool(indices.min(initial=1) == 0)
    indices -= indices.dtype.type(not zero_based)
    shape = (len(y), max(int(indices.max(initial=-1)) + 1, d or 0))
    # 64-bit indices slow SciPy down, and some libraries refuse them.
    index = np.int32 if max(len(values), *shape) <= _LARGEST_INT32 else np.int64
    bounds = np.append(0, np.cumsum(counts)).astype(index)
    X = sp.csr_matrix((values, indices.astype(index, copy=False), bounds), shape=shape)
    return LibsvmFile(X, y, zero_based)


def rows_of(file: Any, first: int = 0) -> Parsed:
    """All rows of an open file; ``first`` is the smallest allowed index."""
    found = [_compact(parsed(text, number, first=first)) for number, text in blocks(file)]
    found = found or [
        Parsed(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))
    ]
    return Parsed(*(np.concatenate(parts) for parts in zip(*found)))


def _compact(rows: Parsed) -> Parsed:
    """The same without unused memory."""
    small = rows.indices.max(initial=0) <= _LARGEST_INT32
    indices = rows.indices.astype(np.int32 if small else np.int64)
    return Parsed(rows.y.copy(), rows.counts, indices, rows.values.copy())


@contextmanager
def unpacked(raw: Any, path: Path, kind: str = "LIBSVM") -> Iterator[Any]:
    """The content of an open file; errors in it name the file."""
    try:
        unpack = _OPEN.get(path.suffix)
        if unpack is None:
            yield raw
        else:
            with unpack(raw, "rb") as file:
                yield file
    except (DatasetDamagedError, ColumnError):
        raise
    except LineError as error:
        raise DatasetDamagedError(f"{os.fspath(path)}, {error}") from error
    except (ValueError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise damaged(path, str(error), kind) from error
    except OSError as error:
        # With a number, the system refused to read; without, bz2 or gzip finds fault with the file.
        if error.errno is not None:
            raise
        raise damaged(path, str(error), kind) from error


def check_shape(path: Path, X: Any, entry: Entry) -> None:
    """Refuse a file that cannot be the published data set."""
    n, d = X.shape
    expected = entry.nnz if entry.nnz is not None else entry.density * entry.n * entry.d
    tolerance = _NNZ_TOLERANCE if entry.nnz is not None else _DENSITY_TOLERANCE
    if (n, d) != (entry.n, entry.d) or abs(X.nnz - expected) > tolerance * expected:
        raise DatasetDamagedError(
            f"{os.fspath(path)} is not {entry.name} as published: it has {n:,} rows, {d:,} columns"
            f" and {X.nnz:,} entries, not {entry.n:,}, {entry.d:,} and about {expected:,.0f}."
            " Delete it to download it again; a file that is right all the same can be put into the"
            " folder that DUALGAP_DATA names, where it is read as it is"
        )


def labels(y: Any) -> Any:
    """Two classes as -1 and +1, the larger label being +1; other targets as they are."""
    values = np.unique(y)
    return np.where(y == values[1], 1.0, -1.0) if len(values) == 2 else y


def damaged(path: Path, why: str, kind: str = "LIBSVM") -> DatasetDamagedError:
    return DatasetDamagedError(f"{os.fspath(path)} is damaged or not in {kind} format ({why})")
