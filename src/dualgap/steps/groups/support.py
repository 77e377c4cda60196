"""Newton steps of a model on the coefficients that are not 0, over the columns of a dense set.

There the penalty is smooth. With C the columns of these coefficients, scaled by the roots of the
curvatures h, and D the second derivatives of the penalty, the system is CCᵀ + D; with more
coefficients than samples it becomes one of the samples, I + CᵀD⁻¹C (Woodbury).

The norm of a block is linear along its ray and bends less, the farther it is followed, so D is
singular and promises too much. A share of its curvature across the ray is therefore added to all
directions: all of it gives an upper bound of the norm, and the share falls while steps succeed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import linalg

from dualgap.compile.group_rules import smooth_into
from dualgap.compile.kernels import kernel
from dualgap.linalg.validate import Floats
from dualgap.steps.groups.gram_blocks import penalty_of
from dualgap.steps.groups.tuning import TUNING


@kernel
def bends(blocks: Any, ids: Any, places: Any, x: Any, slope: Any, starts: Any, out: Any) -> bool:
    """The derivatives of the penalty for each block, whose second ones begin at ``starts``; False
    if it does not know them."""
    for t in range(len(ids)):
        first, last = places[t], places[t + 1]
        own = out[starts[t] : starts[t + 1]].reshape(last - first, last - first)
        if not smooth_into(blocks, x[first:last], ids[t], slope[first:last], own):
            return False
    return True


def step(run: Any, share: float, q: Floats, h: Floats, r: Floats, x: Floats) -> float | None:
    """Change x and the slopes r by a Newton step, as far as it decreases the model.

    ``q`` are curvatures of the blocks, ``share`` is that of the curvature across rays. Returns the
    length of the step, 1 being all the way; None if steps are not possible.
    """
    blocks, lam, model = run.blocks, run.problem.lam, run.model
    free = model.ids >= blocks.penalised
    used = (np.logical_or.reduceat(x != 0.0, model.places[:-1]) | free) & (q > 0.0)
    which = np.flatnonzero(np.repeat(used, np.diff(model.places)))
    if not 0 < len(which) * run.problem.n <= TUNING.copied_entries:
        return None
    ids, own, sizes = model.ids[used], x[which], np.diff(model.places)[used]
    places, starts = (np.concatenate([[0], np.cumsum(v)]) for v in (sizes, sizes * sizes))
    slope, bend = np.empty(len(own)), np.empty(starts[-1])
    if not bends(blocks, ids, places, own, slope, starts, bend):
        return None
    moving = (own != 0.0) | np.repeat(free[used], sizes)
    columns = run.columns.of(run.set[which], slice(None)) * moving[:, None]
    right = -(columns @ r + lam * slope * moving)
    try:
        factors = _factors(lam * bend, places, starts, share, TUNING.damping * q[used], moving)
        move = _solved(columns * np.sqrt(h), factors, right)
    except np.linalg.LinAlgError:  # rounding errors: some features can nearly replace others
        return 0.0
    before, length = penalty_of(blocks, ids, places, own), 1.0
    for _ in range(TUNING.newton_cuts):
        trial = own + length * move
        # A block that would pass 0 ends there.
        turned = (np.add.reduceat(trial * own, places[:-1]) <= 0.0) & ~free[used]
        trial[np.repeat(turned, sizes)] = 0.0
        along = (trial - own) @ columns
        rise = lam * (penalty_of(blocks, ids, places, trial) - before)
        if along @ (r + 0.5 * h * along) + rise <= 0.0:
            x[which] = trial
            r += h * along
            return length
        length *= 0.25
    return 0.0


def sweeps_instead(n: int, x: Floats) -> int:
    """The sweeps over columns that take as long as a Newton step at x."""
    size = max(int(np.count_nonzero(x)), 1)
    less, more = min(n, size), max(n, size)
    products = less * less * (0.5 * more + less / 3.0)
    return int(products / (TUNING.column_solve_speed * n * size))


def curvatures(
    columns: Any, features: Any, places: Any, h: Floats, least: Floats, out: Floats
) -> None:
    """The largest eigenvalue of X_kᵀHX_k for each block, at least the ``least`` of its features."""
    roots = np.sqrt(h)
    for these, at in _by_size(places):
        count = max(TUNING.copied_entries // (len(h) * at.shape[1]), 1)
        for first in range(0, len(these), count):
            some = slice(first, first + count)
            own = columns.of(features[at[some]].ravel(), slice(None)) * roots
            own = own.reshape(-1, at.shape[1], len(h))
            found = np.linalg.eigvalsh(own @ own.transpose(0, 2, 1))[:, -1]
            out[these[some]] = np.maximum(found, least[at[some]].max(axis=1))


def _by_size(places: Any) -> Iterator[tuple[Any, Any]]:
    """Blocks of the same size, which NumPy treats at once: which they are, and their features."""
    sizes = np.diff(places)
    for size in np.unique(sizes):
        these = np.flatnonzero(sizes == size)
        yield these, places[these][:, None] + np.arange(size)


def _factors(
    bend: Floats, places: Any, starts: Any, share: float, damping: Floats, moving: Any
) -> list[Any]:
    """L⁻¹ for D = LLᵀ, block by block: features of the blocks of a size, and their factors."""
    found = []
    for these, at in _by_size(places):
        size = at.shape[1]
        own = bend[starts[these][:, None] + np.arange(size * size)].reshape(-1, size, size)
        stays = ~moving[at]
        own[stays[:, :, None] | stays[:, None, :]] = 0.0
        diagonal = np.einsum("kii->ki", own)
        across = diagonal.sum(axis=1) / max(size - 1, 1)
        diagonal += np.where(stays, 1.0, (share * across + damping[these])[:, None])
        found.append((at, np.linalg.inv(np.linalg.cholesky(own))))
    return found


def _solved(columns: Floats, factors: list[Any], right: Floats) -> Floats:
    """(CCᵀ + LLᵀ)⁻¹ of the right-hand side, by I + BBᵀ or I + BᵀB, where B = L⁻¹C."""
    scaled, b, found = np.empty_like(columns), np.empty_like(right), np.empty_like(right)
    for at, inverse in factors:
        scaled[at] = inverse @ columns[at]
        b[at] = np.einsum("kij,kj->ki", inverse, right[at])
    by_samples = len(scaled) > scaled.shape[1]
    system = scaled.T @ scaled if by_samples else scaled @ scaled.T
    system.flat[:: len(system) + 1] += 1.0
    factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    if by_samples:
        b -= scaled @ linalg.cho_solve(factor, b @ scaled, check_finite=False)
    else:
        b = linalg.cho_solve(factor, b, check_finite=False)
    for at, inverse in factors:
        found[at] = np.einsum("kji,kj->ki", inverse, b[at])
    return found
