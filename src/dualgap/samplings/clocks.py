"""Draws whose probabilities fall with each visit, by exponential clocks. O(n) and a sort.

Coordinate i is to be drawn with probability ∝ w_i, and each visit divides w_i by m. Give each of
them a clock that rings after Exp/w_i, where w_i is its weight then: the next one to ring is i with
probability w_i/Σw, whatever has happened before, since clocks forget how long they have run. So
the order in which clocks ring has the law of such draws, and all that is left is to sort times. A
tree of partial sums ("random counters", Nesterov 2012) costs O(log n) jumps through memory for
each draw, seven times as much.
"""

from __future__ import annotations

from math import exp, log, log1p
from typing import Any

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.linalg.validate import Floats

# Standard deviations by which the rings that are expected exceed those that are wanted, so that few
# rounds come up short. Not measured.
_MARGIN = 3.0
# The latest time of a round. What has rung by then has a weight of at least its inverse, relative
# to the largest one: weights are scaled again before they underflow.
_LATEST = 1e200


def draw_decaying(weights: Floats, count: int, factor: float, rng: np.random.Generator) -> Any:
    """``count`` indices, drawn ∝ ``weights``, each divided by ``factor`` before the next draw."""
    used = np.flatnonzero(weights)
    rates = weights[used]
    parts: list[Any] = []
    while True:
        rates /= rates.max()
        rung = _rung(rates, count, factor, rng)
        parts.append(rung[:count] if len(used) == len(weights) else used[rung[:count]])
        count -= len(parts[-1])
        if count == 0:
            return parts[0] if len(parts) == 1 else np.concatenate(parts)
        # Too few have rung. Clocks forget: all of them start again, at the weights of now.
        with np.errstate(over="ignore", under="ignore"):
            rates /= factor ** np.bincount(rung, minlength=len(rates))


def _rung(rates: Floats, count: int, factor: float, rng: np.random.Generator) -> Any:
    """Whose clocks ring until about ``count`` have rung, in this order."""
    horizon = _horizon(rates, rates.view(np.int64), count, factor)
    first = rng.standard_exponential(len(rates))
    later = rng.standard_exponential(count + count // 4 + 64)
    # One sort of whole numbers instead of one of pairs: the bits of a time, of which the lowest
    # make room for the index. Among n coordinates that leaves 52 − log₂n digits of a time.
    low = (1 << len(rates).bit_length()) - 1
    while True:
        times = np.empty(len(later))
        keys = times.view(np.int64)
        filled = _ring(rates, first, later, horizon, factor, times, keys, low)
        if filled >= 0:
            keys = keys[:filled]
            keys.sort()
            keys &= low
            return keys
        # The same clocks again, with more room.
        later = np.concatenate([later, rng.standard_exponential(len(later))])


@kernel
def _ring(
    rates: Any,
    first: Any,
    later: Any,
    horizon: float,
    factor: float,
    times: Any,
    keys: Any,
    low: int,
) -> int:
    """Fill in when clocks ring until ``horizon``, and whose; returns how often, or −1 if there is
    no room.

    ``first`` and ``later``: exponential numbers for the first visits and for all others. ``keys``
    are the bits of ``times``, whose bits in ``low`` become the index.
    """
    filled = 0
    for i in range(len(rates)):
        rate = rates[i]
        time = first[i] / rate if rate > 0.0 else np.inf
        while time <= horizon:
            if filled == len(times):
                return -1
            times[filled] = time
            keys[filled] = (keys[filled] & ~low) | i
            rate /= factor
            time += later[filled] / rate if rate > 0.0 else np.inf
            filled += 1
    return filled


@kernel
def _horizon(rates: Any, bits: Any, count: int, factor: float) -> float:
    """A time until which about ``count`` clocks ring; only speed depends on how good it is.

    Rates are counted by their binary exponents, which are in their ``bits``.
    """
    sums = np.zeros(2048)
    counts = np.zeros(2048)
    for i in range(len(rates)):
        k = bits[i] >> 52
        sums[k] += rates[i]
        counts[k] += 1.0
    kinds = 0
    for k in range(len(sums)):
        if sums[k] > 0.0:
            counts[kinds] = counts[k]
            sums[kinds] = sums[k] / counts[k]
            kinds += 1
    wanted = count + _MARGIN * np.sqrt(count)
    high = 1.0
    while high < _LATEST and _rings(sums[:kinds], counts[:kinds], high, factor) < wanted:
        high *= 4.0
    low = 0.0
    while high < _LATEST and high - low > 0.02 * high:
        middle = 0.5 * (low + high)
        if _rings(sums[:kinds], counts[:kinds], middle, factor) < wanted:
            low = middle
        else:
            high = middle
    return min(high, _LATEST)


@inner
def _rings(rates: Any, counts: Any, time: float, factor: float) -> float:
    """About how many clocks ring until ``time``: first visits as they do, then on average."""
    total = 0.0
    for k in range(len(rates)):
        s = rates[k] * time
        beyond = max(s - 1.0, 0.0) / factor
        total += counts[k] * (1.0 - exp(-s)) * (1.0 + log1p(beyond * log(factor)) / log(factor))
    return total
