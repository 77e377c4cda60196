"""The problem: minimise P(w) = Σ_i c_i φ(x_i·w; y_i) + λ g(w), with c_i = s_i / Σ s.

It holds the data as given and answers what every method asks of it: products with X, norms, and
the loss and penalty with checked parameters. Nothing here depends on a method.
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dualgap import losses, penalties, terms
from dualgap._validate import LARGEST, SMALLEST, Floats, finite_vector, number
from dualgap.linalg import products, storage
from dualgap.penalties._check import check_penalty

LOSS_RULES = ("value", "slope", "curvature", "conj", "project", "dual_step")
LOSS_CONSTANTS = ("targets", "gamma", "lipschitz", "differentiable", "quadratic")


class FeatureFacts(NamedTuple):
    """Per feature: the w_j that the penalty alone would choose, the largest |w_j| that it allows,
    its strong convexity μ_j, and the interval on which g_j* is finite."""

    origin: Floats
    reach: Floats
    strength: Floats
    low: Floats
    high: Floats


class Problem:
    """A linear model to fit: data, loss, penalty and its strength.

    Parameters
    ----------
    X : array, CSR or CSC matrix of shape (n, d)
        float32 and float64 are read in place, also when read-only or memory-mapped. The features
        view of a row-major dense array or a CSR matrix (and the reverse) is one copy, made when a
        method needs it.
    y : array of shape (n,)
        Targets. For classification losses any two values; the larger one counts as +1.
    loss, penalty : object or name
        For example ``losses.Hinge()`` or ``"hinge"``, ``penalties.L2()`` or ``"l2"``.
    lam : float
        λ > 0.
    sample_weight : array of shape (n,), optional
        Weights s ≥ 0, not all zero; a weight of 2 is the same as a repeated sample.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Any = "squared",
        penalty: Any = "l2",
        lam: float = 1.0,
        sample_weight: Any = None,
    ) -> None:
        self.X = storage.as_data(X)
        self.n, self.d = self.X.shape
        self.loss = _check_loss(loss)
        self.penalty = check_penalty(_named(penalty, penalties.REGISTRY, "penalty"), self.d)
        self.lam = number(lam, "lam", 0.0, LARGEST, open_low=True)
        self.c = _shares(sample_weight, self.n)
        self._measure()
        if ((self.features.low == 0.0) != (self.features.high == 0.0)).any():
            raise ValueError(
                "penalty: a feature without a penalty cannot be bounded on one side only; "
                "give it a small weight or a second bound"
            )
        self.y, self.classes = _check_targets(y, self.loss, self.n)

    def _measure(self) -> None:
        own, other = (self.n, self.d) if self._by_rows else (self.d, self.n)
        squares = np.zeros(own), np.zeros(other)
        counts = np.zeros(own), np.zeros(other)
        largest = products.measure(self._native, *squares, *counts)
        if not np.isfinite(largest):
            raise ValueError("X has NaN or infinite entries: remove or fill them in")
        if largest > LARGEST or 0.0 < largest < SMALLEST:
            raise ValueError(
                f"X has entries of size up to {largest:.1e}, whose squares leave the range of "
                "float64: rescale X"
            )
        order = 1 if self._by_rows else -1
        self.row_squares, self.column_squares = squares[::order]
        self.row_counts, self.column_counts = counts[::order]

    def with_penalty(self, penalty: Any) -> Problem:
        """The same data and loss under another penalty; nothing is copied."""
        other = copy.copy(self)
        for fact in ("features", "scale"):
            other.__dict__.pop(fact, None)
        other.penalty = check_penalty(penalty, self.d)
        return other

    # --- the matrix ---------------------------------------------------------------------------

    @property
    def _by_rows(self) -> bool:
        if storage.is_sparse(self.X):
            return bool(self.X.format == "csr")
        return not self.X.flags.f_contiguous

    @property
    def _native(self) -> storage.Matrix:
        return self.rows if self._by_rows else self.columns

    @cached_property
    def rows(self) -> storage.Matrix:
        """Samples as coordinates."""
        return storage.rows(self.X)

    @cached_property
    def columns(self) -> storage.Matrix:
        """Features as coordinates."""
        return storage.columns(self.X)

    def decision(self, w: Floats) -> Floats:
        """X w, in float64."""
        out = np.empty(self.n)
        (products.gather if self._by_rows else products.scatter)(self._native, w, out)
        return out

    def average(self, a: Floats) -> Floats:
        """u = (1/λ) Σ_i c_i a_i x_i, in float64."""
        out = np.empty(self.d)
        weights = self.c * a
        (products.scatter if self._by_rows else products.gather)(self._native, weights, out)
        out /= self.lam
        return out

    # --- what methods and certificates need to know -------------------------------------------

    @cached_property
    def features(self) -> FeatureFacts:
        """What the penalty says of each feature."""
        facts = FeatureFacts(*np.empty((5, self.d)))
        terms.feature_facts(self.penalty, *facts)
        return facts

    @cached_property
    def scale(self) -> float:
        """P(0), to which ``tol`` and the relative gap refer (P(origin) if 0 is not allowed)."""
        return self.primal(self.features.origin)

    @cached_property
    def floor(self) -> float:
        """The least that the losses can sum to, whatever the coefficients."""
        zero = np.zeros(self.n)
        losses_, parts = np.empty((2, self.n))
        terms.sample_terms(self.loss, self.y, self.c, zero, zero, zero[:0], losses_, parts)
        return float(np.sum(losses_ - parts))

    def primal(self, w: Floats) -> float:
        """P(w)."""
        z = self.decision(w) if w.any() else np.zeros(self.n)
        losses_, penalties_ = np.empty(self.n), np.empty(self.d)
        none, zero = np.empty(0), np.zeros(max(self.n, self.d))
        terms.sample_terms(self.loss, self.y, self.c, z, zero, none, losses_, np.empty(self.n))
        terms.feature_terms(self.penalty, self.lam, w, zero, none, penalties_, np.empty(self.d))
        return float(np.sum(losses_) + np.sum(penalties_))

    def __repr__(self) -> str:
        kind = self.X.format if storage.is_sparse(self.X) else "dense"
        return (
            f"Problem({self.n} samples x {self.d} features, {kind} {self.X.dtype}, "
            f"{self.loss!r}, {self.penalty!r}, lam={self.lam:g})"
        )


def _named(obj: Any, registry: dict[str, Any], what: str) -> Any:
    if not isinstance(obj, str):
        return obj
    if obj not in registry:
        raise ValueError(f"{what} {obj!r} is unknown; known are {', '.join(registry)}")
    return registry[obj]()


def _check_loss(loss: Any) -> Any:
    loss = _named(loss, losses.REGISTRY, "loss")
    missing = [name for name in LOSS_RULES if not callable(getattr(type(loss), name, None))]
    missing += [name for name in LOSS_CONSTANTS if not hasattr(type(loss), name)]
    if missing or not isinstance(loss, tuple):
        raise ValueError(
            f"loss must be a loss object such as dualgap.losses.Hinge(), not {loss!r}"
            + (f" (it lacks {', '.join(missing)})" if missing else "")
        )
    return loss.checked() if hasattr(loss, "checked") else loss


def _shares(sample_weight: Any, n: int) -> Floats:
    if sample_weight is None:
        return np.full(n, 1.0 / n)
    weights = finite_vector(sample_weight, "sample_weight", n)
    if (weights < 0.0).any():
        raise ValueError("sample_weight has negative entries")
    largest = weights.max()
    if largest == 0.0:
        raise ValueError("sample_weight is zero for every sample")
    shares = weights / largest  # first, so that the sum cannot overflow
    return np.asarray(shares / shares.sum())


def _check_targets(y: Any, loss: Any, n: int) -> tuple[Floats, Floats | None]:
    y = finite_vector(y, "y", n)
    largest = np.abs(y).max()
    if largest > LARGEST:
        raise ValueError(f"y has entries of size {largest:.1e}, whose squares overflow: rescale y")
    name = type(loss).__name__
    if loss.targets == "count" and (y < 0.0).any():
        raise ValueError(f"y has negative entries; {name} needs counts or rates >= 0")
    if loss.targets != "binary":
        return y, None
    classes = np.unique(y)
    if len(classes) != 2:
        found = (
            f"one class only ({classes[0]:g})"
            if len(classes) == 1
            else f"{len(classes)} different values"
        )
        raise ValueError(f"y has {found}; {name} needs labels of exactly two values")
    return np.where(y == classes[1], 1.0, -1.0), classes
