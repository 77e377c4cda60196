"""Least squares on several targets, which share the features that they use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from dualgap import losses, penalties
from dualgap.estimators.base import Strength, flag
from dualgap.estimators.docstrings import documented
from dualgap.estimators.fits import Subproblem
from dualgap.estimators.regressor import LinearRegressor
from dualgap.estimators.selection.paths import enet_path
from dualgap.linalg.validate import Floats, number


@documented(
    "alpha l1_ratio fit_intercept copy_X max_iter tol warm_start random_state selection",
    l1_ratio="""float, default 0.5
    Share of the norms in the penalty: α Σ_j (``l1_ratio``·‖W_j‖ + ½(1 − ``l1_ratio``)‖W_j‖²).""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class MultiTaskElasticNet(Strength, LinearRegressor):
    """Least squares on several targets, with a penalty on the norms of rows and their squares.

    Minimises 1/(2 Σ s) Σ_i s_i ‖y_i − x_i·W − b‖² + α Σ_j (ρ‖W_j‖ + ½(1 − ρ)‖W_j‖²), that is
    ``Problem`` with λ = α and ``GroupLasso(1)``, where W_j are the coefficients of feature j for
    all targets, ρ = ``l1_ratio``, and s are sample weights.
    """

    alpha: float = field(default=1.0, kw_only=False)
    l1_ratio: Any = 0.5
    copy_X: bool = True  # noqa: N815 - scikit-learn's name
    selection: str = "cyclic"

    _several_targets = True
    _joint = True

    path = staticmethod(enet_path)

    def _loss(self) -> Any:
        return losses.Squared()

    def _penalty(self) -> Any:
        return penalties.GroupLasso(1, l1_ratio=number(self.l1_ratio, "l1_ratio", 0.0, 1.0))

    def _fit_checked(self, X: Any, y: Any, weights: Any, offset: Any = None) -> Any:
        Y = self._columns(y)
        own = Y[:, 0] if Y.shape[1] == 1 else Y
        # Without a penalty nothing ties targets together.
        joined = self._lam(1.0) > 0.0
        targets = [own] if joined else list(np.ascontiguousarray(Y.T))
        subproblems: list[Subproblem] = self._subproblems(targets, weights, X.shape[1])
        self._joint = joined and Y.shape[1] > 1
        if offset is not None:
            every = np.broadcast_to(offset.reshape(len(Y), -1), Y.shape)
            columns = [every] if self._joint else every.T
            subproblems = [one._replace(offset=own) for one, own in zip(subproblems, columns)]
        return self._complete(X, y, weights, subproblems, single=False)

    def _columns(self, y: Any) -> Floats:
        """y as a matrix, with a column for each target."""
        Y = np.asarray(y, dtype=np.float64)
        if Y.ndim == 1:
            raise ValueError(
                f"y must have a column for each target, not one dimension: for a single target use "
                f"{type(self).__name__.replace('MultiTask', '')}, or y.reshape(-1, 1)"
            )
        return np.ascontiguousarray(Y)

    def _starts(self, X: Any, count: int) -> list[Any]:
        coef = getattr(self, "coef_", None)
        if not (flag(self.warm_start, "warm_start") and self._joint) or coef is None:
            return list(super()._starts(X, count)) if not self._joint else [None] * count
        dual, (n, p) = getattr(self, "dual_coef_", None), X.shape
        if coef.shape[1] != p:
            return [None] * count
        known = getattr(self, "intercept_", 0.0) if self._intercept() else 0.0
        intercept = np.broadcast_to(known, len(coef))
        if dual is not None:
            dual = dual.T if dual.shape == (len(coef), n) else None
        return [(coef.T, intercept.astype(float), dual)]

    @property
    def sparse_coef_(self) -> Any:
        """``coef_`` as a CSR matrix."""
        return sparse.csr_matrix(self.coef_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        return tags


@documented("alpha fit_intercept copy_X max_iter tol warm_start random_state selection")
@dataclass(eq=False, repr=False, kw_only=True)
class MultiTaskLasso(MultiTaskElasticNet):
    """Least squares on several targets, with a penalty on the norms of rows.

    Minimises 1/(2 Σ s) Σ_i s_i ‖y_i − x_i·W − b‖² + α Σ_j ‖W_j‖, that is ``Problem`` with λ = α and
    ``GroupLasso(1)``, where W_j are the coefficients of feature j for all targets, and s are sample
    weights.
    """

    l1_ratio: float = field(default=1.0, init=False)
