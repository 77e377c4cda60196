"""CSV, a chunk of rows at a time: numbers to the last bit, and the cell where there is none."""

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
            finally:
                text.detach()  # the file is closed by whoever has opened it
    except csv.Error as error:
        raise DatasetDamagedError(f"{path} is not in CSV format ({error})") from None


def _read_text(path: Path, file: Any, wanted: Wanted) -> Columns:
    lines = _lines(path, file)
    first = next((line for line in lines if line.strip()), "")
    if not first:
        raise DatasetDamagedError(f"{path} is empty")
    delimiter = max(_DELIMITERS, key=first.count)
    head = next(csv.reader([first], delimiter=delimiter), [])
    named = _is_header(head, wanted)
    names = [cell.strip() for cell in head] if named else [str(k + 1) for k in range(len(head))]
    who = roles(path, names, wanted)
    reader = csv.reader(lines if named else _after(first, lines), delimiter=delimiter)
    parts = list(_chunks(path, reader, who))
    if not parts:
        raise DatasetDamagedError(f"{path} has no rows")
    X, y, weights = (None if part[0] is None else np.concatenate(part) for part in zip(*parts))
    return Columns(X, None if y is None else _numbers_or_words(path, y), weights, who.chosen)


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
            raise DatasetDamagedError(f"{path}, line {number} has zero bytes: this is no text")
        yield line


def _after(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _is_header(cells: list[str], wanted: Wanted) -> bool:
    """Whether a first line names columns: no cell is a number, or one is a name asked for."""
    given = {wanted.target, wanted.weights, *wanted.drop, *(wanted.features or ())}
    words = [cell.strip() for cell in cells if not _is_number(cell)]
    return len(words) == len(cells) or bool(given & set(words))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _chunks(path: Path, reader: Any, who: Roles) -> Iterator[tuple[Any, Any, Any]]:
    done, filled = 0, filter(None, reader)
    while rows := list(islice(filled, CHUNK)):
        for k, row in enumerate(rows):
            if len(row) != len(who.names):
                raise DatasetDamagedError(
                    f"{path}, row {done + k + 1} has {len(row)} cells where the first line has "
                    f"{len(who.names)}"
                )
        columns = list(zip(*rows))

        def numbers(place: int, columns: Any = columns, done: int = done) -> Any:
            return _numbers(path, who.names[place], columns[place], done)

        X = np.empty((len(rows), len(who.features)))
        for j, place in enumerate(who.features):
            X[:, j] = numbers(place)
        yield (
            X,
            None if who.target is None else np.array([c.strip() for c in columns[who.target]]),
            None if who.weights is None else numbers(who.weights),
        )
        done += len(rows)


def _numbers(path: Path, name: str, cells: Sequence[str], done: int) -> Any:
    try:
        found = np.array(list(map(float, cells)))
        if np.isfinite(found).all():
            return found
    except ValueError:
        pass
    k = next(k for k, c in enumerate(cells) if not _is_number(c) or not np.isfinite(float(c)))
    where = f"{path}, row {done + k + 1}, column {name!r}"
    cell = cells[k].strip()
    if not cell:
        raise DatasetDamagedError(f"{where}: the cell is empty; fill it in, or remove the row")
    raise DatasetDamagedError(
        f"{where}: {cell[:30]!r} is not a finite number; encode it, or leave the column out with "
        "--drop"
    )


def _numbers_or_words(path: Path, cells: Any) -> Any:
    empty = np.flatnonzero(cells == "")
    if len(empty):
        raise DatasetDamagedError(
            f"{path}, row {empty[0] + 1} has no target: fill it in, or remove it"
        )
    try:
        return cells.astype(np.float64)
    except ValueError:
        return cells
