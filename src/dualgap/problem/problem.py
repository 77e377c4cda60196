"""The problem: minimise P(w) = Σ_i c_i φ(x_i·w; y_i) + λ g(w), with c_i = s_i / Σ s.

With an intercept, x_i has a last entry that is the same for all samples and stored nowhere.

A problem is made from what a user gives, checked. ``design_matrix.py`` and ``objective.py``, which
it inherits from, answer what methods ask. Nothing here depends on a method.
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.design_matrix import FACTS_OF_CONSTANT
from dualgap.linalg.validate import LARGEST, Floats, finite_matrix, finite_vector, positive
from dualgap.losses.offset import own_classes, with_offset
from dualgap.losses.targets import check_loss, check_targets
from dualgap.penalties import structure
from dualgap.problem.baseline import best_constant, best_constants, null_objective
from dualgap.problem.offsets import checked_offset
from dualgap.problem.parts import Parts
from dualgap.problem.several_targets import count_targets
from dualgap.problem.weights import checked_weights, shares_of

# Cached facts that copies of a problem do not share; ``parts.py`` has those of samples.
_OF_PENALTY = (
    "penalty_shape", "features", "distinct_features", "free_places", "least_strength",
    "strength_range", "has_bounded_conj", "origin_value",
)  # fmt: skip
_ASKED: dict[Any, dict[str, Any]] = {}  # what penalties have said
_PENALTIES, _FEW = 50, 1000  # of which it is kept, and for how many coefficients: at most 4 MB
_OF_BOTH = (
    "small_rows", "scale", "least", "best_constant", "unpenalised", "value_at_origin",
    "target_views",
)  # fmt: skip


class Problem(Parts):
    """A linear model to fit: data, loss, penalty and its strength.

    Parameters
    ----------
    X : array, CSR or CSC matrix of shape (n, p)
        float32 and float64 are read in place, also when read-only or memory-mapped. The features
        view of a row-major dense array or a CSR matrix (and the reverse) is one copy, made when a
        method needs it.
    y : array of shape (n,)
        Targets; several columns if a penalty on groups joins them. A loss for two classes takes any
        two numbers, the larger of which counts as +1; a loss for many classes takes labels of any
        kind.
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
        The value of the constant feature if it is penalised. The larger it is, the less the
        penalty shrinks the intercept.
    offset : array of shape (n,), optional
        Added to the decision values: φ(x_i·w + o_i; y_i). For Poisson it is the logarithm of the
        exposure. A loss of K classes takes shape (n, K).
    """

    offset: Floats | None = None  # problems of older versions have none

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
        offset: Any = None,
    ) -> None:
        super().__init__(X, intercept, intercept_scaling)
        self.loss = self.given_loss = check_loss(loss)
        if np.ndim(y) == 2:
            self.n_targets = count_targets(y, self.loss, penalty)
        y = y if self.n_targets == 1 else finite_matrix(y, "y", (self.n, self.n_targets)).ravel()
        y, self.classes = check_targets(y, self.loss, self.n * self.n_targets)
        self.y = self.plain_y = storage.read_only(y)
        if offset is not None:
            self.offset = checked_offset(offset, self.n, self.width)
            own = self.offset if self.targets.block else self.offset.ravel()
            self.loss, y = with_offset(self.loss, self.y, own, block=self.targets.block)
            self.y = storage.read_only(y)
        shared = isinstance(X, Problem) and self._share_penalty(X, penalty)
        known = shared or self._set_penalty(penalty)
        self._given = self.penalty
        self.lam = positive(lam, "lam")
        self.s = None if sample_weight is None else checked_weights(sample_weight, self.n)
        self.c = np.broadcast_to(1.0 / self.n, self.n) if self.s is None else shares_of(self.s)
        self._refuse_tiny_lam()
        if not known:
            self._refuse_impossible_penalty()
            self._remember_penalty(penalty)

    def _share_penalty(self, other: Problem, penalty: Any) -> bool:
        """Take over what another problem knows of its penalty, if this is the same for sure."""
        own, same = vars(other), vars(other).get("_given") is other.penalty
        one, two = ((each.d, each.intercept, each.width) for each in (self, other))
        if not (same and one == two and structure.are_same(penalty, other.feature_penalty)):
            return False
        names = {"feature_penalty", "penalty", "_given", *_OF_PENALTY} - {"origin_value"}  # of λ
        if self.X is other.X and type(self.loss) is type(other.loss):
            names.add("small_rows")
        self.__dict__.update({name: own[name] for name in names if name in own})
        return True

    def _refuse_impossible_penalty(self) -> None:
        low, high = self.distinct_features.low, self.distinct_features.high
        one_sided = ((low == 0.0) != (high == 0.0)).any()
        if one_sided and not structure.has_barrier(self.feature_penalty):
            raise ValueError(
                "penalty: a feature without a penalty cannot be bounded on one side only; "
                "give it a small weight or a second bound"
            )
        if not np.isfinite(self.origin_value):
            raise ValueError("penalty: its constraints leave no coefficients at all")

    def _set_penalty(self, penalty: Any) -> bool:
        """Check a penalty on the features of X, and state it on all coefficients. Returns whether
        the same was asked before: most fits use few penalties."""
        plain = structure.are_same(penalty, penalty)
        if plain and (known := _ASKED.get(self._asked(penalty))):
            self.__dict__.update(known)
            return True
        weight = float(self.intercept == "penalised") if self.has_intercept else None
        self.feature_penalty = own = structure.check_penalty(penalty, self.p)
        self.penalty = structure.on_coefficients(own, self.p, weight, self.width)
        return False

    def _asked(self, penalty: Any) -> Any:
        return type(penalty), penalty, self.p, self.intercept, self.width

    def _remember_penalty(self, penalty: Any) -> None:
        """Keep what a penalty made of numbers says about few coefficients."""
        if self.coef_size <= _FEW and structure.are_same(penalty, penalty):
            if len(_ASKED) >= _PENALTIES:
                _ASKED.clear()
            names = {"feature_penalty", "penalty", *_OF_PENALTY} - {"origin_value"}  # of λ
            _ASKED[self._asked(penalty)] = {name: getattr(self, name) for name in names}

    def _refuse_tiny_lam(self) -> None:
        if self.size**2 / self.lam > LARGEST**2:
            raise ValueError(
                f"lam is so small for data of size {self.size:.1e} that ratios overflow"
            )

    def with_lam(self, lam: float) -> Problem:
        """The same problem at another λ; data, views and measurements are shared."""
        other = copy.copy(self)
        if self.__dict__.get("origin_value") != 0.0:  # else they are the same for every λ
            for fact in ("scale", "least", "best_constant", "origin_value", "value_at_origin"):
                other.__dict__.pop(fact, None)
        other.lam = positive(lam, "lam")
        other.__dict__.pop("target_views", None)
        if "unpenalised" in self.__dict__:
            free = self.unpenalised
            other.__dict__["unpenalised"] = free._replace(q=free.q * self.lam / other.lam)
        other._refuse_tiny_lam()
        return other

    def with_penalty(self, penalty: Any, feature_penalty: Any = None) -> Problem:
        """The same data and loss under a penalty on all coefficients; data are shared.

        ``feature_penalty`` is the same penalty on the features of X alone; it may be left out for
        problems that only a method sees.
        """
        other = copy.copy(self)
        for fact in (*_OF_PENALTY, *_OF_BOTH):
            other.__dict__.pop(fact, None)
        other.penalty = structure.check_penalty(penalty, self.coef_size)
        if feature_penalty is not None:
            other.feature_penalty = feature_penalty
        elif self.coef_size == self.p:
            other.feature_penalty = other.penalty
        return other

    def with_penalised_intercept(self, value: float) -> Problem:
        """The same problem with an intercept that is penalised as the coefficient of a constant
        feature of this ``value``; data are shared."""
        other = copy.copy(self)
        for fact in (*_OF_PENALTY, *_OF_BOTH, *FACTS_OF_CONSTANT):
            other.__dict__.pop(fact, None)
        other.intercept, other.constant = "penalised", value
        other.penalty = structure.on_coefficients(self.feature_penalty, self.p, 1.0, self.width)
        return other

    def with_data(self, X: Any) -> Problem:
        """The same problem on a copy of its X."""
        other = copy.copy(self)
        for fact in ("rows", "stored_rows", "columns", "small_rows"):
            other.__dict__.pop(fact, None)
        other.X = X
        if other.by_rows != self.by_rows:  # norms along rows are others than those along columns
            other.measure()
        return other

    def __copy__(self) -> Problem:
        """With all that it knows, unlike one that comes from a file."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Computed again, as kernels know them.
        for fact in ("small_rows", "features", "distinct_features"):
            self.__dict__.pop(fact, None)
        # Arrays from a file or a message may be writable or not aligned, and each kernel has been
        # compiled for one kind of array.
        self.y = storage.read_only(np.require(self.y, None, "A"))
        self.plain_y = state.get("plain_y", self.y)
        self.given_loss = state.get("given_loss", self.loss)
        self.c = storage.as_shares(self.c)

    @property
    def weight_error(self) -> float:
        """A bound on the relative errors of c, in units of EPS (docs/decisions/rounding.md)."""
        return 0.5 if self.s is None else 11.0 + 0.5 * float(np.log2(self.n))

    @property
    def given_y(self) -> Any:
        """y as the user gave it, with labels instead of signs or indices."""
        if self.classes is None:
            return self.plain_y if self.n_targets == 1 else self.shaped(self.plain_y)
        return self.targets.decode(self.plain_y, self.classes)

    @property
    def classes_without_weight(self) -> Any:
        """The classes whose unpenalised intercept would fall for ever, as a mask."""
        shares = np.bincount(own_classes(self.y), self.c, self.width)
        return (shares == 0.0) & (self.intercept is True)

    # --- blocks: vectors are flat inside, matrices with a column for each class outside -------

    def flat(self, value: Any, name: str, length: int) -> Floats:
        """A user's numbers for each of the ``length`` features or samples, checked and flat."""
        if hasattr(value, "certificate"):
            raise ValueError(
                f"{name} must hold numbers, not a Solution: use solution.coef or .dual"
            )
        if self.width == 1:
            return finite_vector(value, name, length)
        return finite_matrix(value, name, (length, self.width)).ravel()

    def shaped(self, vector: Floats) -> Floats:
        """A flat vector as users see it: with a column for each class, if there are several."""
        return vector if self.width == 1 else vector.reshape(-1, self.width)

    def split(self, w: Floats) -> tuple[Floats, Any]:
        """The coefficients of X, and the intercept as users see it (``intercept.py``): a number, or
        one for each class."""
        own = self.p * self.width
        intercept = self.constant * w[own:] if self.has_intercept else np.zeros(self.width)
        if self.shift is not None:
            intercept = intercept - self.shift.image(w[:own].reshape(-1, self.width))
        return self.shaped(w[:own]), float(intercept[0]) if self.width == 1 else intercept

    # --- what methods and certificates need to know -------------------------------------------

    @cached_property
    def scale(self) -> float:
        """The scale of ``tol`` and of relative gaps: P(0) with the best unpenalised intercept.

        It is counted from the least that the losses can sum to, and taken at the minimum of the
        penalty, if that is not 0.
        """
        return null_objective(self)

    @cached_property
    def best_constant(self) -> tuple[float, float]:
        """For a scalar loss: the objective of the best model without features, its intercept."""
        return best_constant(self)

    @cached_property
    def best_constants(self) -> Floats:
        """The same for softmax: its intercepts."""
        return best_constants(self)

    def __repr__(self) -> str:
        kind = self.X.format if storage.is_sparse(self.X) else "dense"
        return (
            f"Problem({self.n} samples x {self.p} features, {kind} {self.X.dtype}, "
            f"{self.given_loss!r}, {self.penalty!r}, lam={self.lam:g}"
            + ("" if self.offset is None else ", with an offset")
            + (f", intercept={self.intercept!r})" if self.has_intercept else ")")
        )
