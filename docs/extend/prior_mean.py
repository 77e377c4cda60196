"""Shrink towards coefficients that are known from elsewhere instead of towards zero."""

from math import inf
from typing import Any, NamedTuple

from dualgap.extend import finite_vector


class PriorMean(NamedTuple):
    """g(w) = ½‖w − mean‖²."""

    mean: Any

    def checked(self, d):
        return PriorMean(finite_vector(self.mean, "mean", d))

    def value(self, w, j):
        return 0.5 * (w - self.mean[j]) ** 2

    def conj(self, u, j):
        """g*(u) = max_w u w − g(w)."""
        return u * self.mean[j] + 0.5 * u * u

    def conj_slope(self, u, near, j):
        """The w of that maximum; if there are several, the one closest to ``near``."""
        return self.mean[j] + u

    def conj_size(self, u, j):
        """What cancels inside g*(u): its two terms can have different signs."""
        return abs(u * self.mean[j]) + 0.5 * u * u

    def prox(self, u, t, j):
        """argmin_w ½(w − u)² + t g(w)."""
        return (u + t * self.mean[j]) / (1.0 + t)

    def domain(self, j):
        """Where g* is finite."""
        return -inf, inf

    def strength(self, j):
        """How strongly convex g is: 0 if it is not."""
        return 1.0
