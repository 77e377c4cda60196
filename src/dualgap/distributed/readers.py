"""Partitions of what others have made: Dask arrays and dataframes, files in LIBSVM format."""

from __future__ import annotations

import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.distributed.block import Raw
from dualgap.distributed.sources import Source, Sources, raw_of
from dualgap.linalg.validate import whole

_PACKED = (".bz2", ".gz", ".xz", ".zip")
_ANY_WIDTH = np.iinfo(np.int32).max


def from_dask(X: Any, y: Any, sample_weight: Any = None) -> Sources:
    """The chunks of rows of a Dask array, whose blocks may be dense or sparse.

    ``y`` and ``sample_weight``: Dask arrays, cut as X is, or arrays.
    """
    if not hasattr(X, "chunks") or X.ndim != 2:
        raise ValueError(f"X must be a Dask array of two dimensions, not {type(X).__name__}")
    if y is None:
        raise ValueError("y is missing: a Dask array cut as X is, or an array")
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    rows = X.to_delayed().ravel()
    targets = _like(y, X, "y")
    weights = [None] * len(rows) if sample_weight is None else _like(sample_weight, X, "weights")
    return Sources(Source(raw_of, parts) for parts in zip(rows, targets, weights))


def _like(vector: Any, X: Any, name: str) -> list[Any]:
    """The parts of a vector that belong to the chunks of X."""
    cuts = X.chunks[0]
    known = not np.isnan(cuts).any()
    if hasattr(vector, "to_delayed"):
        if known and not np.isnan(vector.chunks[0]).any() and vector.chunks[0] != cuts:
            if vector.shape != (sum(cuts),):
                raise ValueError(f"{name} has shape {vector.shape} where X has {sum(cuts)} samples")
            vector = vector.rechunk((cuts,))
        parts = list(vector.to_delayed().ravel())
        if len(parts) != len(cuts):
            raise ValueError(
                f"{name} has {len(parts)} chunks where X has {len(cuts)}, whose sizes are not "
                "known: use compute_chunk_sizes() on both"
            )
        return parts
    if not known:
        raise ValueError(f"the chunks of X have unknown sizes: make {name} a Dask array, too")
    vector = np.asarray(vector)
    if vector.shape != (sum(cuts),):
        raise ValueError(f"{name} has shape {vector.shape} where X has {sum(cuts)} samples")
    return np.split(vector, np.cumsum(cuts)[:-1])


def from_dataframe(frame: Any, target: Any, sample_weight: Any = None) -> Sources:
    """The partitions of a Dask dataframe.

    ``target`` and ``sample_weight`` name columns of it, or are Dask series with the same index.
    """
    if not hasattr(frame, "to_delayed") or not hasattr(frame, "columns"):
        raise ValueError(f"frame must be a Dask dataframe, not {type(frame).__name__}")
    others = [_column(frame, target, "target"), _column(frame, sample_weight, "sample_weight")]
    own = [each for each in (target, sample_weight) if not hasattr(each, "to_delayed")]
    names = [name for name in frame.columns if name not in own]
    parts = zip(frame.to_delayed(), *others)
    sources = Sources(Source(_of_frame, (*part, tuple(names))) for part in parts)
    sources.names = names
    return sources


def _column(frame: Any, given: Any, what: str) -> list[Any]:
    """For each partition the name of a column, or the part of a series."""
    count = frame.npartitions
    if hasattr(given, "to_delayed"):
        if given.npartitions != count:
            raise ValueError(
                f"{what} has {given.npartitions} partitions where the dataframe has {count}"
            )
        return list(given.to_delayed())
    if what == "target" and given is None:
        raise ValueError("y is missing: the name of a column of the dataframe, or a Dask series")
    if given is not None and not (isinstance(given, Hashable) and given in frame.columns):
        raise ValueError(f"the dataframe has no column {given!r}")
    return [given] * count


def _of_frame(frame: Any, target: Any, weight: Any, names: tuple[Any, ...]) -> Raw:
    """Columns by their names: those of one partition may be in another order."""
    y, weights = _values(frame, target, "y"), _values(frame, weight, "sample_weight")
    X = np.empty((len(frame), len(names)))
    for j, name in enumerate(names):
        column = _of_name(frame, name)
        try:
            X[:, j] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise ValueError(f"column {name!r} must hold numbers: {error}") from None
    return raw_of(X, y, weights)


def _of_name(frame: Any, name: Any) -> Any:
    if name not in frame.columns:
        raise ValueError(f"it has no column {name!r}, which the dataframe should have")
    return frame[name]


def _values(frame: Any, given: Any, what: str) -> Any:
    """Of a column, or of a series that belongs to the same rows."""
    if given is None:
        return None
    if not hasattr(given, "index") or isinstance(given, (str, tuple)):
        return _of_name(frame, given).to_numpy()
    if not given.index.equals(frame.index):
        raise ValueError(f"{what} has another index than the dataframe")
    return given.to_numpy()


def from_libsvm(
    path: Any,
    partitions: int = 8,
    *,
    n_features: int | None = None,
    zero_based: bool | str = "auto",
) -> Sources:
    """Ranges of bytes of a file in LIBSVM format, which workers must be able to read.

    ``n_features``: None for as many as the file shows. ``zero_based``: whether its features are
    counted from 0; "auto" takes them to be counted from 1 if no partition has a feature 0.
    """
    path = Path(path)
    if path.suffix in _PACKED:
        raise ValueError(f"{path} is packed, so that nobody can read a range of it: unpack it")
    if not isinstance(zero_based, bool) and zero_based != "auto":
        raise ValueError(f'zero_based must be True, False or "auto", not {zero_based!r}')
    count, size = whole(partitions, "partitions", 1), os.path.getsize(path)
    length = max(1, -(-size // count))
    name = os.path.abspath(path)
    sources = Sources(Source(_of_range, (name, k * length, length)) for k in range(count))
    sources.stretch = True
    sources.width = None if n_features is None else whole(n_features, "n_features", 1)
    sources.lowest = None if zero_based == "auto" else int(not zero_based)
    return sources


def _of_range(path: str, offset: int, length: int) -> Raw:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(
            path, n_features=_ANY_WIDTH, zero_based=True, offset=offset, length=length
        )
    except ValueError as error:
        raise ValueError(
            f"bytes {offset} to {offset + length} of {path} are not in LIBSVM format: {error}"
        ) from None
    width = int(X.indices.max(initial=-1)) + 1
    index = np.int32 if X.nnz <= np.iinfo(np.int32).max else np.int64
    parts = (X.data, X.indices.astype(index), X.indptr.astype(index))
    return Raw(type(X)(parts, shape=(X.shape[0], max(width, 1))), y)
