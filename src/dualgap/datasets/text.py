"""From LIBSVM text, packed or not, to a matrix on disk, in memory for one block of lines."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dualgap.datasets.errors import DatasetDamagedError
from dualgap.datasets.on_disk import CSRWriter
from dualgap.datasets.read import unpacked

BLOCK = 4_000_000  # bytes of text that are read at a time
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
            for number, block in _blocks(file):
                X, y = _parsed(block, number, path, out.dtype, first=int(zero_based is False))
                if len(y):
                    out.append(X, y)
                least = min(least, X.indices.min(initial=_NONE))
                show(raw.tell())
            if not out.rows:
                raise DatasetDamagedError(f"{path} has no rows")
        one = zero_based is False or (zero_based == "auto" and 0 < least < _NONE)
        return out.finish(n_features, first=int(one))


def _blocks(file: Any) -> Iterator[tuple[int, bytes]]:
    """Whole lines, about as many bytes at a time, with the number of the first of them."""
    number, rest = 1, b""
    while True:
        read = file.read(BLOCK)
        if not read:
            break
        cut = read.rfind(b"\n") + 1
        if cut == 0:
            rest += read
            continue
        block, rest = rest + read[:cut], read[cut:]
        yield number, block
        number += block.count(b"\n")
    if rest:
        yield number, rest


def _parsed(block: bytes, number: int, path: Path, dtype: Any, first: int) -> tuple[Any, Any]:
    """The rows of some lines; what is wrong with one of them is found by reading them again."""
    from sklearn.datasets import load_svmlight_file

    reason = "a value is not finite"
    try:
        X, y = load_svmlight_file(io.BytesIO(block), dtype=dtype, zero_based=True)
        X.resize(len(y), X.indices.max(initial=-1) + 1)  # where there are no entries, no features
        y = np.asarray(y, dtype=np.float64)
        fine = np.isfinite(X.data).all() and np.isfinite(y).all()
        if fine and X.indices.min(initial=first) >= first:
            return X, y
    except (ValueError, OverflowError) as error:
        reason = str(error)
    lines = block.split(b"\n")
    for k, line in enumerate(lines):
        fault = _fault(line, dtype, first)
        if fault:
            raise DatasetDamagedError(f"{path}, line {number + k}: {fault}")
    raise DatasetDamagedError(
        f"{path}, lines {number} to {number + len(lines) - 1}: not in LIBSVM format ({reason})"
    )


def _fault(line: bytes, dtype: Any, first: int) -> str | None:
    """What is wrong with a line, in words."""
    words = line.split(b"#", 1)[0].decode("utf-8", "replace").split()
    if not words:
        return None
    if not _is_number(words[0], np.float64):
        return f"it must begin with a number, the target, not {words[0]!r}"
    last = first - 1
    for word in words[1:]:
        index, colon, value = word.partition(":")
        if index == "qid":
            continue
        if not colon:
            return f"{word!r} is not a pair index:value"
        if not index.lstrip("+").isdigit():
            return f"the index {index!r} is not a whole number"
        if int(index) < first:
            return f"the index {index} is below {first}, the first one"
        if int(index) <= last:
            return f"the index {index} comes after {last}: indices must ascend, without repetition"
        if not _is_number(value, dtype):
            return f"the value {value!r} is not a finite {np.dtype(dtype)}"
        last = int(index)
    return None


def _is_number(word: str, dtype: Any) -> bool:
    try:
        with np.errstate(over="ignore"):
            return bool(np.isfinite(np.dtype(dtype).type(float(word))))
    except ValueError:
        return False


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
