"""The group lasso: features enter a model together."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.scalar import length
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, number, real_array
from dualgap.penalties.partition import Partition, check_groups


class GroupLasso(NamedTuple):
    """g(w) = Σ_k ω_k (ρ‖w_k‖ + ½(1 − ρ)‖w_k‖²), where w_k are the coefficients of group k.

    ``groups`` is the size of all groups, a list of sizes, or a list of lists of feature indices.
    ``weights`` are the ω_k, 1 if not given; 0 leaves a group without a penalty. ρ = ``l1_ratio``.
    ``positive`` allows coefficients ≥ 0 alone. Under several targets or classes, group k has the
    coefficients of its features for all of them: with ``groups=1`` these are the rows of a matrix.
    """

    groups: Any
    weights: Any = None
    l1_ratio: float = 1.0
    positive: bool = False

    def checked(self, d: int) -> GroupLasso:
        groups = check_groups(self.groups, d)
        weights = check_weights(self.weights, groups.n_groups, "weights", "groups")
        if self.positive and not weights.all():
            raise ValueError(
                "weights: a group of weight 0 cannot be bounded on one side, as positive=True asks"
            )
        ratio = number(self.l1_ratio, "l1_ratio", 0.0, 1.0)
        return GroupLasso(groups, weights, ratio, bool(self.positive))

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0 if self.positive else -inf), inf

    def on_features(self, features: Any) -> GroupLasso:
        return self._replace(groups=self.groups.on_features(features))

    def value(self, w, k):
        for i in range(len(w)):
            if self.positive and w[i] < 0.0:
                return inf
        size = length(w)
        return self.weights[k] * size * (self.l1_ratio + 0.5 * (1.0 - self.l1_ratio) * size)

    def conj(self, u, k):
        v = np.empty(len(u))
        for i in range(len(u)):
            v[i] = max(u[i], 0.0) if self.positive else u[i]
        excess = length(v) - self.weights[k] * self.l1_ratio
        if excess <= 0.0:
            return 0.0
        mu = self.weights[k] * (1.0 - self.l1_ratio)
        return excess * excess / (2.0 * mu) if mu > 0.0 else inf

    def conj_slope_into(self, u, k, out):
        mu = self.weights[k] * (1.0 - self.l1_ratio)
        for i in range(len(u)):
            out[i] = max(u[i], 0.0) if self.positive else u[i]
        size = length(out)
        factor = 0.0
        if mu > 0.0 and size > 0.0:
            factor = max(1.0 - self.weights[k] * self.l1_ratio / size, 0.0) / mu
        for i in range(len(u)):
            out[i] *= factor

    def prox_into(self, u, t, k, out):
        for i in range(len(u)):
            out[i] = max(u[i], 0.0) if self.positive else u[i]
        size = length(out)
        pull = t * self.weights[k]
        factor = max(1.0 - pull * self.l1_ratio / size, 0.0) if size > 0.0 else 0.0
        factor /= 1.0 + pull * (1.0 - self.l1_ratio)
        for i in range(len(u)):
            out[i] *= factor

    def gauge(self, u, k):
        v = np.empty(len(u))
        for i in range(len(u)):
            v[i] = max(u[i], 0.0) if self.positive else u[i]
        size, radius = length(v), self.weights[k] * self.l1_ratio
        if size == 0.0:
            return 0.0
        return size / radius if radius > 0.0 else inf

    def smooth_into(self, w, k, slope, bend):
        size = length(w)
        if size == 0.0:
            return False
        pull = self.weights[k] * self.l1_ratio / size
        mu = self.weights[k] * (1.0 - self.l1_ratio)
        for i in range(len(w)):
            slope[i] = (pull + mu) * w[i]
            for j in range(len(w)):
                bend[i, j] = -pull * (w[i] / size) * (w[j] / size)
            bend[i, i] += pull + mu
        return True

    def strength(self, k):
        return self.weights[k] * (1.0 - self.l1_ratio)


def check_weights(weights: Any, count: int, name: str, of: str) -> Floats:
    """A weight for each of ``count`` groups or features, as kernels read them; 1 if not given."""
    if weights is None:
        return storage.read_only(np.ones(count))
    found = real_array(weights, name).astype(np.float64)
    if found.shape != (count,):
        raise ValueError(f"{name} must have one entry for each of the {count} {of}")
    if not ((found >= 0.0) & (found < inf)).all():
        raise ValueError(f"{name} must be finite numbers >= 0")
    return storage.read_only(found)


__all__ = ["GroupLasso", "Partition", "check_weights"]
