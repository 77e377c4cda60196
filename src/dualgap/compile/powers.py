"""Many steps of a simple map at once: what a coefficient does while nothing touches it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import helper
from dualgap.compile.scalar import soft

_FINE = 1024


class Decay(NamedTuple):
    """(1 − ``loss``)ᵏ − 1 from two tables, for k and for multiples of 1024: two reads, no power."""

    loss: float
    log: float  # of 1 − loss
    fine: Any
    coarse: Any


def decay_of(loss: float, most: int) -> Decay:
    """A table for k up to about ``most``; loss ≤ 1."""
    log = float(np.log1p(-loss)) if loss < 1.0 else -np.inf
    fine, coarse = np.zeros(_FINE), np.zeros(most // _FINE + 1)
    fine[1:] = np.expm1(log * np.arange(1, len(fine)))
    coarse[1:] = np.expm1(log * _FINE * np.arange(1, len(coarse)))
    return Decay(float(loss), log, fine, coarse)


@helper
def decayed(decay: Any, k: int) -> float:
    """(1 − loss)ᵏ − 1."""
    multiple = k // _FINE
    if multiple >= len(decay.coarse):
        return compound(decay.loss, k)
    fine, coarse = decay.fine[k % _FINE], decay.coarse[multiple]
    return fine + coarse + fine * coarse


@helper
def compound(loss: float, k: int) -> float:
    """(1 − loss)ᵏ − 1 by squaring, without cancellation."""
    grown = 0.0
    base = -loss
    while k > 0:
        factor = base * (k % 2)
        grown += factor + grown * factor
        base *= 2.0 + base
        k //= 2
    return grown


@helper
def affine_steps(x: float, loss: float, offset: float, k: int, decay: Any) -> float:
    """k times in a row x ← (1 − loss)·x + offset. ``decay`` is used if it is that of the loss."""
    if k == 0:
        return x
    if k == 1:
        return (1.0 - loss) * x + offset
    if loss == 0.0:
        return x + k * offset
    grown = decayed(decay, k) if _is_of(decay, loss) else compound(loss, k)
    return x + grown * (x - offset / loss)


@helper
def _is_of(decay: Any, loss: float) -> bool:
    return abs(loss - decay.loss) <= 4e-16 * loss


@helper
def soft_steps(
    x: float, scale: float, shift: float, threshold: float, t: float, k: int, decay: Any
) -> float:
    """k times in a row x ← S(scale·x + shift, threshold)/(1 + t), in O(1).

    The map is affine on each side of 0, and x moves in one direction: it stays on its side, or
    sinks to 0, where it stays or crosses to the other side for good.
    """
    if x < 0.0 or (x == 0.0 and shift < 0.0):
        return -_soft_steps_from_above(-x, scale, -shift, threshold, t, k, decay)
    return _soft_steps_from_above(x, scale, shift, threshold, t, k, decay)


@helper
def _soft_steps_from_above(
    x: float, scale: float, shift: float, threshold: float, t: float, k: int, decay: Any
) -> float:
    if x == 0.0 and shift <= threshold:
        return 0.0
    loss = ((1.0 - scale) + t) / (1.0 + t)
    offset = (shift - threshold) / (1.0 + t)
    end = affine_steps(x, loss, offset, k, decay)
    if end >= 0.0:
        return end
    below = (-shift - threshold) / (1.0 + t)
    if below <= 0.0:
        return 0.0  # it sinks to 0 on the way, and rests there
    # It sinks below 0 on the way: jump to just before that, then go step by step.
    last = x / -offset
    if loss > 0.0:
        last = -math.log1p(last * loss) / (decay.log if _is_of(decay, loss) else math.log1p(-loss))
    jump = max(0, min(int(last) - 1, k - 1))
    x = affine_steps(x, loss, offset, jump, decay)
    k -= jump
    while k > 0 and x > 0.0:
        x = soft(scale * x + shift, threshold) / (1.0 + t)
        k -= 1
    return -affine_steps(-x, loss, below, k, decay)
