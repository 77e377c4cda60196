"""Ridge regression with the strength chosen by cross-validation; leave-one-out in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _check_method_params, validate_data

from dualgap.estimators import _checks
from dualgap.estimators._base import DTYPES, STORAGES
from dualgap.estimators._docs import COMPATIBLE, FOLD_JOBS, REFIT_CALLBACK, documented
from dualgap.estimators.ridge import Ridge
from dualgap.estimators.selection.folds import Folds
from dualgap.estimators.selection.leave_one_out import LeaveOneOut
from dualgap.estimators.selection.paths import solutions_at, warn_of
from dualgap.linalg.validate import Floats, number, real_array
from dualgap.problem import Problem
from dualgap.run.solution import Solution


@documented(
    attributes={
        "alpha_": """float, or array with one for each target
    The chosen alpha. All attributes after ``cv_results_`` are of the refit.""",
        "best_score_": """float, or array with one for each target""",
        "cv_results_": """array of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
    Squared errors of left-out samples, times their weights; predictions where ``scoring`` is
    given.""",
    },
    alphas="""array or number, default (0.1, 1.0, 10.0)
    What to choose from, all > 0 (≥ 0 where ``cv`` is given).""",
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
    Whether each column of y gets an alpha of its own; for leave-one-out only.""",
    n_jobs=FOLD_JOBS,
    callback=REFIT_CALLBACK,
)
class RidgeCV(Folds, Ridge):
    """Ridge regression, with alpha chosen by cross-validation, and a certified refit.

    Minimises Σ_i s_i (y_i − x_i·w − b)² + alpha·‖w‖², that is ``Problem`` with λ = alpha/Σs, where
    s are sample weights.
    """

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: Any = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        tol: float = 1e-4,
        max_iter: int | None = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
        random_state: Any = None,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> RidgeCV:
        """Choose alpha by cross-validation, then fit to all samples, with a certificate.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : number or array of shape (n_samples,), optional
            Used for fitting, and for the scores of leave-one-out.
        **params
            For scorer and splitter, if scikit-learn's metadata routing is on.

        Returns
        -------
        self
        """
        routed = self._routed(params, sample_weight, scored=self.cv is None)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=STORAGES,
            dtype=DTYPES,
            multi_output=True,
            y_numeric=True,
        )
        weights = _checks.sample_weights(sample_weight, len(y))
        alphas = self._alphas()
        columns = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        if self.cv is None:
            scores = self._leave_one_out(X, y, columns, weights, alphas, routed.scorer.score)
        else:
            scores = self._on_folds(X, y, columns, weights, alphas, routed)
        best = np.argmax(scores, axis=0)
        self.alpha_ = alphas[best] if np.ndim(best) else float(alphas[best])
        self.best_score_ = np.max(scores, axis=0)
        model = Ridge(**{**self._shared_with(Ridge), "alpha": self.alpha_})
        self._fit_to_all(model, X, y, sample_weight)
        return self

    def _alphas(self) -> Floats:
        alphas = np.atleast_1d(real_array(self.alphas, "alphas").astype(np.float64))
        for index, alpha in enumerate(alphas):
            number(alpha, f"alphas[{index}]", 0.0, open_low=self.cv is None)
        return alphas

    def _leave_one_out(
        self, X: Any, y: Any, Y: Floats, weights: Any, alphas: Floats, given: dict[str, Any]
    ) -> Floats:
        """A score for each alpha, or for each alpha and target."""
        weights = np.ones(len(Y)) if weights is None else weights
        intercept = _checks.flag(self.fit_intercept, "fit_intercept")
        if intercept and np.count_nonzero(weights) < 2:
            raise ValueError(
                "cv=None leaves out one sample after the other, but only one sample is there "
                "(n_samples=1, or one with a sample_weight above 0): no intercept could be fitted "
                "to none. Give more samples, or use Ridge"
            )
        data = LeaveOneOut(X, weights, intercept)
        left_out = np.stack([data.residuals(Y, alpha) for alpha in alphas], axis=-1)
        apart = _checks.flag(self.alpha_per_target, "alpha_per_target") and Y.shape[1] > 1
        if self.scoring is None:
            results = weights[:, None, None] * left_out**2
            scores = -results.mean(axis=0 if apart else (0, 1))
        else:
            results = Y[:, :, None] - left_out
            scorer = self._scorer()
            scores = np.stack(
                [
                    [scorer(_AsGiven(), one, own, **given) for one, own in zip(predicted.T, Y.T)]
                    if apart
                    else scorer(_AsGiven(), predicted.reshape(np.shape(y)), y, **given)
                    for predicted in np.moveaxis(results, 2, 0)
                ]
            )
        if _checks.flag(self.store_cv_results, "store_cv_results"):
            self.cv_results_ = results if np.ndim(y) > 1 else results[:, 0]
        return np.asarray(scores.T if apart and self.scoring is None else scores)

    def _on_folds(
        self, X: Any, y: Any, Y: Floats, weights: Any, alphas: Floats, routed: Any
    ) -> Floats:
        """The mean score of the folds for each alpha."""
        for name in ("store_cv_results", "alpha_per_target"):
            if getattr(self, name):
                raise ValueError(f"{name}=True is for leave-one-out, that is cv=None")
        folds = self._split(X, y, routed, fitted=weights)
        jobs = [(X, y, Y, weights, train, test, alphas, routed) for train, test in folds]
        results = self._parallel(self._scores, jobs)
        unsolved = [solution for _, short in results for solution in short]
        warn_of(unsolved, len(folds) * len(alphas) * Y.shape[1], stacklevel=4)
        return np.asarray(np.mean([scores for scores, _ in results], axis=0))

    def _scores(
        self,
        X: Any,
        y: Any,
        Y: Floats,
        weights: Any,
        train: Any,
        test: Any,
        alphas: Floats,
        routed: Any,
        options: dict[str, Any],
    ) -> tuple[list[float], list[Solution]]:
        """The score of a fold at each alpha, and the solutions that fell short."""
        own = None if weights is None else weights[train]
        down = np.argsort(-alphas, kind="stable")
        lams = alphas[down] / _checks.total(own, len(train))
        data, intercept = X[train], _checks.flag(self.fit_intercept, "fit_intercept")
        coefs = np.empty((len(alphas), Y.shape[1], X.shape[1]))
        intercepts = np.empty((len(alphas), Y.shape[1]))
        unsolved = []
        for k, target in enumerate(Y.T):
            problem = Problem(data, target[train], "squared", "l2", 1.0, own, intercept)
            for at, solution in zip(down, solutions_at(problem, lams, **options)):
                coefs[at, k], intercepts[at, k] = solution.coef, solution.intercept
                if not solution.converged:
                    unsolved.append(solution)
        model, scorer, scores = Ridge(), self._scorer(), []
        params = _check_method_params(X=X, params=routed.scorer.score, indices=test)
        model.n_features_in_ = X.shape[1]
        for coef, b in zip(coefs, intercepts):
            model.coef_, model.intercept_ = (coef, b) if np.ndim(y) > 1 else (coef[0], b[0])
            scores.append(float(scorer(model, X[test], y[test], **params)))
        return scores, unsolved

    def _scorer(self) -> Any:
        return check_scoring(self, scoring=self.scoring or "r2")

    def get_metadata_routing(self) -> MetadataRouter:
        """Who gets which parameters of ``fit``: scorer and splitter."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                scorer=self._scorer(),
                method_mapping=MethodMapping().add(caller="fit", callee="score"),
            )
            .add(
                splitter=self.cv,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class _AsGiven(RegressorMixin, BaseEstimator):
    """For scorers: predictions that are there already."""

    def predict(self, X: Any) -> Any:
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return True
