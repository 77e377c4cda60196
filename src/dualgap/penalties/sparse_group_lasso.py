"""The sparse group lasso: few groups, and in these few features."""

from __future__ import annotations

import math
from math import inf
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.group_rules import ALMOST_ONE, gauge
from dualgap.compile.kernels import helper
from dualgap.compile.scalar import EPS, length, soft
from dualgap.linalg.validate import number
from dualgap.penalties.group_lasso import check_weights
from dualgap.penalties.partition import check_groups

_GAUGE_STEPS = 100  # Newton steps; from below they need as many as there are pieces, mostly 5


class SparseGroupLasso(NamedTuple):
    """g(w) = ρ(τ Σ_j v_j|w_j| + (1 − τ) Σ_k ω_k‖w_k‖) + ½(1 − ρ) Σ_k ω_k‖w_k‖².

    τ = ``tau`` is the share of L1, ρ = ``l1_ratio`` that of both norms. ``weights`` are the ω_k of
    groups, ``feature_weights`` the v_j of features: 1 if not given, 0 for no penalty. ``groups``
    and ``positive`` are those of ``GroupLasso``.
    """

    groups: Any
    tau: float = 0.5
    weights: Any = None
    l1_ratio: float = 1.0
    positive: bool = False
    feature_weights: Any = None

    def checked(self, d: int) -> SparseGroupLasso:
        groups = check_groups(self.groups, d)
        tau = number(self.tau, "tau", 0.0, 1.0)
        ratio = number(self.l1_ratio, "l1_ratio", 0.0, 1.0)
        weights = check_weights(self.weights, groups.n_groups, "weights", "groups")
        features = check_weights(self.feature_weights, d, "feature_weights", "features")
        # Without a norm of the group, each of its features needs a penalty of its own, or none.
        joint = (1.0 - ratio * tau) * weights[groups.labels] > 0.0
        own = ratio * tau * features > 0.0
        mixed = np.zeros(groups.n_groups, bool)
        np.logical_or.at(mixed, groups.labels[own], True)
        half_free = mixed[groups.labels] & ~own & ~joint
        if half_free.any():
            j = int(np.flatnonzero(half_free)[0])
            raise ValueError(
                f"feature_weights: feature {j} has no penalty, but others of its group have: put "
                "it into a group of its own, with weight 0"
            )
        if self.positive and not (joint | own).all():
            raise ValueError(
                "weights: a feature without a penalty cannot be bounded on one side, as "
                "positive=True asks"
            )
        return SparseGroupLasso(groups, tau, weights, ratio, bool(self.positive), features)

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0 if self.positive else -inf), inf

    def on_features(self, features: Any) -> SparseGroupLasso:
        groups = self.groups.on_features(features)
        return self._replace(groups=groups, feature_weights=self.feature_weights[features])

    def value(self, w, k):
        width, total = _width(self, len(w), k), 0.0
        for i in range(len(w)):
            if self.positive and w[i] < 0.0:
                return inf
            total += _own(self, k, i, width) * abs(w[i])
        size = length(w)
        square = 0.5 * (1.0 - self.l1_ratio) * self.weights[k] * size * size
        return total + _edge(self, k) * size + square

    def conj(self, u, k):
        v = np.empty(len(u))
        _soft_into(self, u, 1.0, k, v)
        excess = length(v) - _edge(self, k)
        if excess <= 0.0:
            return 0.0
        mu = self.weights[k] * (1.0 - self.l1_ratio)
        return excess * excess / (2.0 * mu) if mu > 0.0 else inf

    def conj_slope_into(self, u, k, out):
        mu = self.weights[k] * (1.0 - self.l1_ratio)
        _soft_into(self, u, 1.0, k, out)
        size, factor = length(out), 0.0
        if mu > 0.0 and size > 0.0:
            factor = max(1.0 - _edge(self, k) / size, 0.0) / mu
        for i in range(len(u)):
            out[i] *= factor

    def prox_into(self, u, t, k, out):
        _soft_into(self, u, t, k, out)
        size = length(out)
        factor = max(1.0 - t * _edge(self, k) / size, 0.0) if size > 0.0 else 0.0
        factor /= 1.0 + t * self.weights[k] * (1.0 - self.l1_ratio)
        for i in range(len(u)):
            out[i] *= factor

    def gauge(self, u, k):
        # The root of ‖soft(u, t·l1)‖ − t·edge. It is convex in t and falls, so that Newton steps
        # from 0 stay below.
        v, width, edge, t = np.empty(len(u)), _width(self, len(u), k), _edge(self, k), 0.0
        for _ in range(_GAUGE_STEPS):
            _soft_into(self, u, t, k, v)
            size = length(v)
            if size <= t * edge:
                break
            fall = edge
            for i in range(len(u)):
                fall += _own(self, k, i, width) * (abs(v[i]) / size)
            if fall == 0.0:
                return inf
            further = t + (size - t * edge) / fall
            if further <= t * (1.0 + 2.0 * EPS):
                break
            t = further
        return t * (1.0 + 16.0 * EPS)

    def zeros_into(self, u, error, k, out):
        width = _width(self, len(u), k)
        whole = gauge(self, u, k) + gauge(self, error, k) < ALMOST_ONE
        for i in range(len(u)):
            size = max(u[i], 0.0) if self.positive else abs(u[i])
            out[i] = whole or size + error[i] < ALMOST_ONE * _own(self, k, i, width)

    def smooth_into(self, w, k, slope, bend):
        size, width = length(w), _width(self, len(w), k)
        if size == 0.0:
            return False
        pull, mu = _edge(self, k) / size, self.weights[k] * (1.0 - self.l1_ratio)
        for i in range(len(w)):
            slope[i] = (pull + mu) * w[i] + math.copysign(_own(self, k, i, width), w[i])
            for j in range(len(w)):
                bend[i, j] = -pull * (w[i] / size) * (w[j] / size)
            bend[i, i] += pull + mu
        return True

    def strength(self, k):
        return self.weights[k] * (1.0 - self.l1_ratio)


@helper
def _width(penalty: Any, entries: int, k: int) -> int:
    """The number of coefficients of each feature."""
    return int(entries // max(penalty.groups.starts[k + 1] - penalty.groups.starts[k], 1))


@helper
def _own(penalty: Any, k: int, i: int, width: int) -> float:
    """The L1 part of entry i of group k."""
    place = i if width == 1 else i // width
    j = penalty.groups.order[penalty.groups.starts[k] + place]
    return float(penalty.l1_ratio * penalty.tau * penalty.feature_weights[j])


@helper
def _edge(penalty: Any, k: int) -> float:
    """The factor of the norm of group k."""
    return float(penalty.l1_ratio * (1.0 - penalty.tau) * penalty.weights[k])


@helper
def _soft_into(penalty: Any, u: Any, t: float, k: int, out: Any) -> None:
    """out = soft(u, t·l1); with ``positive`` without what is negative."""
    width = _width(penalty, len(u), k)
    for i in range(len(u)):
        cut = soft(u[i], t * _own(penalty, k, i, width))
        out[i] = max(cut, 0.0) if penalty.positive else cut
