"""Softmax loss: multinomial logistic regression."""

from __future__ import annotations

import math
from math import inf
from typing import NamedTuple

from dualgap.compile.rules import slope_into
from dualgap.compile.scalar import xlogx
from dualgap.losses._entropy import entropy_step
from dualgap.losses._simplex import close, moved_share, project_dual

_LEAST_CURVATURE = 1e-17  # a smaller q is lost in rounding beside the curvature of the entropy


class Softmax(NamedTuple):
    """φ(z; y) = log Σ_k exp(z_k − z_y), one z for each class."""

    targets = "classes"
    gamma = 2.0  # no eigenvalue of diag(s) − ssᵀ exceeds ½
    lipschitz = math.sqrt(2.0)
    likelihood = "exact"

    def value(self, z, y):
        own = z[int(y)]
        top = own
        for k in range(len(z)):
            top = max(top, z[k])
        rest = 0.0
        for k in range(len(z)):
            if k != int(y):
                rest += math.exp(z[k] - top)
        if top == own:
            return math.log1p(rest)
        return top - own + math.log(rest + math.exp(own - top))

    def slope_into(self, z, y, out):
        top = -inf
        for k in range(len(z)):
            top = max(top, z[k])
        total = 0.0
        for k in range(len(z)):
            out[k] = math.exp(z[k] - top)
            total += out[k]
        for k in range(len(z)):
            out[k] /= -total
        close(int(y), out)
        for k in range(len(z)):
            out[k] = -out[k]

    def hessian_entries(self, a, y, k, m):
        """Entry (k, m) of ∇²φ for all samples, where a = −∇φ(z): s_k(δ_km − s_m), s = e_y − a."""
        return ((y == k) - a[:, k]) * (float(k == m) - (y == m) + a[:, m])

    def hessian_weights(self, shares, c):
        """h of all samples, where ∇²cφ = diag(h) − hhᵀ/Σh and ∇cφ = s − ce_y: the shares s."""
        return shares

    def conj(self, a, y):
        share = moved_share(a, int(y))
        if share < 0.0:
            return inf
        total = (1.0 - share) * math.log1p(-share) if share < 1.0 else 0.0
        for k in range(len(a)):
            if k != int(y):
                total += xlogx(-a[k])
        return total

    def project_into(self, a, y, out):
        project_dual(a, int(y), out)

    def dual_step_into(self, a, z, q, y, out):
        if q > _LEAST_CURVATURE:
            entropy_step(a, z, q, int(y), out)
        else:
            slope_into(self, z, y, out)
            for k in range(len(z)):
                out[k] = -out[k]
