"""Ridge regression with the strength chosen by cross-validation; leave-one-out in closed form."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import _routing_enabled
from sklearn.utils.validation import _check_method_params

from dualgap.estimators.base import flag, total_weight
from dualgap.estimators.columns import in_even_units
from dualgap.estimators.docstrings import COMPATIBLE, documented
from dualgap.estimators.exact_least_squares import decomposed
from dualgap.estimators.regressor import offset_of_targets
from dualgap.estimators.ridge import Ridge
from dualgap.estimators.selection.decomposition import Decomposition
from dualgap.estimators.selection.fold_errors import AsGiven
from dualgap.estimators.selection.folds import (
    FOLD_JOBS,
    REFIT_CALLBACK,
    Choice,
    CrossValidated,
    follow,
)
from dualgap.estimators.selection.leave_one_out import LeaveOneOut
from dualgap.estimators.selection.ridge_gradients import RidgeGradients, prefers_gradients
from dualgap.estimators.validated import finite_data, refuse_as_sklearn, training_data
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats, NotFiniteError, number, real_array
from dualgap.penalties import L2
from dualgap.problem import Problem
from dualgap.run.solution import Solution


@documented(
    "alphas fit_intercept scoring cv gcv_mode store_cv_results alpha_per_target tol max_iter "
    "n_jobs verbose random_state",
    attributes={
        "alpha_": """float, or array with one for each target
    The chosen alpha. All attributes after ``cv_results_`` are those of the refit.""",
        "best_score_": """float, or array with one for each target""",
        "cv_results_": """array of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
    Squared errors of left-out samples, times their weights; predictions if ``scoring`` is
    given.""",
    },
    alphas="""array or number, default (0.1, 1.0, 10.0)
    The candidates, all > 0 (≥ 0 if ``cv`` is given).""",
    scoring="""str or callable, optional
    By default the negative mean squared error for leave-one-out, R² for folds.""",
    cv="""int, splitter or iterable of pairs, optional
    Folds; by default every sample is left out once, in closed form, for all alphas from one
    decomposition of the data.""",
    gcv_mode=f"""str, optional
    {COMPATIBLE}""",
    store_cv_results="""bool, default False
    Whether to keep ``cv_results_``; for leave-one-out only.""",
    alpha_per_target="""bool, default False
    Whether each column of y gets its own alpha; for leave-one-out only.""",
    n_jobs=FOLD_JOBS,
    callback=REFIT_CALLBACK,
)
@dataclass(eq=False, repr=False, kw_only=True)
class RidgeCV(CrossValidated, Ridge):
    """Ridge regression, with alpha chosen by cross-validation, and a certified refit.

    Minimises Σ_i s_i (y_i − x_i·w − b)² + alpha·‖w‖², that is ``Problem`` with λ = alpha/Σs, where
    s are sample weights.
    """

    alphas: Any = field(default=(0.1, 1.0, 10.0), kw_only=False)
    scoring: Any = None
    gcv_mode: Any = None
    store_cv_results: bool = False
    alpha_per_target: bool = False
    alpha: Any = field(init=False)
    copy_X: bool = field(default=True, init=False)  # noqa: N815 - scikit-learn's name
    solver: str = field(default="auto", init=False)
    positive: bool = field(default=False, init=False)

    _refitted = Ridge
    _scorer_callers = ("fit",)

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        # The decomposition finds entries that are not finite.
        checked = training_data if self.cv is None else finite_data
        return checked(self, X, y, multi_output=True, y_numeric=True)

    def _checked_offset(self, offset: Any, y: Any) -> Any:
        return offset_of_targets(offset, y)

    def _choose(
        self, X: Any, y: Any, weights: Floats | None, offset: Floats | None, routed: Bunch
    ) -> Choice:
        alphas = self._alphas()
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        own = 0.0 if offset is None else offset.reshape(Y.shape)
        Y = Y - own if offset is not None else Y  # what coefficients and intercept explain
        attributes: dict[str, Any] = {}
        unsolved: list[Solution] = []
        points = 0
        data: Decomposition | None = None
        scaled = in_even_units(X, *self._facts_of_columns(X.shape[1]))
        if self.cv is None:
            if scaled is None:
                raise ValueError(
                    "cv=None leaves samples out in closed form, which knows neither bounds nor "
                    "columns without a penalty (penalty_weight 0): give folds, such as cv=5"
                )
            given = routed.scorer.score
            scores, results, data = self._leave_one_out(scaled.X, y, Y, own, weights, alphas, given)
            if flag(self.store_cv_results, "store_cv_results"):
                attributes["cv_results_"] = results
        else:
            by_fold, unsolved = self._fold_scores(X, y, Y, own, weights, alphas, routed)
            scores, points = np.mean(by_fold, axis=0), np.size(by_fold) * Y.shape[1]
        best = np.argmax(scores, axis=0)
        alpha = alphas[best] if np.ndim(best) else float(alphas[best])
        attributes |= {"alpha_": alpha, "best_score_": np.max(scores, axis=0)}
        start = None
        known = np.min(alpha) > 0.0 and self.method == "auto" and self.sampling is None
        if known and scaled is not None:
            if data is None:
                data = self._solver(scaled.X, weights, np.array(alpha), Y.shape[1])
            coefs, intercepts = data.solutions(Y, np.reshape(alpha, (1, -1)))
            start = coefs[0] * scaled.units, intercepts[0]
        return Choice({"alpha": alpha}, attributes, unsolved, points, start)

    def _scores_use_weights(self) -> bool:
        if self.cv is None:
            return True
        scorer = self._scorer()
        return "sample_weight" in signature(getattr(scorer, "_score_func", scorer)).parameters

    def _alphas(self) -> Floats:
        alphas = np.atleast_1d(real_array(self.alphas, "alphas").astype(np.float64))
        if not alphas.size:
            raise ValueError("alphas is empty: give a number, or several")
        for index, alpha in enumerate(alphas):
            number(alpha, f"alphas[{index}]", 0.0, open_low=self.cv is None)
        return alphas

    def _leave_one_out(
        self,
        X: Any,
        y: Any,
        Y: Floats,
        offset: Any,
        weights: Any,
        alphas: Floats,
        given: dict[str, Any],
    ) -> tuple[Floats, Floats, LeaveOneOut]:
        """A score for each alpha, or for each alpha and target, ``cv_results_``, and the
        decomposition that both rest on."""
        weights = np.ones(len(Y)) if weights is None else weights
        intercept = flag(self.fit_intercept, "fit_intercept")
        if intercept and np.count_nonzero(weights) < 2:
            raise ValueError(
                "cv=None leaves out one sample after the other, but there is only one "
                "(n_samples=1, or one with a sample_weight above 0), which leaves none to fit an "
                "intercept to. Give more samples, or use Ridge"
            )
        with single_threaded_blas():
            try:
                with np.errstate(over="ignore", invalid="ignore"):
                    data = LeaveOneOut(X, weights, intercept, float(alphas.min()))
            except NotFiniteError:
                refuse_as_sklearn(self, X)
                raise
            left_out = data.residuals(Y, alphas)
        apart = flag(self.alpha_per_target, "alpha_per_target") and Y.shape[1] > 1
        if self.scoring is None:
            results = weights[:, None, None] * left_out**2
            scores = -results.mean(axis=0 if apart else (0, 1))
        else:
            Y = Y + offset
            results = Y[:, :, None] - left_out
            scorer = self._scorer()
            scores = np.stack(
                [
                    [scorer(AsGiven(), one, own, **given) for one, own in zip(predicted.T, Y.T)]
                    if apart
                    else scorer(AsGiven(), predicted.reshape(np.shape(y)), y, **given)
                    for predicted in np.moveaxis(results, 2, 0)
                ]
            )
        scores = np.asarray(scores.T if apart and self.scoring is None else scores)
        return scores, results if np.ndim(y) > 1 else results[:, 0], data

    def _fold_scores(
        self, X: Any, y: Any, Y: Floats, offset: Any, weights: Any, alphas: Floats, routed: Any
    ) -> tuple[list[list[float]], list[Solution]]:
        """The scores of each fold at each alpha, and the solutions that missed ``tol``."""
        for name in ("store_cv_results", "alpha_per_target"):
            if getattr(self, name):
                raise ValueError(f"{name}=True is for leave-one-out, that is cv=None")
        scored = weights if "sample_weight" in routed.scorer.score else None
        folds = self._split(X, y, routed, fitted=weights, scored=scored)
        offset = np.broadcast_to(offset, Y.shape)
        jobs = [(X, y, Y, offset, weights, train, test, alphas, routed) for train, test in folds]
        return self._on_folds(self._scores, jobs)

    def _scores(
        self,
        X: Any,
        y: Any,
        Y: Floats,
        offset: Any,
        weights: Any,
        train: Any,
        test: Any,
        alphas: Floats,
        routed: Any,
        options: dict[str, Any],
    ) -> tuple[list[float], list[Solution]]:
        """The score of a fold at each alpha, and the solutions that missed ``tol``."""
        own = None if weights is None else weights[train]
        data, targets = X[train], Y[train]
        coefs, intercepts, solved = self._in_closed_form(data, targets, own, alphas)
        unsolved = []
        decreasing = np.argsort(-alphas, kind="stable")
        for target in np.flatnonzero(~solved.all(axis=0)):
            left = decreasing[~solved[decreasing, target]]
            column, intercept = targets[:, target], self._intercept()
            penalty = self._on_columns(L2(), X.shape[1])
            problem = Problem(data, column, "squared", penalty, 1.0, own, intercept)

            def keep(k: int, solution: Solution, left: Any = left, target: Any = target) -> None:
                coefs[left[k], target], intercepts[left[k], target] = (
                    solution.coef,
                    solution.intercept,
                )

            lams = alphas[left] / total_weight(own, data.shape[0])
            unsolved += follow(problem, lams, options, keep)
        model, scorer, scores = Ridge(), self._scorer(), []
        params = _check_method_params(X=X, params=routed.scorer.score, indices=test)
        model.n_features_in_ = X.shape[1]
        for coef, b in zip(coefs, intercepts):
            model.coef_, model.intercept_ = (coef, b) if np.ndim(y) > 1 else (coef[0], b[0])
            judged, seen = model, X[test]
            if offset.any():
                own = offset[test].reshape(-1, *np.shape(y)[1:])
                judged, seen = AsGiven(), model.predict(seen) + own
            scores.append(float(scorer(judged, seen, y[test], **params)))
        return scores, unsolved

    def _in_closed_form(
        self, X: Any, Y: Floats, weights: Floats | None, alphas: Floats
    ) -> tuple[Floats, Floats, Any]:
        """Coefficients and intercepts for each alpha and target, and whether they are solutions."""
        intercepts = np.zeros((len(alphas), Y.shape[1]))
        coefs = np.zeros((*intercepts.shape, X.shape[1]))
        solved = np.zeros(intercepts.shape, np.bool_)
        used, none = np.flatnonzero(alphas > 0.0), alphas == 0.0
        if self.method != "auto" or self.sampling is not None or self.max_iter == 0:
            return coefs, intercepts, solved
        if none.any() and self._treats_columns_alike:
            exact = decomposed(X, weights, alphas[none], self._intercept() is True)
            if exact is not None:
                coefs[none], intercepts[none] = exact.solutions(Y, alphas[none])
                solved[none] = True
        scaled = in_even_units(X, *self._facts_of_columns(X.shape[1]))
        if not len(used) or scaled is None:
            return coefs, intercepts, solved
        data = self._solver(scaled.X, weights, alphas[used], len(used) * Y.shape[1])
        found = data.solutions(Y, alphas[used])
        coefs[used], intercepts[used] = found[0] * scaled.units, found[1]
        solved[used] = data.are_solutions(Y, alphas[used], *found, self.tol)
        return coefs, intercepts, solved

    def _solver(
        self, X: Any, weights: Floats | None, alphas: Floats, systems: int
    ) -> Decomposition:
        """What gives the solutions for some alphas and targets in the least time."""
        own = np.ones(X.shape[0]) if weights is None else weights
        intercept = flag(self.fit_intercept, "fit_intercept")
        kind = RidgeGradients if prefers_gradients(X, systems) else Decomposition
        data = kind(X, own, intercept, float(alphas.min()))
        if isinstance(data, RidgeGradients):
            data.tol = number(self.tol, "tol", 0.0)
        return data

    def _scorer(self) -> Any:
        scorer = check_scoring(self, scoring=self.scoring or "r2")
        if self.scoring is None and _routing_enabled():
            scorer.set_score_request(sample_weight=True)
        return scorer
