"""Partitions from Dask arrays, Dask dataframes and files in LIBSVM format."""

from __future__ import annotations

import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.datasets.lines import LineError
from dualgap.datasets.read import rows_of
from dualgap.distributed.data.block import RawData
from dualgap.distributed.data.sources import Source, Sources, as_raw, split
from dualgap.distributed.tuning import TUNING
from dualgap.linalg.validate import whole

_COMPRESSED = (".bz2", ".gz", ".xz", ".zip")
_MOST_FEATURES = np.iinfo(np.int32).max


def from_dask(X: Any, y: Any, sample_weight: Any = None) -> Sources:
    """The chunks of rows of a Dask array, whose blocks may be dense or sparse.

    ``y`` and ``sample_weight`` are Dask arrays, which get the chunks of X, or NumPy arrays.
    """
    if not hasattr(X, "chunks") or X.ndim != 2:
        raise ValueError(f"X must be a two-dimensional Dask array, not {type(X).__name__}")
    if y is None:
        raise ValueError("y is missing: give a Dask array or a NumPy array")
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    rows = X.to_delayed().ravel()
    targets = _chunks(y, X, "y")
    weights = [None] * len(rows)
    if sample_weight is not None:
        weights = _chunks(sample_weight, X, "sample_weight")
    return Sources(Source(as_raw, args) for args in zip(rows, targets, weights))


def from_memory(X: Any, y: Any, sample_weight: Any = None) -> Sources:
    """Arrays, sparse matrices and dataframes in this process, cut into a few partitions."""
    if y is None:
        raise ValueError("y is missing: a model is fitted to X and y")
    names = list(X.columns) if hasattr(X, "columns") else None
    raw = as_raw(X, y, sample_weight)
    for name, vector in (("y", raw.y), ("sample_weight", raw.weights)):
        if vector is not None and vector.shape != raw.X.shape[:1]:
            raise ValueError(
                f"{name} has shape {vector.shape} where X has {raw.X.shape[0]} samples"
            )
    sources = split(*raw, min(TUNING.partitions, raw.X.shape[0]))
    sources.names = names
    return sources


def _chunks(vector: Any, X: Any, name: str) -> list[Any]:
    """The pieces of a vector that belong to the chunks of X."""
    cuts = X.chunks[0]
    known = not np.isnan(cuts).any()
    if hasattr(vector, "to_delayed"):
        if known and not np.isnan(vector.chunks[0]).any() and vector.chunks[0] != cuts:
            if vector.shape != (sum(cuts),):
                raise ValueError(f"{name} has shape {vector.shape} where X has {sum(cuts)} samples")
            vector = vector.rechunk((cuts,))
        chunks = list(vector.to_delayed().ravel())
        if len(chunks) != len(cuts):
            raise ValueError(
                f"{name} has {len(chunks)} chunks where X has {len(cuts)}, and their sizes are "
                "unknown: call compute_chunk_sizes() on both"
            )
        return chunks
    if not known:
        raise ValueError(f"the chunks of X have unknown sizes: make {name} a Dask array as well")
    vector = np.asarray(vector)
    if vector.shape != (sum(cuts),):
        raise ValueError(f"{name} has shape {vector.shape} where X has {sum(cuts)} samples")
    return np.split(vector, np.cumsum(cuts)[:-1])


def from_dataframe(frame: Any, target: Any, sample_weight: Any = None) -> Sources:
    """The partitions of a Dask dataframe.

    ``target`` and ``sample_weight`` are names of columns, or Dask series with the same index.
    """
    if not hasattr(frame, "to_delayed") or not hasattr(frame, "columns"):
        raise ValueError(f"frame must be a Dask dataframe, not {type(frame).__name__}")
    others = [_column(frame, target, "target"), _column(frame, sample_weight, "sample_weight")]
    own = [each for each in (target, sample_weight) if not hasattr(each, "to_delayed")]
    names = [name for name in frame.columns if name not in own]
    pieces = zip(frame.to_delayed(), *others)
    sources = Sources(Source(_read_frame, (*piece, tuple(names))) for piece in pieces)
    sources.names = names
    return sources


def _column(frame: Any, given: Any, what: str) -> list[Any]:
    """For each partition the name of the column, or its piece of the series."""
    count = frame.npartitions
    if hasattr(given, "to_delayed"):
        if given.npartitions != count:
            raise ValueError(
                f"{what} has {given.npartitions} partitions where the dataframe has {count}"
            )
        return list(given.to_delayed())
    if what == "target" and given is None:
        raise ValueError(
            "y is missing: give the name of a column of the dataframe, or a Dask series"
        )
    if given is not None and not (isinstance(given, Hashable) and given in frame.columns):
        raise ValueError(f"the dataframe has no column {given!r}")
    return [given] * count


def _read_frame(frame: Any, target: Any, weight: Any, names: tuple[Any, ...]) -> RawData:
    """Find columns by name: a partition may have them in another order."""
    y, weights = _values(frame, target, "y"), _values(frame, weight, "sample_weight")
    X = np.empty((len(frame), len(names)))
    for j, name in enumerate(names):
        column = _column_of(frame, name)
        try:
            X[:, j] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise ValueError(f"column {name!r} must hold numbers: {error}") from None
    return as_raw(X, y, weights)


def _column_of(frame: Any, name: Any) -> Any:
    if name not in frame.columns:
        raise ValueError(f"it has no column {name!r}, unlike the rest of the dataframe")
    return frame[name]


def _values(frame: Any, given: Any, what: str) -> Any:
    """The values of a column, or of a series with the same index."""
    if given is None:
        return None
    if not hasattr(given, "index") or isinstance(given, (str, tuple)):
        return _column_of(frame, given).to_numpy()
    if not given.index.equals(frame.index):
        raise ValueError(f"{what} does not have the index of the dataframe")
    return given.to_numpy()


def from_libsvm(
    path: Any,
    partitions: int = 8,
    *,
    n_features: int | None = None,
    zero_based: bool | str = "auto",
) -> Sources:
    """Byte ranges of a file in LIBSVM format, which all workers must be able to read.

    ``n_features``: None for the largest number that occurs. ``zero_based``: whether features are
    numbered from 0; "auto" assumes numbers from 1 if feature 0 does not occur.
    """
    path = Path(path)
    if path.suffix in _COMPRESSED:
        raise ValueError(f"{path} is compressed, so workers cannot read ranges of it: unpack it")
    if not isinstance(zero_based, bool) and zero_based != "auto":
        raise ValueError(f'zero_based must be True, False or "auto", not {zero_based!r}')
    count, size = whole(partitions, "partitions", 1), os.path.getsize(path)
    length = max(1, -(-size // count))
    name = os.path.abspath(path)
    sources = Sources(Source(_read_range, (name, k * length, length)) for k in range(count))
    sources.ragged, sources.path = True, name
    sources.n_features = None if n_features is None else whole(n_features, "n_features", 1)
    sources.first_feature = None if zero_based == "auto" else int(not zero_based)
    return sources


def _read_range(path: str, offset: int, length: int) -> RawData:
    try:
        with open(path, "rb") as file:
            y, counts, indices, values = rows_of(_LinesOfRange(file, offset, length))
    except LineError as error:
        raise ValueError(
            f"bytes {offset} to {offset + length} of {path} are not in LIBSVM format (lines are "
            f"counted from there): {error}"
        ) from None
    largest = int(indices.max(initial=0))
    if largest >= _MOST_FEATURES:
        raise ValueError(f"{path} has a feature {largest}: the largest number is {_MOST_FEATURES}")
    index = np.int32 if len(values) <= np.iinfo(np.int32).max else np.int64
    bounds = np.append(0, np.cumsum(counts)).astype(index)
    arrays = (values, indices.astype(index, copy=False), bounds)
    return RawData(sp.csr_matrix(arrays, shape=(len(y), largest + 1)), y)


class _LinesOfRange:
    """Those lines of a file that begin in a range of bytes."""

    def __init__(self, file: Any, offset: int, length: int) -> None:
        self.file, self.at, self.end = file, offset, offset + length
        if offset > 0:
            file.seek(offset - 1)
            self.at += len(file.readline()) - 1  # the rest of the line before

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes, and the rest of the last line."""
        text = bytes(self.file.read(max(min(size, self.end - self.at), 0)))
        self.at += len(text)
        if text and self.at >= self.end and not text.endswith(b"\n"):
            text += self.file.readline()
        return text
