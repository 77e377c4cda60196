"""From LIBSVM text, packed or not, to a matrix on disk, in memory for one block of lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dualgap.datasets.errors import DatasetDamagedError
from dualgap.datasets.lines import Parsed, blocks, parsed
from dualgap.datasets.on_disk import CSRWriter
from dualgap.datasets.read import unpacked

_NONE = np.iinfo(np.int64).max  # where there is no index at all


def convert(
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    dtype: Any = np.float64,
    zero_based: bool | Literal["auto"] = "auto",
    n_features: int | None = None,
    progress: bool = False,
) -> Path:
    """Convert a file in LIBSVM format, plain or packed as .gz, .bz2 or .xz, for ``open_folder``.

    ``dtype``       float64 or float32, which takes two thirds of the room
    ``zero_based``  whether the first feature has the index 0; "auto": if some index is 0
    ``n_features``  adds the empty features that a file does not show at its end

    A line that is not in LIBSVM format is an error that names the line, and leaves nothing behind.
    """
    path = Path(source)
    if zero_based not in (True, False, "auto"):
        raise ValueError(f'zero_based must be True, False or "auto", not {zero_based!r}')
    least = _NONE
    with open(path, "rb") as raw, CSRWriter(folder, dtype) as out, _shown(path, progress) as show:
        out.source = f"converted from {path.name}"
        with unpacked(raw, path) as file:
            for number, block in blocks(file):
                rows = parsed(block, number, out.dtype, first=int(zero_based is False))
                if len(rows.y):
                    out.append(_matrix(rows), rows.y)
                least = min(least, rows.indices.min(initial=_NONE))
                show(raw.tell())
            if not out.rows:
                raise DatasetDamagedError(f"{path} has no rows")
        one = zero_based is False or (zero_based == "auto" and 0 < least < _NONE)
        return out.finish(n_features, first=int(one))


def _matrix(rows: Parsed) -> Any:
    bounds = np.append(0, np.cumsum(rows.counts))
    width = int(rows.indices.max(initial=-1)) + 1
    return sp.csr_array((rows.values, rows.indices, bounds), shape=(len(rows.y), width))


def _shown(path: Path, progress: bool) -> Any:
    """Something to tell how many bytes of the file are read."""
    if not progress:
        return nullcontext(lambda at: None)
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(path.name), BarColumn(), DownloadColumn(), TimeRemainingColumn())

    class Bar(Progress):
        def __enter__(self) -> Callable[[int], None]:  # type: ignore[override]
            super().__enter__()
            task = self.add_task("", total=os.path.getsize(path))
            return lambda at: self.update(task, completed=at)

    return Bar(*columns, transient=True)
