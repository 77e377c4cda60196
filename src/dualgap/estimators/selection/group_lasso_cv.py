"""Group lassos with the strength chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dualgap.estimators.docstrings import documented
from dualgap.estimators.group_lasso import GROUPS, GroupLasso, SparseGroupLasso
from dualgap.estimators.selection.grids import alphas_of, ratios_of
from dualgap.estimators.selection.lasso_cv import GRID, LeastSquaresCV
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem

_CHOSEN = {
    "alphas_": """array of shape (n_alphas,)
    The candidates, decreasing.""",
    "mse_path_": """array of shape (n_alphas, n_folds)
    Mean squared errors on the folds.""",
}


@dataclass(eq=False, repr=False, kw_only=True)
class OnGroupsCV(LeastSquaresCV):
    """Each fold follows a path of warm starts."""

    def _grids(self, X: Any, y: Any, weights: Floats | None, ratios: Floats) -> Floats:
        count = 100 if self.n_alphas is None else self.n_alphas
        problems = (self._least_squares(X, y, weights, ratio) for ratio in ratios)
        return np.stack([alphas_of(one, self.alphas, count, self.eps) for one in problems])

    def _least_squares(self, X: Any, y: Any, weights: Floats | None, ratio: float) -> Problem:
        refitted = self._refitted(**self._shared(ratio))
        return refitted._problem(X, refitted._subproblem(y, weights, X.shape[1], 1.0))

    def _shared(self, ratio: float) -> dict[str, Any]:
        """The parameters of the penalty."""
        names = ("groups", "weights", "positive", "fit_intercept")
        return {name: getattr(self, name) for name in names}

    def _may_share(self) -> bool:
        return False


@documented(
    "groups eps n_alphas alphas weights fit_intercept precompute max_iter tol cv verbose "
    "max_epochs p0 prune positive n_jobs ws_strategy",
    attributes={
        "alpha_": """float
    The chosen alpha. All attributes after ``mse_path_`` are those of the refit.""",
        **_CHOSEN,
    },
    **GROUPS,
    **GRID,
)
@dataclass(eq=False, repr=False, kw_only=True)
class GroupLassoCV(OnGroupsCV, GroupLasso):
    """The group lasso, with alpha chosen by cross-validation along a path, and a certified refit.

    Minimises 1/(2 Σ s) Σ_i s_i (y_i − x_i·w − b)² + α Σ_k ω_k‖w_k‖, that is ``Problem`` with λ = α,
    where w_k are the coefficients of group k, ω its ``weights``, and s sample weights.
    """

    _refitted = GroupLasso


@documented(
    "groups tau eps n_alphas alphas weights fit_intercept precompute max_iter tol cv verbose "
    "max_epochs p0 prune positive n_jobs ws_strategy",
    attributes={
        "alpha_, tau_": """float
    The chosen values. All attributes after ``mse_path_`` are those of the refit.""",
        "alphas_": """array of shape (n_alphas,) or (n_taus, n_alphas)
    The candidates for alpha, decreasing.""",
        "mse_path_": """array of shape (n_alphas, n_folds) or (n_taus, n_alphas, n_folds)
    Mean squared errors on the folds.""",
    },
    tau="""float or array, default 0.5
    The share of L1, or several to choose from.""",
    **GROUPS,
    **GRID,
)
@dataclass(eq=False, repr=False, kw_only=True)
class SparseGroupLassoCV(OnGroupsCV, SparseGroupLasso):
    """The sparse group lasso, with alpha and ``tau`` chosen by cross-validation along paths.

    Minimises 1/(2 Σ s) Σ_i s_i (y_i − x_i·w − b)² + α (τ‖w‖₁ + (1 − τ) Σ_k ω_k‖w_k‖), that is
    ``Problem`` with λ = α, where w_k are the coefficients of group k, ω its ``weights``, and s
    sample weights.
    """

    _refitted = SparseGroupLasso
    _mixing: ClassVar[str | None] = "tau"

    def _ratios(self) -> Floats:
        return ratios_of(self.tau, "tau")

    def _shared(self, ratio: float) -> dict[str, Any]:
        return {**super()._shared(ratio), "tau": float(ratio)}
