"""Multiclass hinge loss, as it is or smoothed."""

from __future__ import annotations

import math
from math import inf
from typing import NamedTuple

from dualgap.compile.rules import dual_step_into
from dualgap.linalg.validate import positive
from dualgap.losses._simplex import (
    above,
    combined,
    moved_share,
    project_dual,
    project_sum,
    threshold,
)


class MulticlassHinge(NamedTuple):
    """Crammer and Singer's max_k (z_k − z_y + [k ≠ y]), with its kinks rounded over a width γ ≥ 0.

    φ(z; y) = max_s Σ_{k≠y} s_k(z_k − z_y + 1) − (γ/2)‖s − e_y‖² over the probability simplex.
    """

    gamma: float = 1.0

    targets = "classes"
    lipschitz = math.sqrt(2.0)

    def checked(self) -> MulticlassHinge:
        if self.gamma == 0.0:
            return MulticlassHinge(0.0)
        return MulticlassHinge(positive(self.gamma, "gamma"))

    def value(self, z, y):
        own = int(y)
        if self.gamma == 0.0:
            top = 0.0
            for k in range(len(z)):
                if k != own:
                    top = max(top, z[k] - z[own] + 1.0)
            return top
        scale = 1.0 / self.gamma
        base, cut = threshold(z, scale, z, 0.0, -scale, own)
        total, share = 0.0, 0.0
        for k in range(len(z)):
            if k != own:
                s = above(combined(z, scale, z, 0.0, -scale, own, k), base, cut)
                total += s * (z[k] - z[own] + 1.0 - 0.5 * self.gamma * s)
                share += s
        return max(total - 0.5 * self.gamma * share * share, 0.0)

    def slope_into(self, z, y, out):
        dual_step_into(self, z, z, 0.0, y, out)
        for k in range(len(z)):
            out[k] = -out[k]

    def hessian_weights(self, shares, c):
        """h of all samples, where ∇²cφ = diag(h) − hhᵀ/Σh and ∇cφ = s − ce_y, for shares s."""
        return (shares > 0.0) * (c / self.gamma)

    def conj(self, a, y):
        share = moved_share(a, int(y))
        if share < 0.0:
            return inf
        squares = share * share
        for k in range(len(a)):
            if k != int(y):
                squares += a[k] * a[k]
        return 0.5 * self.gamma * squares - share

    def project_into(self, a, y, out):
        project_dual(a, int(y), out)

    def dual_step_into(self, a, z, q, y, out):
        if self.gamma + q == 0.0:  # all shares to the largest
            best = int(y)
            for k in range(len(z)):
                if k != int(y) and z[k] + 1.0 > (z[best] + 1.0 if best != int(y) else z[best]):
                    best = k
                out[k] = 0.0
            if best != int(y):
                out[best], out[int(y)] = -1.0, 1.0
            return
        # s is the projection of e_y + (z − e_y − q a)/(q + γ).
        scale = 1.0 / (self.gamma + q)
        project_sum(z, scale, a, -q * scale, -scale, int(y), out)
