"""The dual view of one of several partitions, which all add what they find to u.

Feature j occurs in n_j partitions. As g_j* is convex,
    g_j*(u_j + Σ_k Δ_kj) ≤ (1/n_j) Σ_k g_j*(u_j + n_j Δ_kj),
so that partitions gain at least what each of them sees if it takes its own Δ_j for n_j times as
large as it is. With n_j = K for all features that is the safe aggregation of CoCoA+ (Ma et al.
2015); rare features are in fewer partitions, and may move further.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dualgap.compile.rules import conj_slope


class SharedConjugate(NamedTuple):
    """F of the dual view, per feature and divided by λ, for v = Δ of this partition."""

    penalty: Any
    u: Any
    share: Any

    def gradient(self, k, v):
        return conj_slope(self.penalty, self.u[k] + self.share[k] * v, 0.0, k)

    def quadratic_bound(self):
        return True

    def search(self, matrix, separable, i, x, v, q):
        return x, 0  # never asked for
