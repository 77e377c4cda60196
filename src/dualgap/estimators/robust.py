"""Regression that outliers do not rule: Huber's loss and quantiles."""

from __future__ import annotations

from typing import Any

from dualgap import losses, penalties
from dualgap.estimators._docs import documented
from dualgap.estimators._regressors import LinearRegressor
from dualgap.linalg.validate import number


@documented(
    delta="""float, default 1.35
    Residuals up to this size count by their squares, larger ones by their size. In units of y:
    scikit-learn's ``HuberRegressor``, which also estimates a scale, is another model.""",
    alpha="""float, default 0.0001
    Strength of the penalty; 0 for none.""",
    tol="""float, default 1e-5
    Stop when the certified duality gap is at most ``tol`` times the objective at zero
    coefficients and the best intercept.""",
)
class HuberRegression(LinearRegressor):
    """Regression with Huber's loss and an L2 penalty.

    Minimises 1/(Σ s) Σ_i s_i φ(x_i·w + b; y_i) + (α/2)‖w‖², that is ``Problem`` with λ = α, where s
    are sample weights.
    """

    def __init__(
        self,
        *,
        delta: float = 1.35,
        max_iter: int = 10_000,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-5,
        positive: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.delta = delta
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.positive = positive
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _loss(self) -> Any:
        return losses.Huber(self.delta)

    def _lam(self, total: float) -> float:
        return number(self.alpha, "alpha", 0.0)


@documented(
    quantile="""float, default 0.5
    Which quantile to predict, between 0 and 1.""",
    tol="""float, default 1e-6
    Stop when the certified duality gap is at most ``tol`` times the objective at zero coefficients
    and the best intercept; small, since scikit-learn's solvers of linear programs are exact.""",
)
class QuantileRegressor(LinearRegressor):
    """Prediction of a quantile, with an L1 penalty.

    Minimises 1/(Σ s) Σ_i s_i max(q r_i, (q − 1) r_i) + α‖w‖₁ with r_i = y_i − x_i·w − b, that is
    ``Problem`` with λ = α, where s are sample weights.
    """

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "highs",
        solver_options: Any = None,
        max_iter: int = 10_000,
        tol: float = 1e-6,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _loss(self) -> Any:
        quantile = number(self.quantile, "quantile", 0.0, 1.0, open_low=True)
        if quantile == 1.0:
            raise ValueError("quantile must be < 1, not 1.0")
        return losses.Quantile(quantile)

    def _penalty(self) -> Any:
        return penalties.L1()

    def _lam(self, total: float) -> float:
        return number(self.alpha, "alpha", 0.0)
