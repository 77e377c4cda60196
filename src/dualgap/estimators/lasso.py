"""The Lasso and the elastic net."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from dualgap import losses
from dualgap.estimators._docs import documented
from dualgap.estimators._penalties import by_ratio
from dualgap.estimators._regressors import LinearRegressor
from dualgap.linalg.validate import number


@documented(
    l1_ratio="""float, default 0.5
    Share of L1 in the penalty: ``l1_ratio``·‖w‖₁ + ½(1 − ``l1_ratio``)‖w‖².""",
)
class ElasticNet(LinearRegressor):
    """Least squares with a penalty of L1 and L2.

    Minimises 1/(2 Σ s) Σ_i s_i (y_i − x_i·w − b)² + α g(w), that is ``Problem`` with λ = α, where s
    are sample weights. Each column of y is a problem of its own.
    """

    _several_targets = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int | None = 10_000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        n_jobs: int | None = None,
        verbose: int = 0,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _loss(self) -> Any:
        return losses.Squared()

    def _penalty(self) -> Any:
        return by_ratio(number(self.l1_ratio, "l1_ratio", 0.0, 1.0))

    def _lam(self, total: float) -> float:
        return number(self.alpha, "alpha", 0.0)

    @property
    def sparse_coef_(self) -> Any:
        """``coef_`` as a CSR matrix."""
        return sparse.csr_matrix(self.coef_)


@documented()
class Lasso(ElasticNet):
    """Least squares with an L1 penalty.

    Minimises 1/(2 Σ s) Σ_i s_i (y_i − x_i·w − b)² + α‖w‖₁, that is ``Problem`` with λ = α, where s
    are sample weights. Each column of y is a problem of its own.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int | None = 10_000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        n_jobs: int | None = None,
        verbose: int = 0,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        super().__init__(
            alpha,
            l1_ratio=1.0,
            fit_intercept=fit_intercept,
            precompute=precompute,
            max_iter=max_iter,
            copy_X=copy_X,
            tol=tol,
            warm_start=warm_start,
            positive=positive,
            random_state=random_state,
            selection=selection,
            n_jobs=n_jobs,
            verbose=verbose,
            method=method,
            sampling=sampling,
            callback=callback,
        )
