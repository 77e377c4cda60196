"""The objective P(w) = Σ_i c_i φ(x_i·w; y_i) + λ g(w): its terms, sums and products.

Vectors are flat. With K decision values for each sample, entry iK + k belongs to sample i and
class k, and coefficient jK + k to feature j and class k.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dualgap.linalg import products, storage
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.validate import Floats
from dualgap.losses.targets import Targets, targets_of
from dualgap.penalties.structure import (
    FeatureFacts,
    Shape,
    distinct_facts,
    facts_of,
    is_on_groups,
    shape_of,
)
from dualgap.problem.several_targets import views_of
from dualgap.proof import terms
from dualgap.proof.feature_terms import feature_terms
from dualgap.proof.free_features import FreeFeatures, free_features

# Data of so many numbers count as small: 2 MB, which caches hold. From there on arithmetic takes
# longer than calls from Python, and threads share it.
SMALL = 1 << 18
# Least squares is one step, so that larger data are small as well: so few features, next to which
# vectors of n numbers are long, or so many numbers. 600,000 × 5: 96 → 47 ms, 20,000 × 50: 10 → 5.4.
TALL_FEATURES, SMALL_SQUARES = 20, 1 << 21
SMALL_FEATURES = 100  # the most of a sparse matrix that is copied into an array


class Objective(DesignMatrix):
    """The data, and the terms of the objective on it."""

    loss: Any
    penalty: Any  # on all coefficients
    lam: float
    y: Any  # as kernels see it
    classes: Any  # the labels that y stands for, or None
    c: Floats  # the weights of the terms
    scale: Any
    n_targets = 1  # columns of y

    @cached_property
    def targets(self) -> Targets:
        """The domain of y."""
        return targets_of(self.loss)

    @cached_property
    def width(self) -> int:
        """K for a loss with a decision value for each of K classes, or for K targets; else 1."""
        return len(self.classes) if self.targets.block else self.n_targets

    @property
    def block_width(self) -> int:
        """The number of decision values of a term of the loss."""
        return self.width if self.n_targets == 1 else 1

    @cached_property
    def entry_shares(self) -> Floats:
        """The weights of the terms of the loss: of each sample and target."""
        if self.n_targets == 1:
            return self.c
        return storage.as_shares(np.repeat(self.c, self.n_targets))

    @cached_property
    def target_views(self) -> list[Any]:
        """The problem of each of several targets (``several_targets.py``)."""
        return views_of(self)

    @cached_property
    def coef_size(self) -> int:
        """Number of coefficients."""
        return int(self.d * self.width)

    @property
    def dual_size(self) -> int:
        """Number of dual variables."""
        return int(self.n * self.width)

    # --- products with X ----------------------------------------------------------------------

    def decision(self, w: Floats) -> Floats:
        """X w, in float64."""
        _refuse_length(w, self.coef_size, "w")
        return self.times(w, self.width)

    def average(self, a: Floats) -> Floats:
        """u = (1/λ) Σ_i c_i a_i x_i, in float64."""
        _refuse_length(a, self.dual_size, "a")
        if products.is_zero(a):
            return np.zeros(self.coef_size)
        out = self.summed(self.weighted(a), self.width)
        out /= self.lam
        return out

    def weighted(self, a: Floats) -> Floats:
        """c_i a_i."""
        if self.width == 1:
            return self.c * a
        return (self.c[:, None] * a.reshape(self.n, self.width)).ravel()

    def mean_squares(self) -> Floats:
        """Σ_i c_i x_ij² for each feature."""
        if storage.are_equal(self.c):
            return np.asarray(self.c[0] * self.column_squares)
        out = np.empty(self.d)
        squares = products.scattered_squares if self.by_rows else products.weighted_squares
        squares(self._stored, self.c, out[: self.p])
        out[self.p :] = self.constant**2 * np.sum(self.c)
        return out

    @cached_property
    def mean_square(self) -> float:
        """Σ_i c_i ‖x_i‖²."""
        return float(np.sum(self.c * self.row_squares))

    # --- values -------------------------------------------------------------------------------

    def primal(self, w: Floats) -> float:
        """P(w)."""
        return self.loss_value(self.decision(w)) + self.penalty_value(w)

    def loss_value(self, z: Floats) -> float:
        """Σ c φ(z)."""
        if products.is_zero(z):
            return self._at_zero.values
        return self.loss_sums(z).values

    def penalty_value(self, w: Floats) -> float:
        """λ g(w)."""
        _refuse_length(w, self.coef_size, "w")
        u, parts, none = np.zeros(len(w)), np.empty(len(w)), np.empty(0)
        return feature_terms(self.penalty, self.lam, w, u, none, parts).values

    def loss_sums(self, z: Floats) -> terms.Sums:
        """Sums of c φ(z) and c φ*(0)."""
        a, none = np.zeros(self.dual_size), np.empty(0)
        samples = self.loss, self.y, self.entry_shares, z, a
        return terms.sample_terms(*samples, terms.no_error, none, self.block_width)

    @cached_property
    def distinct_terms(self) -> tuple[Any, Floats]:
        """Targets and weights whose terms sum to those of all samples, as long as these have the
        same decision values: of two labels one sample each, with the weight of all."""
        if not self.targets.signs or np.iscomplexobj(self.y):
            return self.y, self.entry_shares
        upper = float(np.sum(self.c[self.y > 0]))
        c = storage.as_shares(np.array([float(np.sum(self.c)) - upper, upper]))
        return storage.read_only(np.array([-1, 1], self.y.dtype)), c

    @cached_property
    def _at_zero(self) -> terms.Sums:
        y, c = self.distinct_terms
        z, none = np.zeros(len(y) * self.block_width), np.empty(0)
        return terms.sample_terms(self.loss, y, c, z, z, terms.no_error, none, self.block_width)

    @cached_property
    def value_at_origin(self) -> float:
        """P where the penalty is smallest."""
        origin = self.features.origin
        losses = self.loss_value(self.decision(origin)) if origin.any() else self._at_zero.values
        return losses + self.origin_value

    @cached_property
    def floor(self) -> float:
        """The least that the losses can sum to, whatever the coefficients."""
        return -self._at_zero.conjs

    @cached_property
    def least(self) -> float:
        """A lower bound of P: losses and penalty each at their own minimum. It is D(0)."""
        return self.floor + self.origin_value

    @property
    def unit_curvature(self) -> float:
        """The curvature q at which a typical dual step is as long as the dual variables."""
        q = self.scale / float(self.loss.lipschitz) ** 2
        return q if 0.0 < q < np.inf else 1.0

    # --- what the penalty says about coefficients ---------------------------------------------

    @property
    def on_groups(self) -> bool:
        """Whether the penalty is on groups of coefficients (``penalties/blocks.py``)."""
        return is_on_groups(self.penalty)

    @cached_property
    def features(self) -> FeatureFacts:
        """What the penalty says about each coefficient."""
        return facts_of(self.penalty, self.coef_size)

    @cached_property
    def distinct_features(self) -> FeatureFacts:
        return distinct_facts(self.features, self.penalty)

    @cached_property
    def penalty_shape(self) -> Shape | None:
        """The penalty as numbers; None if it has no such form."""
        return shape_of(self.penalty, self.coef_size)

    @cached_property
    def free_places(self) -> Any:
        """The coefficients without a penalty."""
        return np.flatnonzero(self.distinct_features.free)

    @cached_property
    def unpenalised(self) -> FreeFeatures:
        """The features without a penalty, copied, since every gap check needs them."""
        return free_features(self)

    @cached_property
    def small_rows(self) -> Floats | None:
        """X by rows in float64, if it is so small and the problem so simple that one compiled call
        can do what takes many otherwise (``proof/small_point.py``); else None."""
        sparse = storage.is_sparse(self.X)
        if self.width > 1 or self.on_groups or (sparse and self.p > SMALL_FEATURES):
            return None
        if self.n * self.p > SMALL and not self._is_tall_least_squares:
            return None
        free = self.free_places
        if len(free) > 1 or (len(free) and (free[0] != self.p or self.intercept is not True)):
            return None
        X = self.X.toarray() if sparse else self.X
        return storage.read_only(np.ascontiguousarray(X, dtype=np.float64))

    @property
    def _is_tall_least_squares(self) -> bool:
        """Whether this is least squares that one pass or two solve, on rows that need no copy."""
        if storage.is_sparse(self.X) or storage.is_on_disk(self.X) or not self.loss.quadratic:
            return False
        few = self.p <= TALL_FEATURES or self.n * self.p <= SMALL_SQUARES
        return bool(few and self.X.dtype == np.float64 and self.X.flags.c_contiguous)

    @cached_property
    def least_strength(self) -> float:
        """The smallest μ_j."""
        return float(self.distinct_features.strength.min())

    @cached_property
    def strength_range(self) -> tuple[float, float] | None:
        """The smallest and the largest finite μ_j; None if all are infinite."""
        strength = self.distinct_features.strength
        finite = strength[np.isfinite(strength)]
        return (float(finite.min()), float(finite.max())) if finite.size else None

    @property
    def smoothness(self) -> Floats:
        """1/μ_j for each feature: how fast w_j = ∇g_j*(u_j) changes."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.features.strength.reshape(self.d, -1).min(axis=1))

    @cached_property
    def has_bounded_conj(self) -> bool:
        """Whether g_j* of some feature with a penalty is not finite everywhere."""
        if self.on_groups:
            return bool(((self.features.strength == 0.0) & ~self.features.free).any())
        low, high = self.distinct_features.low, self.distinct_features.high
        return bool((((high < np.inf) | (low > -np.inf)) & ((high > 0.0) | (low < 0.0))).any())

    @cached_property
    def origin_value(self) -> float:
        """λ g at its minimum."""
        least = self.distinct_features.least
        return self.penalty_value(self.features.origin) if least.any() else 0.0


def _refuse_length(vector: Floats, length: int, name: str) -> None:
    # A compiled loop would read on past the end.
    if vector.shape != (length,):
        raise ValueError(f"{name} must have {length} entries, not shape {vector.shape}")
