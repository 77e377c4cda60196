"""Scalar functions that several rules share."""

from __future__ import annotations

import math

from dualgap._compile import helper


@helper
def clip(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


@helper
def soft(x: float, t: float) -> float:
    """S(x, t) = sign(x)·max(|x| − t, 0)."""
    return max(x - t, 0.0) + min(x + t, 0.0)


@helper
def xlogx(x: float) -> float:
    """x log x, continued by 0 at 0."""
    return x * math.log(x) if x > 0.0 else 0.0


@helper
def sigmoid(x: float) -> float:
    """1/(1 + e^−x) without overflow."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


@helper
def softplus(x: float) -> float:
    """log(1 + e^x) without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@helper
def affine_steps(x: float, loss: float, offset: float, k: int) -> float:
    """k times in a row x ← (1 − loss)·x + offset."""
    if k == 1 or loss >= 1.0:
        return (1.0 - loss) * x + offset if k > 0 else x
    if loss == 0.0:
        return x + k * offset
    return x + math.expm1(k * math.log1p(-loss)) * (x - offset / loss)


@helper
def soft_steps(x: float, scale: float, shift: float, threshold: float, t: float, k: int) -> float:
    """k times in a row x ← S(scale·x + shift, threshold)/(1 + t), in O(1).

    The map is affine on each side of 0, and x moves in one direction: it stays on its side, or
    sinks to 0, where it rests or goes on to the other side for good.
    """
    if x < 0.0 or (x == 0.0 and shift < 0.0):
        return -_soft_steps_from_above(-x, scale, -shift, threshold, t, k)
    return _soft_steps_from_above(x, scale, shift, threshold, t, k)


@helper
def _soft_steps_from_above(
    x: float, scale: float, shift: float, threshold: float, t: float, k: int
) -> float:
    loss = ((1.0 - scale) + t) / (1.0 + t)
    offset = (shift - threshold) / (1.0 + t)
    if offset >= 0.0:
        return affine_steps(x, loss, offset, k)
    if x > 0.0:
        sinking = x / -offset
        if loss > 0.0:
            sinking = -math.log1p(sinking * loss) / math.log1p(-loss)
        certain = min(k, max(0, int(min(sinking, 1e18)) - 1))
        x = affine_steps(x, loss, offset, certain)
        k -= certain
    while k > 0 and x > 0.0:  # the last steps before 0, one by one
        x = soft(scale * x + shift, threshold) / (1.0 + t)
        k -= 1
    below = (-shift - threshold) / (1.0 + t)
    return -affine_steps(-x, loss, below, k) if below > 0.0 and k > 0 else x


@helper
def wright_omega(x: float) -> float:
    """The t > 0 with t + log t = x."""
    # Newton on log t when t is small and on t when it is large: both are convex and stay inside.
    if x <= 0.0:
        s = x
        for _ in range(30):
            e = math.exp(s)
            move = (s + e - x) / (1.0 + e)
            s -= move
            if abs(move) <= 1e-16 * (1.0 + abs(s)):
                break
        return math.exp(s)
    t = max(x - math.log1p(x), 0.5)
    for _ in range(30):
        move = t * (t + math.log(t) - x) / (1.0 + t)
        t = max(t - move, 0.25 * t)
        if abs(move) <= 1e-16 * t:
            break
    return t
