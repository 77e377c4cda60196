"""L2 penalty."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from dualgap.compile.powers import affine_steps
from dualgap.penalties.structure import ElasticForm, declares


@declares(uniform=True, half_square=True, elastic_form=ElasticForm(l1=0.0, l2=1.0))
class L2(NamedTuple):
    """g(w) = ½‖w‖²."""

    def value(self, w, j):
        return 0.5 * w * w

    def conj(self, u, j):
        return 0.5 * u * u

    def conj_slope(self, u, near, j):
        return u

    def prox(self, u, t, j):
        return u / (1.0 + t)

    def glide(self, x, scale, shift, t, k, j, decay):
        return affine_steps(x, ((1.0 - scale) + t) / (1.0 + t), shift / (1.0 + t), k, decay)

    def domain(self, j):
        return -inf, inf

    def strength(self, j):
        return 1.0
