"""The dual step of the softmax loss: entropy plus a quadratic on the simplex.

    minimise Σ s_k log s_k − z·s + (q/2)‖s − s⁰‖²
    log s_k + q(s_k − s⁰_k) = z_k − ν,  Σ s_k = 1

Newton's method on log s_k and ν together, from s⁰, usually needs two or three rounds, but it does
not converge from everywhere. If it does not settle, ν is found alone: with Wright's function ω,
s_k = ω(z_k + q s⁰_k − ν + log q)/q is convex and decreasing in ν, so Newton's method from the left
cannot fail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import inf
from typing import Any

from dualgap.compile.kernels import careful
from dualgap.compile.scalar import wright_omega
from dualgap.losses._simplex import close


@dataclass(frozen=True)
class Tuning:
    """None of these was measured."""

    joint_rounds: int = 12  # Newton's method on log s and ν, before ν is found alone
    settled_move: float = 1e-8  # a relative move of log s; the error left is about its square
    multiplier_rounds: int = 200  # Newton's method on ν alone; it ends long before


TUNING = Tuning()
_JOINT_ROUNDS = TUNING.joint_rounds
_SETTLED_MOVE = TUNING.settled_move
_MULTIPLIER_ROUNDS = TUNING.multiplier_rounds


@careful
def entropy_step(a: Any, z: Any, q: float, y: int, out: Any) -> None:
    """out = e_y − s for the minimiser s; q > 0, ``a`` = e_y − s⁰."""
    top = -inf
    for k in range(len(z)):
        top = max(top, z[k])
    for k in range(len(z)):
        share = 1.0 - a[k] if k == y else -a[k]
        out[k] = math.log(share) if share > 0.0 else z[k] - top
    if not _newton(a, z, q, y, top, out):
        _multiplier(a, z, q, y, top, out)
        _newton(a, z, q, y, top, out)  # the differences s − s⁰ polish what q·s⁰ has rounded away
    total = 0.0
    for k in range(len(z)):
        out[k] = math.exp(out[k])
        total += out[k]
    for k in range(len(z)):
        out[k] /= -total
    close(y, out)


@careful
def _newton(a: Any, z: Any, q: float, y: int, top: float, logs: Any) -> bool:
    """Improve the logarithms of s in place; returns whether they settled."""
    for _ in range(_JOINT_ROUNDS):
        total, weight, lift = 0.0, 0.0, 0.0
        for k in range(len(z)):
            s = math.exp(logs[k])
            slack = logs[k] + q * (s - (1.0 - a[k] if k == y else -a[k])) - (z[k] - top)
            ratio = s / (1.0 + q * s)
            total += s
            weight += ratio
            lift += ratio * slack
        if not 0.0 < weight < inf:
            return False
        nu = (total - 1.0 - lift) / weight
        largest = 0.0
        for k in range(len(z)):
            s = math.exp(logs[k])
            slack = logs[k] + q * (s - (1.0 - a[k] if k == y else -a[k])) - (z[k] - top)
            move = -(slack + nu) / (1.0 + q * s)
            largest = max(largest, abs(move) / (1.0 + 1e-7 * (abs(logs[k]) + top - z[k])))
            logs[k] = min(logs[k] + move, 0.0)
        if largest <= _SETTLED_MOVE:
            return True
    return False


@careful
def _multiplier(a: Any, z: Any, q: float, y: int, top: float, logs: Any) -> None:
    """The logarithms of s from the root ν of Σ s_k(ν) = 1."""
    highest = -inf
    for k in range(len(z)):
        highest = max(highest, z[k] - top + q * (1.0 - a[k] if k == y else -a[k]))
    log_q = math.log(q)
    nu = highest - q  # there the largest s_k is 1, so that the sum is not below 1
    for _ in range(_MULTIPLIER_ROUNDS):
        total, fall = 0.0, 0.0
        for k in range(len(z)):
            x = z[k] - top + q * (1.0 - a[k] if k == y else -a[k]) - nu + log_q
            omega = wright_omega(x)
            total += omega / q
            fall += omega / (1.0 + omega) / q
            logs[k] = (x - omega if omega < 1.0 else math.log(omega)) - log_q
        if not 0.0 < fall < inf:
            return
        move = (total - 1.0) / fall
        if abs(move) <= 1e-15 * (1.0 + abs(nu)):
            return
        nu += move
