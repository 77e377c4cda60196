"""Lasso and elastic net with the strength chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Bunch

from dualgap.estimators.base import flag
from dualgap.estimators.docstrings import COMPATIBLE, documented
from dualgap.estimators.fits import max_epochs
from dualgap.estimators.lasso import ElasticNet, Lasso
from dualgap.estimators.offsets import checked_offset
from dualgap.estimators.penalties import by_ratio
from dualgap.estimators.selection.fold_errors import (
    mean_squared_errors,
    moment_errors,
    wide_errors,
)
from dualgap.estimators.selection.folds import (
    FOLD_JOBS,
    REFIT_CALLBACK,
    Choice,
    CrossValidated,
    follow,
)
from dualgap.estimators.selection.grids import alphas_of, ratios_of
from dualgap.estimators.selection.paths import lasso_path
from dualgap.estimators.validated import finite_data
from dualgap.linalg.validate import Floats, number
from dualgap.problem import Problem
from dualgap.run.solution import Solution
from dualgap.steps.path.column_path import ColumnPath
from dualgap.steps.path.gram_path import gram_path
from dualgap.steps.path.moments import DataMoments


@dataclass(eq=False, repr=False, kw_only=True)
class LeastSquaresCV(CrossValidated):
    """The choice of alpha, and of ``l1_ratio`` where there is one, by mean squared errors."""

    eps: float = 1e-3
    n_alphas: int | None = None
    alphas: Any = None
    precompute: Any = "auto"
    alpha: Any = field(init=False)

    _several_targets = False
    _mixing: ClassVar[str | None] = None  # the parameter that ``_ratios`` are values of

    def _ratios(self) -> Floats:
        return np.ones(1)

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        return finite_data(self, X, y, y_numeric=True)

    def _checked_offset(self, offset: Any, y: Any) -> Any:
        return checked_offset(offset, len(y), 1)

    def _choose(
        self, X: Any, y: Any, weights: Floats | None, offset: Floats | None, routed: Bunch
    ) -> Choice:
        y = y if offset is None else y - offset  # errors are those of y and predictions with it
        ratios = self._ratios()
        alphas = self._grids(X, y, weights, ratios)
        folds = self._split(X, y, routed, fitted=weights, scored=weights)
        moments = self._moments(X, y, weights)
        jobs = [(X, y, weights, moments, train, test, ratios, alphas) for train, test in folds]
        results, unsolved = self._on_folds(self._errors, jobs)
        errors = np.stack(results, axis=1)
        mean = errors.mean(axis=1)
        best, at = np.unravel_index(np.argmin(mean), mean.shape)
        refit = {"alpha": float(alphas[best, at])}
        if self._mixing:
            refit[self._mixing] = float(ratios[best])
        attributes = {
            **{f"{name}_": value for name, value in refit.items()},
            "alphas_": alphas if len(ratios) > 1 and self._wants_grid() else alphas[0],
            "mse_path_": np.squeeze(np.moveaxis(errors, 2, 1)),
        }
        start = self._start(X, y, weights, moments, float(ratios[best]), alphas[best, : at + 1])
        return Choice(refit, attributes, unsolved, errors.size, start, "path")

    def _wants_grid(self) -> bool:
        return self.alphas is None or np.ndim(self.alphas) == 0

    def _grids(self, X: Any, y: Any, weights: Floats | None, ratios: Floats) -> Floats:
        """For each ratio a row of decreasing alphas."""
        if (ratios == 0.0).any() and self._wants_grid():
            raise ValueError(
                "with l1_ratio=0 no alpha makes every coefficient zero: give the alphas yourself"
            )
        count = 100 if self.n_alphas is None else self.n_alphas
        problem = self._least_squares(X, y, weights, 1.0)
        alphas = alphas_of(problem, self.alphas, count, self.eps)
        return alphas / ratios[:, None] if self._wants_grid() else np.tile(alphas, (len(ratios), 1))

    def _least_squares(self, X: Any, y: Any, weights: Floats | None, ratio: float) -> Problem:
        penalty = self._on_columns(by_ratio(number(ratio, "l1_ratio", 0.0, 1.0)), X.shape[1])
        return Problem(X, y, "squared", penalty, 1.0, weights, self._intercept())

    def _errors(
        self,
        X: Any,
        y: Any,
        weights: Any,
        moments: DataMoments | None,
        train: Any,
        test: Any,
        ratios: Floats,
        alphas: Floats,
        options: dict[str, Any],
    ) -> tuple[Floats, list[Solution]]:
        """The mean squared error of a fold for each ratio and alpha, and the solutions that missed
        ``tol``."""
        positive = flag(self.positive, "positive")
        run = self._tol_of_folds, max_epochs(self.max_iter)
        shared = None if moments is None else moments.of_fold(train, test)
        fitted, scored = (None, None) if weights is None else (weights[train], weights[test])
        errors, unsolved = np.empty(alphas.shape), []
        for k, (ratio, values) in enumerate(zip(ratios, alphas)):
            row: Floats = errors[k]
            lams, solved = values[values > 0.0], np.zeros(len(values), np.bool_)
            wide = shared is None and self._may_share() and ColumnPath.pays(X) and len(lams) > 0
            if moments is not None and shared is not None:
                points = gram_path(shared.fitted, lams, ratio, positive, *run)
                solved[: len(lams)] = points.solved
                row[solved] = moment_errors(
                    moments, shared, points.coefs[points.solved], X[test], y[test], scored
                )
            problem = (
                None if solved.all() else self._least_squares(X[train], y[train], fitted, ratio)
            )
            if problem is not None and wide:
                found = list(ColumnPath(problem, ratio, positive).points(lams, *run))
                solved[: len(lams)] = [point.solved for point in found]
                some = [point for point in found if point.solved]
                row[solved] = wide_errors(problem, some, X[test], y[test], scored)
            left = np.flatnonzero(~solved)
            if problem is not None and len(left):

                def score(k: int, solution: Solution, row: Floats = row, left: Any = left) -> None:
                    row[left[k]] = self._squared_error(X[test], y[test], scored, solution)

                unsolved += follow(problem, values[left], options, score)
        return errors, unsolved

    def _start(
        self,
        X: Any,
        y: Any,
        weights: Any,
        moments: DataMoments | None,
        ratio: float,
        alphas: Floats,
    ) -> tuple[Floats, float] | None:
        """The model at the last of these alphas, from a path on all samples; None without one."""
        wide = self._may_share() and ColumnPath.pays(X)
        if alphas[-1] == 0.0 or not (wide or moments is not None):
            return None
        positive, run = flag(self.positive, "positive"), (self.tol, max_epochs(self.max_iter))
        if wide:
            problem = self._least_squares(X, y, weights, ratio)
            *_, point = ColumnPath(problem, ratio, positive).points(alphas, *run)
            found = problem.split(point.coefficients(problem))
            return found if point.solved else None
        assert moments is not None
        everything = np.arange(X.shape[0])
        shared = moments.of_fold(everything, everything)
        if shared is None:
            return None
        points = gram_path(shared.fitted, alphas, ratio, positive, *run)
        last = points.coefs[-1:]
        return (last[0], moments.intercepts(shared, last)[0]) if points.solved[-1] else None

    def _squared_error(self, X: Any, y: Any, weights: Any, solution: Solution) -> float:
        """The mean squared error of a model on test samples."""
        model = solution.coef[None], np.array([solution.intercept])
        return float(mean_squared_errors(X, y, weights, *model)[0])

    def _may_share(self) -> bool:
        """Whether all alphas of a fold may be one run, rather than one of ``solve`` for each."""
        own = self.method == "auto" and self.sampling is None and self.max_iter != 0
        return own and self._treats_columns_alike

    def _moments(self, X: Any, y: Any, weights: Floats | None) -> DataMoments | None:
        """What folds can share; None if each has to be measured by itself."""
        if not self._may_share() or ColumnPath.pays(X) or not DataMoments.pay(X):
            return None
        return DataMoments(X, y, weights, bool(self._intercept()))


GRID = {
    "eps": """float, default 1e-3
    The smallest alpha of a grid, as a share of the largest, at which all coefficients vanish.""",
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
    "eps n_alphas alphas fit_intercept precompute max_iter tol copy_X cv verbose n_jobs positive "
    "random_state selection",
    attributes={
        "alpha_": """float
    The chosen alpha. All attributes after ``mse_path_`` are those of the refit.""",
        "alphas_": """array of shape (n_alphas,)
    The candidates, decreasing.""",
        "mse_path_": """array of shape (n_alphas, n_folds)
    Mean squared errors on the folds.""",
    },
    **GRID,
)
@dataclass(eq=False, repr=False, kw_only=True)
class LassoCV(LeastSquaresCV, Lasso):
    """The Lasso, with alpha chosen by cross-validation along a path, and a certified refit.

    Minimises Σ_i c_i ½(y_i − x_i·w − b)² + alpha·‖w‖₁ with c_i = s_i/Σs, that is ``Problem`` with
    λ = alpha, where s are sample weights.
    """

    verbose: Any = False

    _refitted = Lasso
    path = staticmethod(lasso_path)


@documented(
    "l1_ratio eps n_alphas alphas fit_intercept precompute max_iter tol cv copy_X verbose n_jobs "
    "positive random_state selection",
    attributes={
        "alpha_, l1_ratio_": """float
    The chosen values. All attributes after ``mse_path_`` are those of the refit.""",
        "alphas_": """array of shape (n_alphas,) or (n_l1_ratios, n_alphas)
    The candidates for alpha, decreasing.""",
        "mse_path_": """array of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
    Mean squared errors on the folds.""",
    },
    l1_ratio="""float or array, default 0.5
    The share of L1, or several to choose from. With 0, ``alphas`` must be given.""",
    **GRID,
)
@dataclass(eq=False, repr=False, kw_only=True)
class ElasticNetCV(LeastSquaresCV, ElasticNet):
    """The elastic net, with alpha and ``l1_ratio`` chosen by cross-validation along paths.

    Minimises Σ_i c_i ½(y_i − x_i·w − b)² + alpha·(l1_ratio·‖w‖₁ + ½(1 − l1_ratio)·‖w‖²) with
    c_i = s_i/Σs, that is ``Problem`` with λ = alpha, where s are sample weights.
    """

    _refitted = ElasticNet
    _mixing: ClassVar[str | None] = "l1_ratio"

    def _ratios(self) -> Floats:
        return ratios_of(self.l1_ratio, "l1_ratio")
