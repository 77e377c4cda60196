"""Dual points of block losses: a = e_y − s with s in the probability simplex.

A point is stored by the shares of the other classes, −a_k = s_k ≥ 0 for k ≠ y; then
a_y = Σ_{k≠y} s_k. In float64 that sum, and its bound 1, hold up to a relative ``LOOSE``·K·EPS:
rules work with the exactly feasible point nearby, and ``proof/block_terms.py`` charges the
difference.
"""

from __future__ import annotations

from math import inf
from typing import Any

from dualgap.compile.kernels import careful
from dualgap.compile.scalar import EPS

LOOSE = 4.0
_UNDERFLOW = 1e-300  # below it, rounding errors are no longer relative


@careful
def moved_share(a: Any, y: int) -> float:
    """Σ_{k≠y} s_k of a point that is feasible to rounding; −1 for any other."""
    share = 0.0
    for k in range(len(a)):
        if k != y:
            if not a[k] <= 0.0:
                return -1.0
            share -= a[k]
    room = LOOSE * len(a) * EPS
    if abs(a[y] - share) <= room * share + _UNDERFLOW and share <= 1.0 + room:
        return min(share, 1.0)
    return -1.0


@careful
def close(y: int, out: Any) -> None:
    """Complete a point whose entries k ≠ y are set; those may sum to 1 plus rounding errors."""
    share = 0.0
    for k in range(len(out)):
        if k != y:
            share -= out[k]
    out[y] = min(share, 1.0)


@careful
def project_dual(a: Any, y: int, out: Any) -> None:
    """out = the feasible point nearest to ``a``; ``a`` itself if it is feasible."""
    if moved_share(a, y) >= 0.0:
        out[:] = a
    else:
        project_sum(a, -1.0, a, 0.0, 0.0, y, out)


@careful
def project_sum(
    p: Any, p_factor: float, r: Any, r_factor: float, at_y: float, y: int, out: Any
) -> None:
    """out = e_y − s, s the point of the simplex nearest to e_y + ``combined``."""
    base, cut = threshold(p, p_factor, r, r_factor, at_y, y)
    for k in range(len(out)):
        out[k] = -above(combined(p, p_factor, r, r_factor, at_y, y, k), base, cut)
    close(y, out)


@careful
def above(d: float, base: float, cut: float) -> float:
    """The share of an entry, given the ``threshold``."""
    return max(d - base - cut, 0.0)


@careful
def combined(
    p: Any, p_factor: float, r: Any, r_factor: float, at_y: float, y: int, k: int
) -> float:
    """Entry k of d = p_factor·p + r_factor·r + at_y·e_y."""
    entry: float = p_factor * p[k] + r_factor * r[k]
    return entry + at_y if k == y else entry


@careful
def threshold(
    p: Any, p_factor: float, r: Any, r_factor: float, at_y: float, y: int
) -> tuple[float, float]:
    """(base, t) with s_k = max(d_k − base − t, 0), k ≠ y, for e_y + d projected on the simplex.

    Michelot's algorithm: t for all entries, then for those above it, until none drops out. The
    base, and the 1 of e_y in words and not in sums, keep small and large d from being rounded off.
    """
    own = combined(p, p_factor, r, r_factor, at_y, y, y)
    top = -inf
    for k in range(len(p)):
        top = max(top, combined(p, p_factor, r, r_factor, at_y, y, k))
    base = own if top - own <= 2.0 else top
    least = max(top - base, own - base + 1.0) - 1.0  # entries up to here have no share
    cut, before = -inf, len(p) + 1
    while True:
        total, count, with_y = 0.0, 0, False
        for k in range(len(p)):
            d = combined(p, p_factor, r, r_factor, at_y, y, k) - base
            v = d + 1.0 if k == y else d
            if v > cut and v > least:
                total += d
                count += 1
                with_y = with_y or k == y
        if count == 0 or count >= before:  # 0: not a number; more: rounding
            return base, cut
        cut, before = (total if with_y else total - 1.0) / count, count
