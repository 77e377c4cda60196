"""Least squares with penalties on groups of features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dualgap import losses, penalties
from dualgap.estimators.base import Strength
from dualgap.estimators.docstrings import COMPATIBLE, documented
from dualgap.estimators.regressor import LinearRegressor

GROUPS: dict[str, Any] = {
    "groups": """int, list of int or list of lists of int, default 1
    The size of all groups, which are then adjacent features; the size of each; or the features of
    each, as indices.""",
    "weights": """array of shape (n_groups,), optional
    A factor for the penalty of each group, 1 by default; 0 leaves a group without a penalty.""",
    "max_epochs": f"""int, default 50000
    {COMPATIBLE} See ``max_iter``.""".replace("scikit-learn", "celer and skglm"),
    "p0": f"""int, default 10
    {COMPATIBLE}""".replace("scikit-learn", "celer and skglm"),
    "prune": f"""bool, default True
    {COMPATIBLE}""".replace("scikit-learn", "celer"),
    "ws_strategy": f"""str, default "subdiff"
    {COMPATIBLE}""".replace("scikit-learn", "skglm"),
}


@dataclass(eq=False, repr=False, kw_only=True)
class OnGroups(LinearRegressor):
    """What both share, with parameters of celer and skglm that have no effect here."""

    groups: Any = field(default=1, kw_only=False)
    alpha: float = field(default=1.0, kw_only=False)
    weights: Any = None
    max_epochs: int = 50_000
    p0: int = 10
    prune: bool = True
    ws_strategy: str = "subdiff"
    # These are about single columns, which a penalty on groups does not know.
    penalty_weight: Any = field(default=None, init=False)
    bounds: Any = field(default=None, init=False)

    _lam = Strength._lam  # not a base, since ``groups`` come before ``alpha``

    def _loss(self) -> Any:
        return losses.Squared()


@documented(
    "groups alpha weights max_iter max_epochs p0 verbose tol positive fit_intercept warm_start "
    "prune ws_strategy",
    **GROUPS,
)
@dataclass(eq=False, repr=False, kw_only=True)
class GroupLasso(OnGroups):
    """Least squares with a penalty on the norms of groups: features enter a model together.

    Minimises 1/(2 Σ s) Σ_i s_i (y_i − x_i·w − b)² + α Σ_k ω_k‖w_k‖, that is ``Problem`` with λ = α,
    where w_k are the coefficients of group k, ω its ``weights``, and s sample weights.
    """

    def _penalty(self) -> Any:
        if type(self.groups) is int and self.groups == 1:  # a Lasso, for which more is known
            return (
                penalties.L1()
                if self.weights is None
                else penalties.Weighted(penalties.L1(), self.weights)
            )
        return penalties.GroupLasso(self.groups, self.weights)


@documented(
    "groups alpha tau weights max_iter max_epochs p0 verbose tol positive fit_intercept "
    "warm_start prune ws_strategy",
    tau="""float, default 0.5
    Share of L1 in the penalty, from 0 (group lasso) to 1 (Lasso).""",
    **GROUPS,
)
@dataclass(eq=False, repr=False, kw_only=True)
class SparseGroupLasso(OnGroups):
    """Least squares with a penalty on groups and on single features: few groups, few of each.

    Minimises 1/(2 Σ s) Σ_i s_i (y_i − x_i·w − b)² + α (τ‖w‖₁ + (1 − τ) Σ_k ω_k‖w_k‖), that is
    ``Problem`` with λ = α, where w_k are the coefficients of group k, ω its ``weights``, and s
    sample weights.
    """

    tau: Any = field(default=0.5, kw_only=True)

    def _penalty(self) -> Any:
        return penalties.SparseGroupLasso(self.groups, self.tau, self.weights)
