"""The Lasso and the elastic net."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scipy import sparse

from dualgap import losses
from dualgap.estimators.base import Strength
from dualgap.estimators.docstrings import documented
from dualgap.estimators.penalties import by_ratio
from dualgap.estimators.regressor import LinearRegressor
from dualgap.estimators.selection.paths import enet_path
from dualgap.linalg.validate import number


@documented(
    "alpha l1_ratio fit_intercept precompute max_iter copy_X tol warm_start positive random_state "
    "selection",
    l1_ratio="""float, default 0.5
    Share of L1 in the penalty: ``l1_ratio``·‖w‖₁ + ½(1 − ``l1_ratio``)‖w‖².""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class ElasticNet(Strength, LinearRegressor):
    """Least squares with a penalty of L1 and L2.

    Minimises 1/(2 Σ s) Σ_i s_i (y_i − x_i·w − b)² + α g(w), that is ``Problem`` with λ = α, where s
    are sample weights. Each column of y is a problem of its own.
    """

    alpha: float = field(default=1.0, kw_only=False)
    l1_ratio: Any = 0.5
    precompute: Any = False
    copy_X: bool = True  # noqa: N815 - scikit-learn's name
    selection: str = "cyclic"
    weights: Any = None

    _several_targets = True

    path = staticmethod(enet_path)

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        check_input: bool = True,
        offset: Any = None,
    ) -> Any:
        """Fit the model and prove how good it is.

        Parameters
        ----------
        X : array, CSR or CSC matrix of shape (n_samples, n_features)
            float32 and float64 are read in place.
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; a weight of 2 is the same as a repeated sample.
        check_input : bool, default True
            Accepted for compatibility with scikit-learn; data are checked in any case.
        offset : array of the shape of y, optional
            A known summand of decision values.

        Returns
        -------
        self
        """
        return super().fit(X, y, sample_weight, offset)

    def _loss(self) -> Any:
        return losses.Squared()

    def _penalty(self) -> Any:
        return by_ratio(number(self.l1_ratio, "l1_ratio", 0.0, 1.0))

    @property
    def _factors(self) -> Any:
        if self.weights is None:
            return self.penalty_weight
        if self.penalty_weight is not None:
            raise ValueError("weights is celer's name for penalty_weight: give only one of them")
        return self.weights

    @property
    def sparse_coef_(self) -> Any:
        """``coef_`` as a CSR matrix."""
        return sparse.csr_matrix(self.coef_)


@documented(
    "alpha fit_intercept precompute copy_X max_iter tol warm_start positive random_state selection"
)
@dataclass(eq=False, repr=False, kw_only=True)
class Lasso(ElasticNet):
    """Least squares with an L1 penalty.

    Minimises 1/(2 Σ s) Σ_i s_i (y_i − x_i·w − b)² + α‖w‖₁, that is ``Problem`` with λ = α, where s
    are sample weights. Each column of y is a problem of its own.
    """

    l1_ratio: float = field(default=1.0, init=False)
