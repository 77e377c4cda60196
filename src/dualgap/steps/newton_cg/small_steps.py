"""Newton steps for the softmax loss in one kernel: those of ``newton_cg.py``, for small dense data.

On a few hundred samples the arithmetic of a step takes microseconds, and NumPy's calls for it a
hundred. Arrays of classes have a row for each class here: W is (K, d), decision values (K, n). The
Hessian has a block −Σ_i c_i s_ik s_il x_i x_iᵀ for classes k ≠ l; as shares add up to 1, a block
on the diagonal is minus the sum of the others in its row.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import inner, kernel
from dualgap.compile.scalar import EPS
from dualgap.linalg.small_products import summed, times
from dualgap.steps.newton.tuning import TUNING as NEWTON
from dualgap.steps.newton_cg.tuning import TUNING
from dualgap.steps.small.gram_kernels import solve_on, weighted_gram

# Kernels read module-level names.
_TRIALS, _SLOPE_LEFT, _ROUNDING = TUNING.trials, TUNING.slope_left, TUNING.rounding
_SHORT, _FIRST_DAMPING = TUNING.short_step, TUNING.first_damping
_DAMPING, _LEAST_DAMPING = TUNING.damping_factor, TUNING.least_damping
_BALANCE_STEPS, _CENTRINGS, _RIDGE = TUNING.balance_steps, TUNING.centrings, NEWTON.ridge
_EVEN = 0.25 * EPS  # of a sum's terms: what rounding errors leave of an imbalance


class ClassData(NamedTuple):
    """What stays the same: X by rows, the constant feature and whether it is free of a penalty,
    labels, shares, λ l2, and the largest curvatures that losses can have, by feature."""

    X: Any
    constant: float
    is_free: bool
    y: Any
    c: Any
    quadratic: Any
    largest: Any


class ClassState(NamedTuple):
    """What steps change, in place: W, XW, the slopes c ∇φ, and three numbers: the damping, what the
    last step promised, Σ c φ."""

    W: Any
    z: Any
    slopes: Any
    numbers: Any


@kernel
def descend_classes(data: Any, state: Any, enough: float, most: int) -> tuple[int, bool]:
    """Make at most so many steps, until the expected gap is small ``enough``, and balance the free
    intercepts. Returns the number of steps, and whether anything has moved."""
    W, z, slopes, numbers = state
    width, d = W.shape
    size, moved = width * d, False
    gradient, move, along = np.empty(W.shape), np.empty(W.shape), np.empty(z.shape)
    next_z, next_slopes = np.empty(z.shape), np.empty(z.shape)
    hessian, block, weights = np.empty((size, size)), np.empty((d, d)), np.empty(z.shape[1])
    diagonal, right, flat = np.empty(size), np.empty(size), np.empty(size)
    places = np.empty(size, np.int64)
    for s in range(size):
        places[s] = s
    numbers[2] = _respond(data.y, data.c, z, slopes)
    done = 0
    while done < most:
        expected = _gradient(data, W, slopes, gradient)
        if done > 0 and expected <= enough:
            break
        done += 1
        _fill_hessian(data, slopes, weights, block, hessian)
        for k in range(width):
            for j in range(d):
                s = k * d + j
                curved = data.quadratic[k, j] + numbers[0] * data.largest[j]
                diagonal[s] = max(hessian[s, s], 0.0) + curved
                right[s] = -gradient[k, j]
        if not solve_on(hessian, diagonal, places, size, right, _RIDGE, flat):
            break
        numbers[1] = 0.0
        for k in range(width):
            for j in range(d):
                move[k, j] = flat[k * d + j]
                numbers[1] -= gradient[k, j] * move[k, j]
        if not numbers[1] > 0.0:
            break
        for k in range(width):
            times(data.X, data.constant, move[k], along[k])
        length = _search(data, state, move, along, next_z, next_slopes)
        if length < _SHORT:
            numbers[0] = max(_DAMPING * numbers[0], _FIRST_DAMPING)
        elif length >= 1.0:
            numbers[0] /= _DAMPING
            if not numbers[0] > _LEAST_DAMPING:
                numbers[0] = 0.0
        if length == 0.0:
            break
        moved = True
        for k in range(width):
            for j in range(d):
                W[k, j] += length * move[k, j]
    if data.is_free:
        _balance(data, state, next_z, next_slopes)
        _centre(data, state)
    return done, moved


@inner
def _respond(y: Any, c: Any, z: Any, slopes: Any) -> float:
    """Fill in the slopes c ∇φ(z); returns Σ c φ(z)."""
    width, n = z.shape
    value = 0.0
    for i in range(n):
        own, top = y[i], z[0, i]
        for k in range(1, width):
            top = max(top, z[k, i])
        total = 0.0
        for k in range(width):
            slopes[k, i] = math.exp(z[k, i] - top)
            total += slopes[k, i]
        others = 0.0
        for k in range(width):
            slopes[k, i] *= c[i] / total
            if k != own:
                others += slopes[k, i]
        slopes[own, i] = -others  # more precise than c(s − 1) where s is near 1
        value += c[i] * (math.log(total) - (z[own, i] - top))
    return value


@inner
def _gradient(data: Any, W: Any, slopes: Any, out: Any) -> float:
    """Fill in the gradient of the objective; returns what W ≠ ∇g*(u) adds to the gap."""
    width, d = W.shape
    expected = 0.0
    for k in range(width):
        summed(data.X, data.constant, slopes[k], out[k])
        for j in range(d):
            held = data.quadratic[k, j]
            out[k, j] += held * W[k, j]
            if held > 0.0:
                expected += 0.5 * out[k, j] * out[k, j] / held
    return expected


@inner
def _fill_hessian(data: Any, slopes: Any, weights: Any, block: Any, out: Any) -> None:
    """The lower triangle of the Hessian of the losses."""
    width, d = len(slopes), len(block)
    for k in range(width):
        for i in range(d):
            for j in range(d):
                out[k * d + i, k * d + j] = 0.0
    for k in range(1, width):
        for m in range(k):
            _pair_weights(data.y, data.c, slopes, k, m, weights)
            weighted_gram(data.X, data.constant, weights, block)
            for i in range(d):
                for j in range(d):
                    out[k * d + i, m * d + j] = -block[i, j]
                    out[k * d + i, k * d + j] += block[i, j]
                    out[m * d + i, m * d + j] += block[i, j]


@inner
def _pair_weights(y: Any, c: Any, slopes: Any, k: int, m: int, out: Any) -> None:
    """out = c s_k s_m for the shares s of two classes."""
    for i in range(len(out)):
        one = slopes[k, i] + c[i] if y[i] == k else slopes[k, i]
        other = slopes[m, i] + c[i] if y[i] == m else slopes[m, i]
        out[i] = one * other / c[i] if c[i] > 0.0 else 0.0


@inner
def _search(data: Any, state: Any, move: Any, along: Any, next_z: Any, next_slopes: Any) -> float:
    """Go along the move until the slope is small and the objective has fallen: changes z, slopes
    and their value, and returns the length."""
    W, z, numbers = state.W, state.z, state.numbers
    width, n = z.shape
    penalty, first, bend = 0.0, 0.0, 0.0
    for k in range(width):
        for j in range(W.shape[1]):
            held = data.quadratic[k, j]
            penalty += 0.5 * held * W[k, j] * W[k, j]
            first += held * W[k, j] * move[k, j]
            bend += held * move[k, j] * move[k, j]
    start = numbers[2] + penalty
    low, high, length, at_low, at_high = 0.0, math.inf, 1.0, -numbers[1], math.inf
    for trial in range(_TRIALS + 1):
        if trial == _TRIALS:
            length = low
        for k in range(width):
            for i in range(n):
                next_z[k, i] = z[k, i] + length * along[k, i]
        value = _respond(data.y, data.c, next_z, next_slopes)
        slope = first + length * bend
        for k in range(width):
            for i in range(n):
                slope += next_slopes[k, i] * along[k, i]
        at = value + penalty + length * (first + 0.5 * length * bend)
        falls = at <= start + _ROUNDING * abs(at)
        if trial == _TRIALS or (falls and abs(slope) <= _SLOPE_LEFT * numbers[1]):
            _accept(state, next_z, next_slopes, value)
            return length
        if falls and slope < 0.0:
            low, at_low = length, slope
        else:
            high, at_high = length, slope if slope == slope else math.inf
        if high == math.inf:
            length *= 2.0
        elif trial % 2 == 1 or not 0.0 < at_high < math.inf:
            length = 0.5 * (low + high) if low > 0.0 else 0.1 * high
        else:
            length = low - at_low * (high - low) / (at_high - at_low)
    return 0.0


@inner
def _accept(state: Any, z: Any, slopes: Any, value: float) -> None:
    for k in range(len(z)):
        for i in range(z.shape[1]):
            state.z[k, i], state.slopes[k, i] = z[k, i], slopes[k, i]
    state.numbers[2] = value


@inner
def _balance(data: Any, state: Any, next_z: Any, next_slopes: Any) -> None:
    """Minimise over the intercepts alone, until only rounding errors are left."""
    W, z, slopes, numbers = state
    width, n = z.shape
    last = W.shape[1] - 1
    hessian, diagonal = np.empty((width, width)), np.empty(width)
    right, move, places = np.empty(width), np.empty(width), np.empty(width, np.int64)
    weights = np.empty(n)
    for _ in range(_BALANCE_STEPS):
        is_even = True
        for k in range(width):
            total, square = 0.0, 0.0
            for i in range(n):
                total += slopes[k, i]
                square += slopes[k, i] * slopes[k, i]
            right[k], diagonal[k], places[k] = -total, 0.0, k
            is_even = is_even and abs(total) <= _EVEN * n * math.sqrt(n * square)
        if is_even:
            return
        for k in range(1, width):
            for m in range(k):
                _pair_weights(data.y, data.c, slopes, k, m, weights)
                total = 0.0
                for i in range(n):
                    total += weights[i]
                hessian[k, m] = -total
                diagonal[k] += total
                diagonal[m] += total
        if not solve_on(hessian, diagonal, places, width, right, _RIDGE, move):
            return
        for k in range(width):
            for i in range(n):
                next_z[k, i] = z[k, i] + move[k]
        value = _respond(data.y, data.c, next_z, next_slopes)
        if not value <= numbers[2] * (1.0 + _ROUNDING):
            return
        _accept(state, next_z, next_slopes, value)
        for k in range(width):
            W[k, last] += move[k] / data.constant


@inner
def _centre(data: Any, state: Any) -> None:
    """Of all intercepts that predict the same, those whose mean is 0: users see them."""
    W, z = state.W, state.z
    width, n = z.shape
    last = W.shape[1] - 1
    for _ in range(_CENTRINGS):
        shift, changes = 0.0, False
        for k in range(width):
            shift += W[k, last] / width
        for k in range(width):
            changes = changes or W[k, last] - shift != W[k, last]
        if not changes:
            return
        for k in range(width):
            W[k, last] -= shift
            for i in range(n):
                z[k, i] -= data.constant * shift
