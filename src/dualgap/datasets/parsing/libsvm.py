"""Lines ``label index:value ...`` as the arrays of a CSR matrix, in one pass over bytes.

Hard numbers, such as ``nan`` or one of twenty digits, are left to Python: the pass records where
they start. It ends at the first word that such a line cannot contain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import helper, inner, kernel
from dualgap.datasets.parsing.decimal import MOST_DIGITS, rounded

_BLANK, _END, _HASH, _PLUS, _MINUS, _DOT, _ZERO, _NINE, _COLON = (ord(c) for c in " \n#+-.09:")
_E, _UPPER_E, _Q, _I, _D = (ord(c) for c in "eEqid")
MOST_INDEX_DIGITS = 18
_TEN = np.uint64(10)
PLAIN = -1  # in place of where a number starts


class Rows(NamedTuple):
    """Room for what is read: labels, ends of rows, indices and values, and where hard ones start.

    ``bounds`` has an entry more than there are rows.
    """

    labels: Any
    label_at: Any
    bounds: Any
    indices: Any
    values: Any
    value_at: Any


def room(rows: int, entries: int) -> Rows:
    """Arrays for so many rows and entries."""
    return Rows(
        np.empty(rows),
        np.empty(rows, np.int64),
        np.zeros(rows + 1, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries),
        np.empty(entries, np.int64),
    )


@helper
def is_blank(c: int) -> bool:
    return c == _BLANK or 9 <= c <= 13


@helper
def is_digit(c: int) -> bool:
    return _ZERO <= c <= _NINE


@helper
def digit(c: int) -> int:
    """The value of a digit, wider than the byte that it is read from."""
    return np.int64(c) - _ZERO  # type: ignore[return-value]


@helper
def ends_word(c: int) -> bool:
    return is_blank(c) or c == _HASH


@kernel
def scan(text: Any, out: Any) -> tuple[int, int, int]:
    """Fill ``out`` from lines; returns rows, entries, and the position of an error, or -1."""
    row, k, i, n = 0, 0, 0, len(text)
    while i < n:
        if is_blank(text[i]):
            i += 1
            continue
        if text[i] == _HASH:
            i = line_end(text, i)
            continue
        start = i
        out.labels[row], i, plain = number(text, i)
        out.label_at[row] = PLAIN if plain else start
        last = -1
        while True:
            while i < n and text[i] != _END and is_blank(text[i]):
                i += 1
            if i == n or text[i] == _END:
                break
            if text[i] == _HASH:
                i = line_end(text, i)
                break
            if is_qid(text, i):
                i = word_end(text, i)
                continue
            index, at = whole(text, i)
            if index <= last or at == n or text[at] != _COLON:
                return row, k, i
            start = at + 1
            out.values[k], i, plain = number(text, start)
            if i == start:
                return row, k, start
            out.value_at[k] = PLAIN if plain else start
            out.indices[k] = last = index
            k += 1
        row += 1
        out.bounds[row] = k
    return row, k, -1


@inner
def number(text: Any, i: int) -> tuple[float, int, bool]:
    """A number, the position after its word, and whether it was read exactly."""
    n, start = len(text), i
    negative = i < n and text[i] == _MINUS
    if i < n and (text[i] == _MINUS or text[i] == _PLUS):
        i += 1
    m, digits, power, seen, after_dot = np.uint64(0), 0, 0, 0, False
    while i < n:
        c = text[i]
        if is_digit(c):
            seen += 1
            if digits > 0 or c != _ZERO:
                digits += 1
            if digits <= MOST_DIGITS:
                m = m * _TEN + np.uint64(digit(c))
                power -= after_dot
        elif c == _DOT and not after_dot:
            after_dot = True
        else:
            break
        i += 1
    plain = seen > 0 and digits <= MOST_DIGITS
    if plain and i < n and (text[i] == _E or text[i] == _UPPER_E):
        i += 1
        down = i < n and text[i] == _MINUS
        if i < n and (text[i] == _MINUS or text[i] == _PLUS):
            i += 1
        exponent, i0 = 0, i
        while i < n and is_digit(text[i]):
            exponent = min(10 * exponent + digit(text[i]), 100_000)
            i += 1
        plain = i > i0
        power += -exponent if down else exponent
    plain = plain and (i == n or ends_word(text[i]))
    value = rounded(m, power) if plain else 0.0
    if not plain or value != value:
        return 0.0, word_end(text, start), False
    return (-value if negative else value), i, True


@helper
def whole(text: Any, i: int) -> tuple[int, int]:
    """An integer and the position after it; -1 if there is no integer."""
    n = len(text)
    if i < n and text[i] == _PLUS:
        i += 1
    start, value = i, 0
    while i < n and is_digit(text[i]):
        value = 10 * value + digit(text[i])
        i += 1
    if not 0 < i - start <= MOST_INDEX_DIGITS:
        value = -1
    return value, i


@helper
def is_qid(text: Any, i: int) -> bool:
    """Whether a word names the query of a line (qid:3), which is ignored."""
    return (
        i + 3 < len(text)
        and text[i] == _Q
        and text[i + 1] == _I
        and text[i + 2] == _D
        and text[i + 3] == _COLON
    )


@helper
def word_end(text: Any, i: int) -> int:
    while i < len(text) and not ends_word(text[i]):
        i += 1
    return i


@helper
def line_end(text: Any, i: int) -> int:
    while i < len(text) and text[i] != _END:
        i += 1
    return i
