"""CSV, a chunk of rows at a time: numbers to the last bit; errors name the cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.datasets.errors import DatasetDamagedError
from dualgap.datasets.read import unpacked
from dualgap.datasets.tables import Columns, Roles, Wanted, roles

CHUNK = 20_000  # rows that are turned into numbers at a time
LONGEST = 64_000_000  # characters of a line
_DELIMITERS = ",;\t"


def read_csv(path: Path, wanted: Wanted) -> Columns:
    """A table of text, plain or packed; , ; or tabs between columns."""
    try:
        with open(path, "rb") as raw, unpacked(raw, path, "CSV") as file:
            text = io.TextIOWrapper(file, "utf-8-sig", newline="")
            try:
                return _read_text(path, text, wanted)
            except UnicodeDecodeError as error:
                byte = error.object[error.start]
                raise DatasetDamagedError(
                    f"{path} is not text in UTF-8 (byte {byte:#x}): save it as such"
                ) from None
            finally:
                text.detach()  # the caller closes the file
    except csv.Error as error:
        raise DatasetDamagedError(f"{path} is not in CSV format ({error})") from None


def _read_text(path: Path, file: Any, wanted: Wanted) -> Columns:
    lines = _lines(path, file)
    before, first = next(((k, line) for k, line in enumerate(lines) if line.strip()), (0, ""))
    if not first:
        raise DatasetDamagedError(f"{path} is empty")
    delimiter = max(_DELIMITERS, key=first.count)
    head = next(csv.reader([first], delimiter=delimiter), [])
    named = _is_header(head, wanted)
    names = [cell.strip() for cell in head] if named else [str(k + 1) for k in range(len(head))]
    who = roles(path, names, wanted)
    reader = csv.reader(lines if named else _after(first, lines), delimiter=delimiter)
    parts = list(_chunks(path, _numbered(reader, before + named), who))
    if not parts:
        raise DatasetDamagedError(f"{path} has no rows")
    X, y, *others = (None if part[0] is None else np.concatenate(part) for part in zip(*parts))
    weights, offset = others
    return Columns(X, None if y is None else _numbers_or_words(y), weights, offset, who.chosen)


def _lines(path: Path, file: Any) -> Iterator[str]:
    """The lines of a file, none of which may be endless."""
    number = 0
    while line := file.readline(LONGEST):
        number += 1
        if len(line) == LONGEST:
            raise DatasetDamagedError(
                f"{path}, line {number} is longer than {LONGEST // 1_000_000} MB"
            )
        if "\0" in line:
            raise DatasetDamagedError(f"{path}, line {number} has zero bytes: this is not text")
        yield line


def _after(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _is_header(cells: list[str], wanted: Wanted) -> bool:
    """Whether a first line names columns: no cell is a number, or one is a name asked for."""
    given = {wanted.target, wanted.weights, wanted.offset, *wanted.drop, *(wanted.features or ())}
    words = [cell.strip() for cell in cells if not _is_number(cell)]
    return len(words) == len(cells) or bool(given & set(words))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbered(reader: Any, before: int) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, with the line where each begins: quoted cells can have several."""
    line = before + 1
    for row in reader:
        if row:
            yield line, row
        line = before + reader.line_num + 1


def _chunks(
    path: Path, filled: Iterator[tuple[int, list[str]]], who: Roles
) -> Iterator[tuple[Any, ...]]:
    while some := list(islice(filled, CHUNK)):
        lines, rows = zip(*some)
        for line, row in some:
            if len(row) != len(who.names):
                raise DatasetDamagedError(
                    f"{path}, line {line} has {len(row)} cells where the first one has "
                    f"{len(who.names)}"
                )
        columns = list(zip(*rows))

        def numbers(place: int, columns: Any = columns, lines: Any = lines) -> Any:
            return _numbers(path, who.names[place], columns[place], lines)

        X = np.empty((len(rows), len(who.features)))
        for j, place in enumerate(who.features):
            X[:, j] = numbers(place)
        yield (
            X,
            None if who.target is None else _targets(path, columns[who.target], lines),
            *(None if place is None else numbers(place) for place in (who.weights, who.offset)),
        )


def _numbers(path: Path, name: str, cells: Sequence[str], lines: Sequence[int]) -> Any:
    try:
        found = np.array(list(map(float, cells)))
        if np.isfinite(found).all():
            return found
    except ValueError:
        pass
    k = next(k for k, c in enumerate(cells) if not _is_number(c) or not np.isfinite(float(c)))
    where = f"{path}, line {lines[k]}, column {name!r}"
    cell = cells[k].strip()
    if not cell:
        raise DatasetDamagedError(f"{where}: the cell is empty; fill it in, or remove the row")
    remedy = "encode it, or leave the column out with --drop"
    if cell.count(",") == 1 and _is_number(cell.replace(",", ".")):
        remedy = "write a point for the comma"
    raise DatasetDamagedError(f"{where}: {cell[:30]!r} is not a finite number; {remedy}")


def _targets(path: Path, cells: Sequence[str], lines: Sequence[int]) -> Any:
    found = np.array([cell.strip() for cell in cells])
    empty = np.flatnonzero(found == "")
    if len(empty):
        raise DatasetDamagedError(
            f"{path}, line {lines[empty[0]]} has no target: fill it in, or remove it"
        )
    return found


def _numbers_or_words(cells: Any) -> Any:
    try:
        return cells.astype(np.float64)
    except ValueError:
        return cells
