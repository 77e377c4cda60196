"""Linear support vector machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap import losses, penalties
from dualgap.estimators import _checks
from dualgap.estimators._classes import LinearClassifier
from dualgap.estimators._docs import documented
from dualgap.estimators._fits import Fit
from dualgap.estimators._regressors import LinearRegressor
from dualgap.linalg.validate import number


class _Machine:
    """What both machines do: C, and an intercept that may be penalised."""

    def _lam(self, total: float) -> float:
        return 1.0 / (_checks.inverse_strength(self.C) * total)

    def _intercept(self) -> bool | str:
        wanted = _checks.flag(self.fit_intercept, "fit_intercept")
        kind = _checks.choice(self.intercept_penalty, "intercept_penalty", ("none", "l2"))
        return "penalised" if wanted and kind == "l2" else wanted


@documented(
    penalty=""""l2" or "l1", default "l2"
    ½‖w‖² or ‖w‖₁.""",
    loss=""""squared_hinge" or "hinge", default "squared_hinge"
    max(0, 1 − yz)² or max(0, 1 − yz).""",
    multi_class=""""ovr"
    One problem for each class against the rest.""",
)
class LinearSVC(_Machine, LinearClassifier):
    """Support vector classification.

    Minimises g(w) + C Σ_i s_i φ(x_i·w + b; y_i), that is ``Problem`` with λ = 1/(C·Σ s), where s
    are sample weights times class weights. In a problem of one class against the rest, as in
    liblinear, the rest has class weight 1.
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 10_000,
        intercept_penalty: str = "none",
        positive: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept_penalty = intercept_penalty
        self.positive = positive
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _loss(self) -> Any:
        if _checks.choice(self.loss, "loss", ("squared_hinge", "hinge")) == "hinge":
            return losses.Hinge()
        return losses.SquaredHinge(gamma=0.5)

    def _penalty(self) -> Any:
        kind = _checks.choice(self.penalty, "penalty", ("l2", "l1"))
        return penalties.L1() if kind == "l1" else penalties.L2()

    def _is_joint(self, classes: int) -> bool:
        if self.multi_class == "crammer_singer":
            raise ValueError(
                'multi_class="crammer_singer" has no dual gap here; its smoothed form is '
                "CertifiedClassifier(loss=dualgap.losses.MulticlassHinge(gamma=0.01))"
            )
        _checks.choice(self.multi_class, "multi_class", ("ovr",))
        return False

    def _weights_of(self, k: int | None, indices: Any, weights: Any, by_class: Any) -> Any:
        if k is not None and by_class is not None:
            by_class = by_class.copy()
            by_class[[other for other in range(len(by_class)) if other != k]] = 1.0
        return super()._weights_of(k, indices, weights, by_class)


@documented(
    epsilon="""float, default 0.0
    Width of the tube in which residuals cost nothing.""",
    loss=""""epsilon_insensitive" or "squared_epsilon_insensitive"
    max(0, |y − z| − ε) or its square.""",
)
class LinearSVR(_Machine, LinearRegressor):
    """Support vector regression.

    Minimises ½‖w‖² + C Σ_i s_i φ(x_i·w + b; y_i), that is ``Problem`` with λ = 1/(C·Σ s), where s
    are sample weights.
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 10_000,
        intercept_penalty: str = "none",
        positive: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept_penalty = intercept_penalty
        self.positive = positive
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _loss(self) -> Any:
        known = ("epsilon_insensitive", "squared_epsilon_insensitive")
        epsilon = number(self.epsilon, "epsilon", 0.0)
        if _checks.choice(self.loss, "loss", known) == "epsilon_insensitive":
            return losses.EpsilonInsensitive(epsilon)
        return losses.SquaredEpsilonInsensitive(epsilon, gamma=0.5)

    def _publish(self, fits: list[Fit], *, single: bool) -> None:
        super()._publish(fits, single=single)
        self.intercept_ = np.atleast_1d(self.intercept_)  # scikit-learn's shape
