"""Lasso and elastic net with the strength chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from dualgap.estimators import _checks
from dualgap.estimators._base import DTYPES, STORAGES
from dualgap.estimators._docs import COMPATIBLE, FOLD_JOBS, REFIT_CALLBACK, documented
from dualgap.estimators._penalties import by_ratio
from dualgap.estimators.lasso import ElasticNet, Lasso
from dualgap.estimators.selection.folds import Folds
from dualgap.estimators.selection.paths import alphas_of, solutions_at, warn_of
from dualgap.linalg.validate import Floats, number
from dualgap.penalties import NonNegative
from dualgap.problem import Problem
from dualgap.run.solution import Solution


class _LinearCV(Folds):
    """Paths on folds; ``_plain`` is the estimator without cross-validation."""

    _several_targets = False
    _plain: type
    eps: Any
    alphas: Any
    n_alphas: Any
    fit_intercept: Any
    positive: Any

    def _ratios(self) -> Floats:
        return np.ones(1)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Any:
        """Choose the strength by cross-validation, then fit to all samples, with a certificate.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Used for fitting and for the mean squared error on each fold.
        **params
            For the splitter, if scikit-learn's metadata routing is on.

        Returns
        -------
        self
        """
        routed = self._routed(params, sample_weight, scored=False)
        X, y = validate_data(self, X, y, accept_sparse=STORAGES, dtype=DTYPES, y_numeric=True)
        weights = _checks.sample_weights(sample_weight, len(y))
        ratios = self._ratios()
        alphas = self._grids(X, y, weights, ratios)
        folds = self._split(X, y, routed, fitted=weights, scored=weights)
        jobs = [
            (X, y, weights, train, test, ratio, values)
            for ratio, values in zip(ratios, alphas)
            for train, test in folds
        ]
        results = self._parallel(self._errors, jobs)
        errors = np.reshape([fold for fold, _ in results], (len(ratios), len(folds), -1))
        unsolved = [solution for _, short in results for solution in short]
        warn_of(unsolved, errors.size, stacklevel=3)
        mean = errors.mean(axis=1)
        best, at = np.unravel_index(np.argmin(mean), mean.shape)
        self.mse_path_ = np.squeeze(np.moveaxis(errors, 2, 1))
        self.alphas_ = alphas if len(ratios) > 1 and self._wants_grid() else alphas[0]
        self.alpha_ = float(alphas[best, at])
        self._refit(X, y, sample_weight, float(ratios[best]))
        return self

    def _refit(self, X: Any, y: Any, sample_weight: Any, ratio: float) -> None:
        shared = self._shared_with(self._plain)
        if "l1_ratio" in shared:
            shared["l1_ratio"] = self.l1_ratio_ = ratio
        model = self._plain(**{**shared, "alpha": self.alpha_})
        self._fit_to_all(model, X, y, sample_weight)

    def _wants_grid(self) -> bool:
        return self.alphas is None or np.ndim(self.alphas) == 0

    def _grids(self, X: Any, y: Any, weights: Floats | None, ratios: Floats) -> Floats:
        """For each ratio a row of decreasing alphas."""
        if (ratios == 0.0).any() and self._wants_grid():
            raise ValueError(
                "with l1_ratio=0 no alpha makes every coefficient zero: give the alphas yourself"
            )
        count = 100 if self.n_alphas is None else self.n_alphas
        alphas = alphas_of(self._problem(X, y, weights, 1.0), self.alphas, count, self.eps)
        return alphas / ratios[:, None] if self._wants_grid() else np.tile(alphas, (len(ratios), 1))

    def _problem(self, X: Any, y: Any, weights: Floats | None, ratio: float) -> Problem:
        penalty = by_ratio(number(ratio, "l1_ratio", 0.0, 1.0))
        if _checks.flag(self.positive, "positive"):
            penalty = NonNegative(penalty)
        intercept = _checks.flag(self.fit_intercept, "fit_intercept")
        return Problem(X, y, "squared", penalty, 1.0, weights, intercept)

    def _errors(
        self,
        X: Any,
        y: Any,
        weights: Any,
        train: Any,
        test: Any,
        ratio: float,
        alphas: Floats,
        options: dict[str, Any],
    ) -> tuple[list[float], list[Solution]]:
        """The mean squared error of a fold at each alpha, and the solutions that fell short."""
        own, theirs = (None, None) if weights is None else (weights[train], weights[test])
        problem = self._problem(X[train], y[train], own, ratio)
        X, y = X[test], y[test]
        errors, unsolved = [], []
        for solution in solutions_at(problem, alphas, **options):
            residuals = X @ solution.coef + solution.intercept - y
            errors.append(float(np.average(residuals**2, weights=theirs)))
            if not solution.converged:
                unsolved.append(solution)
        return errors, unsolved


_GRID = {
    "eps": """float, default 1e-3
    The smallest alpha of a grid, as a part of the largest, at which all coefficients vanish.""",
    "n_alphas": """int, optional
    The name that older versions of scikit-learn have for a number of ``alphas``.""",
    "alphas": """int or array, optional
    The alphas to choose from, or how many of a grid; 100 by default.""",
    "precompute": f"""bool, "auto" or array, default "auto"
    {COMPATIBLE}""",
    "n_jobs": FOLD_JOBS,
    "callback": REFIT_CALLBACK,
}


@documented(
    attributes={
        "alpha_": """float
    The chosen alpha. All attributes after ``mse_path_`` are of the refit.""",
        "alphas_": """array of shape (n_alphas,)
    What it was chosen from, decreasing.""",
        "mse_path_": """array of shape (n_alphas, n_folds)
    Mean squared errors on the folds.""",
    },
    **_GRID,
)
class LassoCV(_LinearCV, Lasso):
    """The Lasso, with alpha chosen by cross-validation along a path, and a certified refit.

    Minimises Σ_i c_i ½(y_i − x_i·w − b)² + alpha·‖w‖₁ with c_i = s_i/Σs, that is ``Problem`` with
    λ = alpha, where s are sample weights.
    """

    _plain = Lasso

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        n_alphas: int | None = None,
        alphas: Any = None,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int | None = 10_000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: Any = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.eps = eps
        self.n_alphas = n_alphas
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.method = method
        self.sampling = sampling
        self.callback = callback


@documented(
    attributes={
        "alpha_, l1_ratio_": """float
    The chosen ones. All attributes after ``mse_path_`` are of the refit.""",
        "alphas_": """array of shape (n_alphas,) or (n_l1_ratios, n_alphas)
    What alpha was chosen from, decreasing.""",
        "mse_path_": """array of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
    Mean squared errors on the folds.""",
    },
    l1_ratio="""float or array, default 0.5
    The share of L1, or several to choose from. With 0, ``alphas`` must be given.""",
    **_GRID,
)
class ElasticNetCV(_LinearCV, ElasticNet):
    """The elastic net, with alpha and ``l1_ratio`` chosen by cross-validation along paths.

    Minimises Σ_i c_i ½(y_i − x_i·w − b)² + alpha·(l1_ratio·‖w‖₁ + ½(1 − l1_ratio)·‖w‖²) with
    c_i = s_i/Σs, that is ``Problem`` with λ = alpha, where s are sample weights.
    """

    _plain = ElasticNet

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        n_alphas: int | None = None,
        alphas: Any = None,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int | None = 10_000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: Any = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.n_alphas = n_alphas
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _ratios(self) -> Floats:
        return np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))
