"""A penalty on groups, as certificates and steps see it: on all coefficients, in blocks.

With K coefficients for each feature, one for each target or class, block k has those of all
features of group k, feature by feature. A free intercept is a block of its own, without a penalty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.group_rules import (
    conj_slope_into,
    gauge,
    prox_into,
    smooth_into,
    zeros_into,
)
from dualgap.compile.rules import conj, strength
from dualgap.compile.rules import value as value_of
from dualgap.linalg import storage

RULES = ("value", "conj", "prox_into", "conj_slope_into", "gauge", "strength")


class Blocks(NamedTuple):
    """``base`` on the first ``penalised`` blocks. Block k has the coefficients of the features
    order[starts[k]], ..., ``width`` for each."""

    base: Any
    order: Any
    starts: Any
    penalised: int
    width: int

    def checked(self, d: int) -> Blocks:
        return self

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return len(self.starts) - 1

    def sorted(self, v: Any) -> Any:
        """Numbers of all coefficients, block by block."""
        return v.reshape(-1, self.width)[self.order].ravel()

    def unsorted(self, v: Any) -> Any:
        """The reverse."""
        out = np.empty((len(self.order), self.width), v.dtype)
        out[self.order] = v.reshape(-1, self.width)
        return out.ravel()

    def value(self, w, k):
        return value_of(self.base, w, k) if k < self.penalised else 0.0

    def conj(self, u, k):
        if k < self.penalised:
            return conj(self.base, u, k)
        total = 0.0
        for i in range(len(u)):
            total += abs(u[i])
        return 0.0 if total == 0.0 else np.inf

    def conj_slope_into(self, u, k, out):
        if k < self.penalised:
            conj_slope_into(self.base, u, k, out)
        else:
            out[:] = 0.0

    def prox_into(self, u, t, k, out):
        if k < self.penalised:
            prox_into(self.base, u, t, k, out)
        else:
            for i in range(len(u)):
                out[i] = u[i]

    def gauge(self, u, k):
        if k < self.penalised:
            return gauge(self.base, u, k)
        total = 0.0
        for i in range(len(u)):
            total += abs(u[i])
        return 0.0 if total == 0.0 else np.inf

    def zeros_into(self, u, error, k, out):
        if k < self.penalised:
            zeros_into(self.base, u, error, k, out)
        else:
            out[:] = False

    def smooth_into(self, w, k, slope, bend):
        if k < self.penalised:
            return smooth_into(self.base, w, k, slope, bend)
        slope[:] = 0.0
        bend[:] = 0.0
        return True

    def strength(self, k):
        return strength(self.base, k) if k < self.penalised else 0.0


def blocks_of(penalty: Any, constant: float | None, width: int) -> Blocks:
    """A checked penalty on groups of features as one on all coefficients, with a constant feature
    of weight ``constant``, unless that is None."""
    if constant:
        raise ValueError(
            "intercept: a penalty on groups leaves the intercept alone: use intercept=True, not "
            '"penalised"'
        )
    order, starts = penalty.groups
    count = len(starts) - 1
    if constant is not None:
        order, starts = np.append(order, len(order)), np.append(starts, len(order) + 1)
    order, starts = (storage.read_only(np.array(v, np.int64)) for v in (order, starts))
    return Blocks(penalty, order, starts, count, width)
