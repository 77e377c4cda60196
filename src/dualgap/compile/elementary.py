"""Exponentials and logarithms that loops over samples can take many of at once.

Those of the C library are calls, one for each number, and keep a loop from being compiled to vector
instructions. These are arithmetic alone, five to ten times faster in such loops, with an error of
less than two units in the last place. Where each step waits for the one before it, the library's
are faster.

The methods are the usual ones: for exp, x = k log 2 + r and a polynomial in r; for log, m·2^k with
m around 1 and a series in f/(2 + f), f = m − 1; for log1p, the log of 1 + x with what that sum
rounds away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import ordered

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # its first 33 bits
_ROUND = 6755399441055744.0  # 1.5·2⁵²: a number of moderate size added to it becomes whole
_LOWEST = -708.0  # below, exp(x) is next to nothing
_TINY = 1e-300
_SQRT_HALF = 0x3FE6A09E00000000  # the bits of a number close to it
_MANTISSA, _EXPONENT, _WHOLE = 0x000FFFFFFFFFFFFF, 0x3FF0000000000000, 0x4330000000000000
_ALL = 0xFFFFFFFFFFFFFFFF


def to_bits(x: float) -> Any:
    """The 64 bits of a float as an integer."""
    return int(np.float64(x).view(np.int64))


def from_bits(bits: Any) -> Any:
    """The float with these 64 bits."""
    return float(np.uint64(bits & _ALL).view(np.float64))


@ordered
def exp(x: float) -> float:
    """e^x for x ≤ 709, and 0 below −708."""
    low = x < _LOWEST
    x = _LOWEST if low else x
    whole = x * _LOG2_E + _ROUND
    k = whole - _ROUND
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p: float = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = (p * r) * r + r
    power = from_bits((to_bits(whole) << 52) + _EXPONENT)
    return 0.0 if low else power + power * p


@ordered
def _log_with(x: float, more: float) -> float:
    """log(x) + more for a positive x that is not subnormal."""
    shifted = to_bits(x) + (_EXPONENT - _SQRT_HALF)
    # The exponent is k as an integer; under the exponent of 2⁵² its bits are k as a float.
    k: float = from_bits((shifted >> 52) | _WHOLE) - (4503599627370496.0 + 1023.0)
    f: float = from_bits((shifted & _MANTISSA) + _SQRT_HALF) - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 1.479819860511658591e-01
    p = p * z + 1.531383769920937332e-01
    p = p * z + 1.818357216161805012e-01
    p = p * z + 2.222219843214978396e-01
    p = p * z + 2.857142874366239149e-01
    p = p * z + 3.999999999940941908e-01
    p = p * z + 6.666666666666735130e-01
    half = 0.5 * f * f
    return k * _LN2_HIGH - ((half - (s * (half + z * p) + (k * _LN2_LOW + more))) - f)


@ordered
def log(x: float) -> float:
    """log(x) for x > 0; a large negative number for x = 0 and for the tiniest x."""
    return _log_with(_TINY if x < _TINY else x, 0.0)


@ordered
def log1p(x: float) -> float:
    """log(1 + x) for x > −1; of −1 a large negative number."""
    around = 1.0 + x
    around = _TINY if around < _TINY else around
    return _log_with(around, (x - (around - 1.0)) / around)
