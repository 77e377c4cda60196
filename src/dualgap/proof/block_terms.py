"""The sums of ``terms.py`` over samples for block losses: z and a are flat, K entries per sample.

The certificate is that of the exact dual point whose entries k ≠ y are the stored ones and add up
to a_y exactly (``losses/_simplex.py``). Its entries differ from the stored ones by a relative
LOOSE·K·EPS.
"""

from __future__ import annotations

import math
from math import inf
from typing import Any

import numpy as np

from dualgap.compile.kernels import helper, kernel, ordered_kernel
from dualgap.compile.rules import conj, dual_step_into, offset_size, project_into, slope_into, value
from dualgap.compile.scalar import EPS
from dualgap.linalg.exact import added
from dualgap.losses._simplex import LOOSE

PER_TERM = 16.0  # bounds the rounding of a term and of its sums in EPS: 32 operations of EPS/2
CHUNK = 8  # terms added up in float64; the sums of chunks are added up in twice the precision
BATCH = 256  # terms computed at a time, by loops with vector instructions, before they are added up


def sample_terms(loss: Any, multiplied: bool, *args: Any) -> Any:
    """The sums of one piece; ``z_error`` bounds the Euclidean norm of each block's error."""
    return _sample_terms(loss, float(loss.gamma), float(loss.lipschitz), *args)


@ordered_kernel
def _sample_terms(
    loss: Any,
    gamma: float,
    lipschitz: float,
    y: Any,
    c: Any,
    z: Any,
    a: Any,
    z_error: Any,
    parts: Any,
    per_term: float,
) -> Any:
    values, conjs, gap = (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)
    width = len(z) // len(y)
    slope = np.empty(width)
    primal_error, gap_error, dual_error = 0.0, 0.0, 0.0
    for i in range(len(y)):
        if c[i] == 0.0:
            if len(parts):
                parts[i] = 0.0
            continue
        z_i, a_i = z[i * width : (i + 1) * width], a[i * width : (i + 1) * width]
        loss_value = value(loss, z_i, y[i])
        loss_conj = conj(loss, a_i, y[i])
        dot, dot_size = _product(a_i, z_i, int(y[i].real))
        values = added(*values, c[i] * loss_value)
        conjs = added(*conjs, c[i] * loss_conj)
        part = c[i] * (loss_value + loss_conj + dot)
        part = max(part, 0.0) if part == part else inf
        gap = added(*gap, part)
        if len(parts):
            parts[i] = part
        if len(z_error):
            offset = 2.0 * offset_size(loss, y[i])
            reach = 1.0 + _norm(z_i) + offset  # 1: margins
            error = z_error[i] + EPS * reach
            slope_into(loss, z_i, y[i], slope)
            change = error / gamma if gamma > 0.0 else inf
            steep = min(_norm(slope) + change, lipschitz)
            for k in range(width):
                slope[k] += a_i[k]
            tilt = min(_norm(slope) + change, _norm(a_i) + lipschitz)
            dual_size = abs(loss_conj) + _sway(a_i, int(y[i].real))
            if offset > 0.0:
                dual_size += 2.0 * offset * _size(a_i)
            z_size = abs(loss_value) + steep * reach
            unit = (per_term + LOOSE * width) * EPS
            primal_error += c[i] * (unit * z_size + steep * error)
            gap_error += c[i] * (unit * (z_size + dual_size + dot_size) + tilt * error)
            dual_error += c[i] * unit * dual_size
    sums = values[0] + values[1], conjs[0] + conjs[1], gap[0] + gap[1]
    return *sums, primal_error, gap_error, dual_error


@helper
def _product(a: Any, z: Any, y: int) -> tuple[float, float]:
    """a·z of the exactly feasible point, and the sum of the sizes of its terms."""
    total = 0.0
    size = 0.0
    for k in range(len(z)):
        if k != y:
            total += a[k] * (z[k] - z[y])
            size -= a[k] * abs(z[k] - z[y])
    return total, size


@helper
def _sway(a: Any, y: int) -> float:
    """A bound on the change of a conjugate, relative to a change of all shares, if it is no steeper
    than the entropy. The derivative 1 + log s is unbounded at 0: the share of y counts as EPS."""
    share: float = min(max(a[y], 0.0), 1.0)
    left = max(1.0 - share, EPS)
    total: float = share * (2.0 - math.log(left))
    for k in range(len(a)):
        if k != y and a[k] < 0.0:
            total -= a[k] * (1.0 + abs(math.log(-a[k])))
    return total


@helper
def _size(x: Any) -> float:
    total = 0.0
    for k in range(len(x)):
        total += abs(x[k])
    return total


@helper
def _norm(x: Any) -> float:
    total = 0.0
    for k in range(len(x)):
        total += x[k] * x[k]
    return math.sqrt(total)


@kernel
def slopes(loss: Any, y: Any, z: Any, out: Any) -> None:
    """out = −∇φ(z), which is a feasible dual point for any z."""
    width = len(z) // len(y)
    negative = np.empty(width)
    for i in range(len(y)):
        slope_into(loss, z[i * width : (i + 1) * width], y[i], negative)
        for k in range(width):
            negative[k] = -negative[k]
        project_into(loss, negative, y[i], out[i * width : (i + 1) * width])


@kernel
def projections(loss: Any, y: Any, a: Any, out: Any) -> None:
    """out = the feasible dual point nearest to ``a``."""
    width = len(a) // len(y)
    for i in range(len(y)):
        one = slice(i * width, (i + 1) * width)
        project_into(loss, a[one], y[i], out[one])


@kernel
def residues(loss: Any, y: Any, c: Any, z: Any, a: Any, out: Any) -> None:
    """out = the Euclidean distance of ``a`` from −∇φ(z)."""
    width = len(z) // len(y)
    best = np.empty(width)
    for i in range(len(y)):
        out[i] = 0.0
        if c[i] > 0.0:
            one = slice(i * width, (i + 1) * width)
            dual_step_into(loss, a[one], z[one], 0.0, y[i], best)
            for k in range(width):
                best[k] -= a[one][k]
            out[i] = _norm(best)
