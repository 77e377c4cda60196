"""The problem: minimise P(w) = Σ_i c_i φ(x_i·w; y_i) + λ g(w), with c_i = s_i / Σ s.

With an intercept, x_i has a last entry that is the same for all samples and stored nowhere.

It holds the data as given and answers what every method asks of it: products with X, norms, and
the loss and penalty with checked parameters. Nothing here depends on a method.
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dualgap import losses
from dualgap.linalg import products, storage
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.validate import (
    LARGEST,
    Floats,
    finite_matrix,
    finite_vector,
    named,
    positive,
    with_rules,
)
from dualgap.penalties import L1, L2, ElasticNet
from dualgap.penalties._check import check_penalty
from dualgap.penalties.extended import extended
from dualgap.penalties.per_class import per_class
from dualgap.problem.baseline import best_constant, null_objective
from dualgap.problem.targets import check_targets
from dualgap.proof import terms
from dualgap.proof.free_features import FreeFeatures, free_features

LOSS_CONSTANTS = ("targets", "gamma", "lipschitz", "differentiable", "quadratic")
LOSS_RULES = ("value", "slope", "curvature", "conj", "project", "dual_step", *LOSS_CONSTANTS)
BLOCK_RULES = ("value", "conj", "slope_into", "project_into", "dual_step_into", *LOSS_CONSTANTS[:3])


_LEAST_WEIGHT = 1e-250  # of the largest: products with it do not underflow

_OF_DATA = (
    "_along",
    "total_square",
    "rows",
    "stored_rows",
    "columns",
    "entries",
    "even_squares",
    "floor",
    "_at_zero",
    "mean_square",
)
_OF_PENALTY = (
    "features",
    "free_places",
    "least_strength",
    "strength_range",
    "has_bounded_conj",
    "origin_value",
)


class FeatureFacts(NamedTuple):
    """Per coefficient: the w_j that the penalty alone would choose, the largest |w_j| that it
    allows, its strong convexity μ_j, and the interval on which g_j* is finite."""

    origin: Floats
    reach: Floats
    strength: Floats
    low: Floats
    high: Floats

    @property
    def free(self) -> Any:
        """Which features have no penalty: their g_j* is finite at 0 alone."""
        return (self.low == 0.0) & (self.high == 0.0)

    def repeated(self, size: int) -> FeatureFacts:
        """Those of one coefficient for so many; what no kernel reads takes no memory."""
        every = FeatureFacts(*(np.broadcast_to(fact, size) for fact in self))
        every = every._replace(origin=every.origin.copy())
        if np.isfinite(self.low).any() or np.isfinite(self.high).any():
            every = every._replace(low=every.low.copy(), high=every.high.copy())
        return every


class Problem(DesignMatrix):
    """A linear model to fit: data, loss, penalty and its strength.

    Parameters
    ----------
    X : array, CSR or CSC matrix of shape (n, p)
        float32 and float64 are read in place, also when read-only or memory-mapped. The features
        view of a row-major dense array or a CSR matrix (and the reverse) is one copy, made when a
        method needs it.
    y : array of shape (n,)
        Targets. For losses of two classes any two numbers, the larger one of which counts as +1;
        for losses of many classes labels of any kind.
    loss, penalty : object or name
        For example ``losses.Hinge()`` or ``"hinge"``, ``penalties.L2()`` or ``"l2"``.
    lam : float
        λ > 0.
    sample_weight : array of shape (n,), optional
        Weights s ≥ 0, not all zero; a weight of 2 is the same as a repeated sample.
    intercept : bool or "penalised"
        True adds a constant feature that the penalty leaves alone, "penalised" one that it treats
        as any other, except that it is not bounded. ``d`` counts it, as the last of the features.
    intercept_scaling : float
        The value of the constant feature when it is penalised: the larger, the less it matters that
        it is.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Any = "squared",
        penalty: Any = "l2",
        lam: float = 1.0,
        sample_weight: Any = None,
        intercept: Any = False,
        intercept_scaling: float = 1.0,
    ) -> None:
        super().__init__(X, intercept, intercept_scaling)
        self.loss = check_loss(loss)
        y, self.classes = check_targets(y, self.loss, self.n)
        self.y = storage.read_only(y)
        self.feature_penalty = check_penalty(penalty, self.p)  # as asked for: on features of X
        self.penalty = self._place_by_place(self.feature_penalty)
        self.lam = positive(lam, "lam")
        self.s = _weights(sample_weight, self.n)
        self.c = storage.as_shares(_shares(self.s, self.n))
        self._refuse_tiny_lam()
        self._refuse_impossible_penalty()

    def _refuse_impossible_penalty(self) -> None:
        low, high = self._kinds.low, self._kinds.high
        if ((low == 0.0) != (high == 0.0)).any():
            raise ValueError(
                "penalty: a feature without a penalty cannot be bounded on one side only; "
                "give it a small weight or a second bound"
            )
        if not np.isfinite(self.origin_value):
            raise ValueError("penalty: its constraints leave no coefficients at all")

    def _place_by_place(self, penalty: Any) -> Any:
        """A penalty on the features of X as one on all coefficients."""
        if self.has_intercept:
            penalty = extended(penalty, self.p, float(self.intercept == "penalised"))
        return per_class(penalty, self.width)

    def _refuse_tiny_lam(self) -> None:
        if self.size**2 / self.lam > LARGEST**2:
            raise ValueError(
                f"lam is so small for data of size {self.size:.1e} that ratios overflow"
            )

    def with_lam(self, lam: float) -> Problem:
        """The same problem at another λ; data, views and measurements are shared."""
        other = copy.copy(self)
        for fact in ("scale", "least", "best_constant", "origin_value"):
            other.__dict__.pop(fact, None)
        other.lam = positive(lam, "lam")
        if "unpenalised" in self.__dict__:
            free = self.unpenalised
            other.__dict__["unpenalised"] = free._replace(q=free.q * self.lam / other.lam)
        other._refuse_tiny_lam()
        return other

    def with_penalty(self, penalty: Any) -> Problem:
        """The same data and loss under a penalty on each of ``coef_size``; nothing is copied."""
        other = copy.copy(self)
        for fact in (*_OF_PENALTY, "scale", "least", "best_constant", "unpenalised"):
            other.__dict__.pop(fact, None)
        other.penalty = check_penalty(penalty, self.coef_size)
        return other

    def on_samples(self, places: Any) -> Problem:
        """The terms of some of the samples: weights, scale and feature sizes stay as they are."""
        other = copy.copy(self)
        for fact in (*_OF_DATA, "unpenalised"):
            other.__dict__.pop(fact, None)
        other.X, other._measured = storage.select(self.stored_rows, places), {}
        other.given = other.X
        other.stored_rows = storage.rows(other.X, part_of=self.stored_rows)
        other.n = len(places)
        other.y = storage.read_only(self.y[places])
        other.c = storage.chosen(self.c, places)
        other.s = None if self.s is None else self.s[places]
        other.row_squares, other.column_squares = self.row_squares[places], self.column_squares
        return other

    def sampled(self, places: Any) -> Problem:
        """The same problem on a sample of its data: weights add up to 1 again."""
        other = self.on_samples(places)
        other.c = storage.divided(other.c, float(np.sum(other.c)))
        other.column_squares = self.column_squares * (other.n / self.n)
        return other

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Arrays that came from a file or with a message may lie anywhere and in any way, and each
        # kernel has one signature.
        self.y = storage.read_only(np.require(self.y, None, "A"))
        self.c = storage.as_shares(self.c)

    @property
    def weight_error(self) -> float:
        """A bound on the relative errors of c, in units of EPS (docs/decisions/rounding.md)."""
        return 0.5 if self.s is None else 11.0 + 0.5 * float(np.log2(self.n))

    @property
    def given_y(self) -> Any:
        """y as the user has given it: labels in the place of signs or indices."""
        if self.classes is None:
            return self.y
        places = self.y > 0.0 if self.loss.targets == "binary" else self.y
        return self.classes[places.astype(int)]

    @property
    def classes_without_weight(self) -> Any:
        """Those whose intercept, which nothing holds, falls for ever; none unless it is free."""
        shares = np.bincount(self.y.astype(int), self.c, self.width)
        return (shares == 0.0) & (self.intercept is True)

    # --- blocks: vectors are flat inside, matrices with a column for each class outside -------

    @property
    def width(self) -> int:
        """K for a loss with a decision value for each of K classes, else 1."""
        return len(self.classes) if self.loss.targets == "classes" else 1

    @property
    def coef_size(self) -> int:
        """Number of coefficients."""
        return int(self.d * self.width)

    @property
    def dual_size(self) -> int:
        """Number of dual variables."""
        return int(self.n * self.width)

    def flat(self, value: Any, name: str, length: int) -> Floats:
        """What a user gives for each of the ``length`` features or samples, checked."""
        if hasattr(value, "certificate"):
            raise ValueError(
                f"{name} must hold numbers, not a Solution: use solution.coef or .dual"
            )
        if self.width == 1:
            return finite_vector(value, name, length)
        return finite_matrix(value, name, (length, self.width)).ravel()

    def shaped(self, vector: Floats) -> Floats:
        """What a user gets to see of such a vector."""
        return vector if self.width == 1 else vector.reshape(-1, self.width)

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

    # --- what methods and certificates need to know -------------------------------------------

    @cached_property
    def features(self) -> FeatureFacts:
        """What the penalty says of each coefficient."""
        size = self.coef_size
        facts = FeatureFacts(*np.empty((5, 1 if self._treats_all_alike else size)))
        terms.feature_facts(self.penalty, *facts)
        return facts.repeated(size) if self._treats_all_alike else facts

    @property
    def _treats_all_alike(self) -> bool:
        return type(self.penalty) in (L1, L2, ElasticNet)

    @property
    def _kinds(self) -> FeatureFacts:
        """The same, of one coefficient only if the penalty treats all alike."""
        facts = self.features
        return FeatureFacts(*(fact[:1] for fact in facts)) if self._treats_all_alike else facts

    @cached_property
    def free_places(self) -> Any:
        """The coefficients without a penalty."""
        return np.flatnonzero(self._kinds.free)

    @cached_property
    def least_strength(self) -> float:
        """The smallest μ_j."""
        return float(self._kinds.strength.min())

    @cached_property
    def strength_range(self) -> tuple[float, float] | None:
        """The smallest and the largest μ_j that is finite; None if there is none."""
        strength = self._kinds.strength
        finite = strength[np.isfinite(strength)]
        return (float(finite.min()), float(finite.max())) if finite.size else None

    @cached_property
    def mean_square(self) -> float:
        """Σ_i c_i ‖x_i‖²."""
        return float(np.sum(self.c * self.row_squares))

    @cached_property
    def has_bounded_conj(self) -> bool:
        """Whether some g_j* of a feature with a penalty is not finite everywhere."""
        low, high = self._kinds.low, self._kinds.high
        return bool((((high < np.inf) | (low > -np.inf)) & ((high > 0.0) | (low < 0.0))).any())

    @cached_property
    def unpenalised(self) -> FreeFeatures:
        """The features without a penalty, copied, since every look at the gap needs them."""
        return free_features(self)

    @cached_property
    def origin_value(self) -> float:
        """λ g of the coefficients that the penalty alone would choose."""
        if self._treats_all_alike:  # and chooses none
            return 0.0
        return self.penalty_value(self.features.origin)

    def mean_squares(self) -> Floats:
        """Σ_i c_i x_ij² for each feature."""
        if self.c.min() == self.c.max():
            return np.asarray(self.c[0] * self.column_squares)
        out = np.empty(self.d)
        squares = products.scattered_squares if self.by_rows else products.weighted_squares
        squares(self._stored, self.c, out[: self.p])
        out[self.p :] = self.constant**2 * np.sum(self.c)
        return out

    @property
    def smoothness(self) -> Floats:
        """1/μ_j for each feature: how fast w_j = ∇g_j*(u_j) changes."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.features.strength.reshape(self.d, -1).min(axis=1))

    @cached_property
    def scale(self) -> float:
        """P(0), to which ``tol`` and the relative gap refer: with the best unpenalised intercept.

        It is counted from the least that the losses can sum to, which is 0 except for Poisson, and
        taken at the nearest coefficients that the penalty allows.
        """
        return null_objective(self)

    @cached_property
    def best_constant(self) -> tuple[float, float]:
        """The objective of the best model without features of a scalar loss, and its intercept."""
        return best_constant(self)

    @property
    def unit_curvature(self) -> float:
        """The q at which dual steps of typical decision values are as long as dual variables."""
        q = self.scale / float(self.loss.lipschitz) ** 2
        return q if 0.0 < q < np.inf else 1.0

    @cached_property
    def floor(self) -> float:
        """The least that the losses can sum to, whatever the coefficients."""
        return -self._at_zero.conjs

    @cached_property
    def least(self) -> float:
        """What no coefficients can go below: losses and penalty each at their own minimum. D(0)."""
        return self.floor + self.origin_value

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
        u, parts, none = np.zeros(self.coef_size), np.empty(self.coef_size), np.empty(0)
        return terms.feature_terms(self.penalty, self.lam, w, u, none, parts).values

    def loss_sums(self, z: Floats) -> terms.Sums:
        """Sums of c φ(z) and c φ*(0)."""
        a, none = np.zeros(self.dual_size), np.empty(0)
        samples = self.loss, self.y, self.c, z, a
        return terms.sample_terms(*samples, terms.no_error, none, self.width)

    @cached_property
    def _at_zero(self) -> terms.Sums:
        if self.loss.targets != "binary":
            return self.loss_sums(np.zeros(self.dual_size))
        # All samples of a label are alike: one of each stands for them.
        upper = float(np.sum(storage.chosen(self.c, np.flatnonzero(self.y > 0))))
        c = storage.as_shares(np.array([float(np.sum(self.c)) - upper, upper]))
        z, y, none = np.zeros(2), storage.read_only(np.array([-1, 1], self.y.dtype)), np.empty(0)
        return terms.sample_terms(self.loss, y, c, z, z, terms.no_error, none)

    def __repr__(self) -> str:
        kind = self.X.format if storage.is_sparse(self.X) else "dense"
        return (
            f"Problem({self.n} samples x {self.p} features, {kind} {self.X.dtype}, "
            f"{self.loss!r}, {self.penalty!r}, lam={self.lam:g}"
            + (f", intercept={self.intercept!r})" if self.has_intercept else ")")
        )


def _refuse_length(vector: Floats, length: int, name: str) -> None:
    # A kernel would read on past the end.
    if vector.shape != (length,):
        raise ValueError(f"{name} must have {length} entries, not shape {vector.shape}")


def check_loss(loss: Any) -> Any:
    """The loss, or the one that a name stands for, with its parameters checked."""
    loss = named(loss, losses.REGISTRY, "loss")
    rules = BLOCK_RULES if getattr(loss, "targets", None) == "classes" else LOSS_RULES
    loss = with_rules(loss, "loss", losses.REGISTRY, rules, "dualgap.losses.Hinge()")
    return loss.checked() if hasattr(loss, "checked") else loss


def _weights(sample_weight: Any, n: int) -> Floats | None:
    """The weights as given, or None if they are equal."""
    if sample_weight is None:
        return None
    weights = finite_vector(sample_weight, "sample_weight", n)
    if (weights < 0.0).any():
        raise ValueError("sample_weight has negative entries")
    largest = weights.max()
    if largest == 0.0:
        raise ValueError("sample_weight is zero for every sample")
    if ((weights > 0.0) & (weights < _LEAST_WEIGHT * largest)).any():
        raise ValueError(
            f"sample_weight has entries below {_LEAST_WEIGHT:.0e} times the largest one, whose "
            "shares leave the range of float64: make them 0"
        )
    return None if weights.min() == largest else storage.read_only(weights.copy())


def _shares(weights: Floats | None, n: int) -> Floats:
    if weights is None:
        return np.broadcast_to(1.0 / n, n)
    shares = weights / weights.max()  # first, so that the sum cannot overflow
    return np.asarray(shares / shares.sum())
