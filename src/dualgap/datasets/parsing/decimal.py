"""Decimal numbers as float64, correctly rounded, or an admission that more digits are needed.

A number m·10^q with whole m < 10^19 is exact in two factors if m < 2^53 and |q| ≤ 22: one operation
rounds it. Else 10^q = P·2^k·(1 + δ) with the upper 64 bits P of its mantissa, rounded down, and the
upper word of the product m·P, with m shifted up to 64 bits, is less than 2 below what it would be
with all digits. So its bits below the 53rd tell how to round, except if they are within 2 of one
half: one number in a thousand (D. Lemire, Number parsing at a gigabyte per second, 2021).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dualgap.compile.kernels import careful

LOWEST, HIGHEST = -330, 308  # powers of ten
MOST_DIGITS = 19  # as many fit into 64 bits


def _power(q: int) -> tuple[int, int]:
    """P and k."""
    n = 10 ** abs(q)
    bits = n.bit_length()
    if q < 0:
        return (1 << (bits + 63)) // n, -(bits + 63)
    return (n << 64) >> bits, bits - 64


_POWERS = [_power(q) for q in range(LOWEST, HIGHEST + 1)]
MANTISSAS = np.array([p for p, _ in _POWERS], dtype=np.uint64)
EXPONENTS = np.array([k for _, k in _POWERS], dtype=np.int64)
EXACT = np.array([10.0**q for q in range(23)])

_EXACT_M = np.uint64(1 << 53)
_TOP = np.uint64(1 << 63)
_LOW = np.uint64(0xFFFFFFFF)
_HALF_WORD = np.uint64(32)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@careful
def rounded(m: Any, q: Any) -> Any:
    """m·10^q for an unsigned m; NaN if that cannot be told."""
    if m == _ZERO:
        return 0.0
    if m <= _EXACT_M and -22 <= q <= 22:
        return float(m) / EXACT[-q] if q < 0 else float(m) * EXACT[q]
    if q < LOWEST or q > HIGHEST:
        return math.nan
    shift = 0
    while m < _TOP:
        m = m << _ONE
        shift += 1
    high = _upper(m, MANTISSAS[q - LOWEST])
    drop = 11 if high >= _TOP else 10
    mantissa = high >> np.uint64(drop)
    rest = np.int64(high & ((_ONE << np.uint64(drop)) - _ONE))
    half = np.int64(1) << (drop - 1)
    if half - 2 < rest <= half:
        return math.nan
    if rest > half:
        mantissa += _ONE
    exponent = int(drop + 64 + EXPONENTS[q - LOWEST] - shift)
    if not -1021 - 52 <= exponent <= 1023 - 53:  # subnormal or too large
        return math.nan
    return math.ldexp(float(mantissa), exponent)


@careful
def _upper(a: Any, b: Any) -> Any:
    """The upper word of a product of two words."""
    a_high, a_low = a >> _HALF_WORD, a & _LOW
    b_high, b_low = b >> _HALF_WORD, b & _LOW
    middle = a_high * b_low + ((a_low * b_low) >> _HALF_WORD)
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> _HALF_WORD) + (other >> _HALF_WORD)
