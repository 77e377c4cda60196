"""Lines in LIBSVM format, a block at a time; errors say which line is wrong and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dualgap.datasets.parsing.libsvm import MOST_INDEX_DIGITS, PLAIN, room, scan

BLOCK = 4_000_000  # bytes of text that are read at a time: bounds the memory; not measured
LONGEST = 64_000_000  # bytes of a line, some millions of entries; a longer one is not text
_SHOWN = 30  # characters of a word in an error
_LONGEST_NUMBER = 400  # characters; with more digits float64 is the same


class LineError(ValueError):
    """A line that is not in LIBSVM format; the message begins with its number."""


class Parsed(NamedTuple):
    """Rows: targets, how many entries each has, and the indices and values of these."""

    y: Any
    counts: Any
    indices: Any
    values: Any


def blocks(file: Any) -> Iterator[tuple[int, bytes]]:
    """Blocks of complete lines, each with the number of its first line."""
    number, pieces, size = 1, [], 0
    while True:
        read = file.read(BLOCK)
        if not read:
            break
        if b"\0" in read:
            raise LineError(f"line {number} or one after it has zero bytes: this is not text")
        cut = read.rfind(b"\n") + 1
        pieces.append(read[:cut] if cut else read)
        size += len(pieces[-1])
        if size > LONGEST:
            raise LineError(f"line {number} is longer than {LONGEST // 1_000_000} MB")
        if cut:
            block = b"".join(pieces)
            pieces, size = [read[cut:]], len(read) - cut
            yield number, block
            number += block.count(b"\n")
    if size:
        yield number, b"".join(pieces)


def parsed(block: bytes, number: int, dtype: Any = np.float64, first: int = 0) -> Parsed:
    """The rows of some lines; ``first`` is the smallest allowed index."""
    text = np.frombuffer(block, np.uint8)
    out = room(block.count(b"\n") + 1, block.count(b":"))
    n, entries, fault = scan(text, out)
    if fault >= 0:
        raise _found(block, number, dtype, first)
    y, values = out.labels[:n], out.values[:entries]
    try:
        for numbers, starts in ((y, out.label_at[:n]), (values, out.value_at[:entries])):
            for k in np.flatnonzero(starts != PLAIN):
                numbers[k] = float(_word(block, int(starts[k])))
    except ValueError:
        raise _found(block, number, dtype, first) from None
    indices = out.indices[:entries]
    with np.errstate(over="ignore"):
        values = values.astype(dtype, copy=False)
    fine = np.isfinite(values).all() and np.isfinite(y).all()
    if not fine or indices.min(initial=first) < first:
        raise _found(block, number, dtype, first)
    return Parsed(y, np.diff(out.bounds[: n + 1]), indices, values)


def _word(block: bytes, start: int) -> bytes:
    return block[start : start + _LONGEST_NUMBER].split(b"#", 1)[0].split(None, 1)[0]


def _found(block: bytes, number: int, dtype: Any, first: int) -> LineError:
    """The first error, found by a slow but exact check of each line."""
    lines = block.split(b"\n")
    for k, line in enumerate(lines):
        words = _fault(line, dtype, first)
        if words:
            return LineError(f"line {number + k}: {words}")
    return LineError(f"lines {number} to {number + len(lines) - 1} are not in LIBSVM format")


def _fault(line: bytes, dtype: Any, first: int) -> str | None:
    """What is wrong with a line, in words."""
    words = line.split(b"#", 1)[0].decode("utf-8", "replace").split()
    if not words:
        return None
    if not _is_number(words[0], np.float64):
        return f"it must begin with a number, the target, not {_short(words[0])}"
    last = first - 1
    for word in words[1:]:
        index, colon, value = word.partition(":")
        if index == "qid":
            continue
        if not colon:
            return f"{_short(word)} is not a pair index:value"
        digits = index.removeprefix("+")
        if digits[:1] == "-" and digits[1:].isdecimal():
            return f"the index {_short(index)} is negative"
        if not (digits.isascii() and digits.isdigit()):
            return f"the index {_short(index)} is not a whole number"
        if len(digits) > MOST_INDEX_DIGITS:
            return f"the index {_short(index)} is too large"
        if int(index) < first:
            return f"the index {index} is below {first}, the first one"
        if int(index) <= last:
            return f"the index {index} comes after {last}: indices must ascend, without repetition"
        if not _is_number(value, dtype):
            return f"the value {_short(value)} is not a finite {np.dtype(dtype)}"
        last = int(index)
    return None


def _is_number(word: str, dtype: Any) -> bool:
    try:
        with np.errstate(over="ignore"):
            return bool(np.isfinite(np.dtype(dtype).type(float(word))))
    except ValueError:
        return False


def _short(word: str) -> str:
    return repr(word if len(word) <= _SHOWN else f"{word[:_SHOWN]}...")
