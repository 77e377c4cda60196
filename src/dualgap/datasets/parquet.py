"""Parquet files, by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dualgap.datasets.errors import DatasetDamagedError
from dualgap.datasets.tables import Columns, Wanted, roles


def read_parquet(path: Path, wanted: Wanted) -> Columns:
    """A table; only the columns that are wanted are read."""
    try:
        from pyarrow import ArrowException, parquet
    except ModuleNotFoundError:
        raise ValueError("Parquet files need pyarrow: pip install 'dualgap[parquet]'") from None
    try:
        file = parquet.ParquetFile(path)
        who = roles(path, list(file.schema_arrow.names), wanted)
        places = [k for k in (*who.features, *who[2:]) if k is not None]
        table = file.read(columns=[who.names[k] for k in dict.fromkeys(places)])
    except (ArrowException, OSError) as error:
        raise DatasetDamagedError(f"{path} is damaged or not in Parquet format ({error})") from None

    def column(place: int | None, words: bool = False) -> Any:
        if place is None:
            return None
        return _of_arrow(path, who.names[place], table.column(who.names[place]), words)

    if not table.num_rows:
        raise DatasetDamagedError(f"{path} has no rows")
    X = np.empty((table.num_rows, len(who.features)))
    for j, place in enumerate(who.features):
        X[:, j] = column(place)
    others = column(who.weights), column(who.offset)
    return Columns(X, column(who.target, words=True), *others, who.chosen)


def _of_arrow(path: Path, name: str, column: Any, words: bool) -> Any:
    if column.null_count:
        raise DatasetDamagedError(
            f"{path}, column {name!r} has empty cells ({column.null_count}): fill them in, or "
            "remove these rows"
        )
    values = np.asarray(column.to_pylist() if words else column.to_numpy())
    if values.dtype.kind in "biuf":
        if not np.isfinite(values).all():
            raise DatasetDamagedError(f"{path}, column {name!r} has entries that are not finite")
        return values.astype(np.float64)
    if words and values.dtype.kind == "U":
        return values
    raise DatasetDamagedError(
        f"{path}, column {name!r} holds {column.type}, not numbers; encode it, or leave it out "
        "with --drop"
    )
