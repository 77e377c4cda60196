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
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.datasets.errors import DatasetDamagedError
from dualgap.datasets.registry import Entry

_OPEN: dict[str, Callable[..., Any]] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
# Some tables count the zeros that a file spells out, and print densities with few digits.
_NNZ_TOLERANCE, _DENSITY_TOLERANCE = 1e-4, 0.05


def read(path: Path, d: int | None = None) -> tuple[Any, Any]:
    """X and y; ``d`` adds the empty columns that a file does not show at its end."""
    from sklearn.datasets import load_svmlight_file

    with open(path, "rb") as raw, unpacked(raw, path) as file:
        X, y = load_svmlight_file(file)
    if X.shape[0] == 0:
        raise damaged(path, "it has no rows")
    shape = (X.shape[0], max(X.shape[1], d or 0))
    # 64-bit indices slow SciPy down, and some libraries refuse them.
    index = np.int32 if max(X.nnz, *shape) <= np.iinfo(np.int32).max else np.int64
    parts = (X.data, X.indices.astype(index, copy=False), X.indptr.astype(index, copy=False))
    return sp.csr_matrix(parts, shape=shape), labels(y)


@contextmanager
def unpacked(raw: Any, path: Path) -> Iterator[Any]:
    """What an open file holds; faults that are found with it name the file."""
    try:
        unpack = _OPEN.get(path.suffix)
        if unpack is None:
            yield raw
        else:
            with unpack(raw, "rb") as file:
                yield file
    except DatasetDamagedError:
        raise
    except (ValueError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise damaged(path, str(error)) from error
    except OSError as error:
        # With a number, the system refused to read; without, bz2 or gzip finds fault with the file.
        if error.errno is not None:
            raise
        raise damaged(path, str(error)) from error


def check_shape(path: Path, X: Any, entry: Entry) -> None:
    """Refuse a file that cannot be the published set."""
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


def damaged(path: Path, why: str) -> DatasetDamagedError:
    return DatasetDamagedError(
        f"{os.fspath(path)} is damaged or not in LIBSVM format ({why}): delete it, or replace it by"
        " a good copy"
    )
