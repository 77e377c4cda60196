"""Several targets that share features, with the strength chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import validate_data

from dualgap.estimators.docstrings import documented
from dualgap.estimators.multi_task import MultiTaskElasticNet, MultiTaskLasso
from dualgap.estimators.regressor import offset_of_targets
from dualgap.estimators.selection.grids import ratios_of
from dualgap.estimators.selection.group_lasso_cv import OnGroupsCV
from dualgap.estimators.selection.lasso_cv import GRID
from dualgap.estimators.validated import DTYPES, STORAGES
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.run.solution import Solution


@dataclass(eq=False, repr=False, kw_only=True)
class _MultiTaskCV(OnGroupsCV):
    """Folds of rows of targets."""

    _several_targets = True

    def _validated(self: Any, X: Any, y: Any) -> tuple[Any, Any]:
        rules = {"accept_sparse": STORAGES, "dtype": DTYPES, "y_numeric": True}
        X, y = validate_data(self, X, y, multi_output=True, **rules)
        return X, self._columns(y)

    def _grids(self, X: Any, y: Any, weights: Floats | None, ratios: Floats) -> Floats:
        if (ratios == 0.0).any() and self._wants_grid():
            raise ValueError(
                "with l1_ratio=0 no alpha makes every coefficient zero: give the alphas yourself"
            )
        return super()._grids(X, y, weights, ratios)

    def _least_squares(self, X: Any, y: Any, weights: Floats | None, ratio: float) -> Problem:
        return super()._least_squares(X, y[:, 0] if y.shape[1] == 1 else y, weights, ratio)

    def _checked_offset(self, offset: Any, y: Any) -> Floats:
        return np.broadcast_to(offset_of_targets(offset, y).reshape(len(y), -1), y.shape)

    def _shared(self, ratio: float) -> dict[str, Any]:
        return {"fit_intercept": self.fit_intercept, "positive": self.positive}

    def _squared_error(self, X: Any, y: Any, weights: Any, solution: Solution) -> float:
        coef = solution.coef.reshape(X.shape[1], -1)
        squares = (X @ coef + solution.intercept - y) ** 2
        return float(np.average(squares.mean(axis=1), weights=weights))


@documented(
    "eps n_alphas alphas fit_intercept precompute max_iter tol copy_X cv verbose n_jobs "
    "random_state selection",
    attributes={
        "alpha_": """float
    The chosen alpha. All attributes after ``mse_path_`` are those of the refit.""",
        "alphas_": """array of shape (n_alphas,)
    The candidates, decreasing.""",
        "mse_path_": """array of shape (n_alphas, n_folds)
    Mean squared errors on the folds, of all targets.""",
    },
    **GRID,
)
@dataclass(eq=False, repr=False, kw_only=True)
class MultiTaskLassoCV(_MultiTaskCV, MultiTaskLasso):
    """Several targets with a penalty on the norms of rows, whose alpha cross-validation chooses.

    Minimises 1/(2 Σ s) Σ_i s_i ‖y_i − x_i·W − b‖² + α Σ_j ‖W_j‖, that is ``Problem`` with λ = α and
    ``GroupLasso(1)``, where W_j are the coefficients of feature j for all targets, and s are sample
    weights.
    """

    verbose: Any = False

    _refitted = MultiTaskLasso


@documented(
    "l1_ratio eps n_alphas alphas fit_intercept precompute max_iter tol cv copy_X verbose n_jobs "
    "random_state selection",
    attributes={
        "alpha_, l1_ratio_": """float
    The chosen values. All attributes after ``mse_path_`` are those of the refit.""",
        "alphas_": """array of shape (n_alphas,) or (n_l1_ratios, n_alphas)
    The candidates for alpha, decreasing.""",
        "mse_path_": """array of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
    Mean squared errors on the folds, of all targets.""",
    },
    l1_ratio="""float or array, default 0.5
    The share of the norms, or several to choose from. With 0, ``alphas`` must be given.""",
    **GRID,
)
@dataclass(eq=False, repr=False, kw_only=True)
class MultiTaskElasticNetCV(_MultiTaskCV, MultiTaskElasticNet):
    """Several targets with penalties on rows, whose alpha and ``l1_ratio`` cross-validation
    chooses.

    Minimises 1/(2 Σ s) Σ_i s_i ‖y_i − x_i·W − b‖² + α Σ_j (ρ‖W_j‖ + ½(1 − ρ)‖W_j‖²), that is
    ``Problem`` with λ = α and ``GroupLasso(1)``, where W_j are the coefficients of feature j for
    all targets, ρ = ``l1_ratio``, and s are sample weights.
    """

    _refitted = MultiTaskElasticNet
    _mixing: ClassVar[str | None] = "l1_ratio"

    def _ratios(self) -> Floats:
        return ratios_of(self.l1_ratio, "l1_ratio")

    def _shared(self, ratio: float) -> dict[str, Any]:
        return {**super()._shared(ratio), "l1_ratio": float(ratio)}
