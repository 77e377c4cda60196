"""Dual points of block losses: a = e_y − s with s in the probability simplex.

A point is stored by what it takes from the other classes, −a_k = s_k ≥ 0 for k ≠ y; then
a_y = Σ_{k≠y} s_k. In float64 that sum, and that it is at most 1, hold up to a relative ``LOOSE``·K·EPS:
rules work with the exactly feasible point so close by, and ``block_terms`` charges the difference.
"""

from __future__ import annotations

from math import inf

from dualgap._compile import helper
from dualgap._scalar import EPS

LOOSE = 4.0
_TINIEST = 1e-300  # where rounding errors are no longer relative


@helper
def moved_share(a, y):
    """Σ_{k≠y} s_k of a point that is feasible to rounding; −1 for any other."""
    share = 0.0
    for k in range(len(a)):
        if k != y:
            if not a[k] <= 0.0:
                return -1.0
            share -= a[k]
    room = LOOSE * len(a) * EPS
    if abs(a[y] - share) <= room * share + _TINIEST and share <= 1.0 + room:
        return min(share, 1.0)
    return -1.0


@helper
def close(y, out):
    """Complete a point whose entries k ≠ y are set; those may sum to 1 plus rounding errors."""
    share = 0.0
    for k in range(len(out)):
        if k != y:
            share -= out[k]
    out[y] = min(share, 1.0)


@helper
def project_dual(a, y, out):
    """out = the feasible point nearest to ``a``; ``a`` itself if it is feasible."""
    if moved_share(a, y) >= 0.0:
        out[:] = a
        return
    top, cut = threshold(a, -1.0, a, 0.0, 1.0, y)
    for k in range(len(a)):
        out[k] = -max(combined(a, -1.0, a, 0.0, 1.0, y, k) - top - cut, 0.0)
    close(y, out)


@helper
def combined(p, p_factor, r, r_factor, at_y, y, k):
    """Entry k of v = p_factor·p + r_factor·r + at_y·e_y."""
    entry = p_factor * p[k] + r_factor * r[k]
    return entry + at_y if k == y else entry


@helper
def threshold(p, p_factor, r, r_factor, at_y, y):
    """The top of v = ``combined`` and the t for which max(v − top − t, 0) is v projected on the simplex.

    Michelot's algorithm: t for all entries, then for those above it, until none drops out. Entries
    count from the top, so that large ones do not hide small differences.
    """
    top = -inf
    for k in range(len(p)):
        top = max(top, combined(p, p_factor, r, r_factor, at_y, y, k))
    cut, before = -inf, 0
    while True:
        total, count = 0.0, 0
        for k in range(len(p)):
            below = combined(p, p_factor, r, r_factor, at_y, y, k) - top
            if below > cut and below > -1.0:
                total += below
                count += 1
        if count in (0, before):  # 0: not a number
            return top, cut
        cut, before = (total - 1.0) / count, count
