"""What all estimators share: parameters and their checks, learnt attributes, pickling.

An estimator is one ``Problem`` or a list of them (one-vs-rest, several targets), each a
``Subproblem``. Subclasses name loss, penalty and strength; ``fits.py`` solves.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dualgap.estimators.columns import bounds_of, factors_of, on_columns
from dualgap.estimators.evidence import Evidence
from dualgap.estimators.fits import CallbackSupport, Fit, Subproblem, first_use, solve_all
from dualgap.estimators.param_names import NamedOnce
from dualgap.estimators.penalties import constraints_of
from dualgap.estimators.reads_data import ReadsData
from dualgap.estimators.reports import Reports
from dualgap.estimators.validated import refuse_as_sklearn
from dualgap.linalg.validate import Floats, NotFiniteError, number, unknown
from dualgap.penalties import L2, NonNegative
from dualgap.problem import Problem
from dualgap.proof.predictions import coef_rows
from dualgap.proof.radius import Radius
from dualgap.run.snapshot import Snapshot

FOLLOWING = ("support_certified_", "_radii")  # from certificates, computed when first used
PROOFS: tuple[str, ...] = (
    "certificate_", "dual_coef_", "dual_gap_", "history_", "solution_", "_judged", "_trained",
)  # fmt: skip
FORMAT = 1  # of pickled estimators; raised when older versions could not use a newer state
MOST = float(np.finfo(np.float64).max)


@dataclass(eq=False, repr=False, kw_only=True)
class CertifiedModel(CallbackSupport, Evidence, ReadsData, NamedOnce):
    """The base of all estimators, with the parameters that all of them take."""

    fit_intercept: bool = True
    tol: float = 1e-4
    max_iter: int | None = 10_000
    positive: bool = False
    penalty_weight: Any = None
    bounds: Any = None
    random_state: Any = None
    warm_start: bool = False
    n_jobs: int | None = None
    verbose: Any = 0
    method: Any = "auto"
    sampling: Any = None
    callback: Any = None
    relative_to: str = "optimum"
    categories: Any = None
    handle_unknown: str = "error"
    handle_missing: str = "error"

    _solvers: ClassVar[tuple[str, ...]] = ()  # the words that ``solver`` may be
    _intercept_has_rows = False  # whether it has them also if there is none
    _joint = False  # whether one problem has a column of coefficients for each class
    _starts_solved = False  # whether the coefficients that a fit starts from should be its result
    _solved_by = "closed form"  # what has found these

    # --- what a subclass says ------------------------------------------------------------------

    def _loss(self) -> Any:
        raise NotImplementedError

    def _penalty(self) -> Any:
        return L2()

    def _lam(self, total: float) -> float:
        """λ ≥ 0, given the sum of the sample weights."""
        raise NotImplementedError

    def _intercept(self) -> bool | str:
        return flag(self.fit_intercept, "fit_intercept")

    def _subproblem(
        self, y: Any, weights: Floats | None, p: int, lam: float | None = None, loss: Any = None
    ) -> Subproblem:
        lam = self._lam(total_weight(weights, len(y))) if lam is None else lam
        penalty = self._on_columns(self._penalty(), p)
        if lam == 0.0:
            penalty = constraints_of(penalty, p)
        loss = self._loss() if loss is None else loss
        return Subproblem(y, weights, loss, penalty, lam if lam > 0.0 else 1.0)

    def _on_columns(self, penalty: Any, p: int) -> Any:
        """The penalty with what the user says about single columns."""
        positive = flag(self.positive, "positive")
        if self._treats_columns_alike:
            return NonNegative(penalty) if positive else penalty
        return on_columns(penalty, *self._facts_of_columns(p), positive=positive)

    def _facts_of_columns(self, p: int) -> tuple[Any, Any]:
        """``penalty_weight`` and ``bounds`` by position."""
        names, encoding = getattr(self, "feature_names_in_", None), vars(self).get("_encoding")
        if encoding is not None:
            given = encoding.spread(self._factors), encoding.spread(self.bounds)
            return factors_of(given[0], p, encoding.names), bounds_of(given[1], p, encoding.names)
        return factors_of(self._factors, p, names), bounds_of(self.bounds, p, names)

    @property
    def _factors(self) -> Any:
        return self.penalty_weight

    @property
    def _treats_columns_alike(self) -> bool:
        """Whether the penalty is that of all columns, so that closed forms may hold."""
        return self._factors is None and self.bounds is None

    # --- fitting -------------------------------------------------------------------------------

    def _complete(
        self, X: Any, y: Any, weights: Any, subproblems: list[Subproblem], *, single: bool
    ) -> Any:
        """Solve all subproblems, set the attributes and report to scikit-learn's callbacks.

        ``single``: attributes have no first dimension for targets or classes.
        """
        reports = None
        if getattr(self, "_skl_callbacks", None) or hasattr(self, "_parent_callback_ctx"):
            reports = Reports(self, X, y, weights, len(subproblems))
        try:
            with first_use(self):
                fits = solve_all(self, X, subproblems, self._starts(X, len(subproblems)), reports)
        except NotFiniteError:
            refuse_as_sklearn(self, X)
            raise
        self._publish(fits, single=single)
        self._trained = X, y, subproblems, fits
        if reports is not None:
            reports.end()
        return self

    def _problem(self, X: Any, subproblem: Subproblem) -> Problem:
        y, weights, loss, penalty, lam, offset = subproblem
        scaling = getattr(self, "intercept_scaling", 1.0)
        return Problem(X, y, loss, penalty, lam, weights, self._intercept(), scaling, offset)

    def _starts(self, X: Any, count: int) -> list[Any]:
        """The warm start of each subproblem: the last fit, as far as its shapes match."""
        nothing = [None] * count
        if not flag(self.warm_start, "warm_start"):
            return nothing
        coef = getattr(self, "coef_", None)
        if coef is None:
            return nothing
        n, p = X.shape
        coef = coef_rows(coef)
        rows = len(self.classes_) if self._joint else count
        if coef.shape != (rows, p):
            return nothing
        wanted = self._intercept() is not False
        given = getattr(self, "intercept_", 0.0) if wanted else 0.0
        intercept = np.broadcast_to(given, rows).astype(np.float64)
        dual: Any = np.atleast_2d(getattr(self, "dual_coef_", np.empty((0, 0))))
        dual = dual if dual.shape == (rows, n) else None
        if self._joint:
            return [(coef.T, intercept, None if dual is None else dual.T)]
        return [(coef[k], intercept[k], None if dual is None else dual[k]) for k in range(rows)]

    # --- attributes ----------------------------------------------------------------------------

    def _publish(self, fits: list[Fit], *, single: bool) -> None:
        """Set all attributes; ``single``: without a first dimension for targets or classes."""
        self._forget_proofs()
        rows = [np.asarray(fit.coef).T for fit in fits]
        duals = [fit.dual.T for fit in fits]
        if single:
            self.coef_, self.dual_coef_ = rows[0].copy(), duals[0].copy()
            self.intercept_: Any = np.asarray(fits[0].intercept)[()]
        else:
            self.coef_, self.dual_coef_ = np.vstack(rows), np.vstack(duals)
            self.intercept_ = np.concatenate([np.atleast_1d(fit.intercept) for fit in fits])
        if self._intercept() is False and not self._intercept_has_rows:
            self.intercept_ = 0.0  # not of NumPy: what reads models tells the two apart
        self._judged = np.array(self.coef_, float, ndmin=2), np.array(self.intercept_, ndmin=1)
        solutions = [fit.solution for fit in fits]
        certificates = [fit.certificate for fit in fits]
        rounds = [len(solution.history) - 1 for solution in solutions]
        self._following = [(fit.radius, fit.zeros) for fit in fits], single
        one = len(fits) == 1
        self.solution_ = solutions[0] if one else solutions
        self.certificate_ = certificates[0] if one else certificates
        self.history_ = solutions[0].history if one else [s.history for s in solutions]
        gaps = [certificate.gap for certificate in certificates]
        self.dual_gap_ = gaps[0] if one else np.array(gaps)
        self.n_iter_ = rounds[0] if one else np.array(rounds)

    @cached_property
    def _radii(self) -> list[Radius]:
        """How far each model is from its optimum at most, computed when first used."""
        return [radius() for radius, _ in self._follows("_radii")[0]]

    @cached_property
    def support_certified_(self) -> Any:
        """Which coefficients are zero in every optimum, for certain; computed when first used."""
        fits, single = self._follows("support_certified_")
        found = [zeros().T for _, zeros in fits]
        return found[0] if single else np.vstack(found)

    def _follows(self, name: str) -> Any:
        if "_following" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._following

    def _forget_proofs(self) -> None:
        """Delete what an earlier fit has proven; the new model has no proof."""
        for name in (*PROOFS, *FOLLOWING, "_following"):
            self.__dict__.pop(name, None)

    def _as_fitted(self, snapshot: Snapshot) -> dict[str, Any]:
        """The attributes that a callback needs to predict with an unfinished model."""
        return {"coef_": snapshot.coef.T, "intercept_": snapshot.intercept}

    # --- scikit-learn's and Python's protocols -------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        if "_following" in self.__dict__:
            for name in FOLLOWING:
                getattr(self, name)  # functions cannot be pickled, what they compute can
        state = {**super().__getstate__(), "_dualgap_format": FORMAT}
        state.pop("_trained", None)  # the training data
        state.pop("_following", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        found = state.pop("_dualgap_format", FORMAT)
        if found > FORMAT:
            raise ValueError(
                f"this {type(self).__name__} was saved by a newer dualgap (format {found}; this "
                f"version reads formats up to {FORMAT}): upgrade dualgap, or fit again"
            )
        super().__setstate__(state)


@dataclass(eq=False, repr=False, kw_only=True)
class Strength:
    """A mixin for objectives that average the losses: λ = alpha."""

    alpha: Any = 1.0

    def _lam(self, total: float) -> float:
        return number(self.alpha, "alpha", 0.0, MOST)


@dataclass(eq=False, repr=False, kw_only=True)
class InverseStrength:
    """A mixin for objectives that sum the losses C times: λ = 1/(C Σ s); C = inf is no penalty."""

    C: float = 1.0

    def _lam(self, total: float) -> float:
        return 1.0 / (number(self.C, "C", 0.0, open_low=True) * total)


# --- checks of parameters -------------------------------------------------------------------------


def flag(value: Any, name: str) -> bool:
    """True or False; truthy values of other types are refused."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def choice(value: Any, name: str, known: Collection[str]) -> str:
    """One of the known words."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(unknown(name, str(value), known))
    return value


def total_weight(weights: Floats | None, n: int) -> float:
    """Σ s, where each of n samples weighs 1 without weights."""
    return float(n) if weights is None else float(np.sum(weights))
