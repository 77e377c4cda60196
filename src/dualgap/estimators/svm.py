"""Linear support vector machines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap import losses, penalties
from dualgap.estimators.base import InverseStrength, choice, flag
from dualgap.estimators.classifier import LinearClassifier
from dualgap.estimators.docstrings import documented
from dualgap.estimators.fits import Fit
from dualgap.estimators.regressor import LinearRegressor
from dualgap.linalg.validate import number


@dataclass(eq=False, repr=False, kw_only=True)
class _SupportVectors(InverseStrength):
    """What classification and regression share: an intercept that may be penalised."""

    intercept_scaling: float = 1
    dual: Any = "auto"
    intercept_penalty: str = "none"

    def _intercept(self) -> bool | str:
        wanted = flag(self.fit_intercept, "fit_intercept")
        kind = choice(self.intercept_penalty, "intercept_penalty", ("none", "l2"))
        return "penalised" if wanted and kind == "l2" else wanted


@documented(
    "penalty loss dual tol C multi_class fit_intercept intercept_scaling class_weight verbose "
    "random_state max_iter intercept_penalty positive warm_start",
    penalty=""""l2" or "l1", default "l2"
    ½‖w‖² or ‖w‖₁.""",
    loss=""""squared_hinge" or "hinge", default "squared_hinge"
    max(0, 1 − yz)² or max(0, 1 − yz).""",
    multi_class=""""ovr" or "crammer_singer"
    One problem for each class against the rest; or, for more than two classes, one problem for all
    of them, with the loss max_k (z_k − z_y + [k ≠ y]). It ignores ``loss``, as liblinear does, and
    needs ``penalty="l2"``.""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVC(_SupportVectors, LinearClassifier):
    """Support vector classification.

    Minimises g(w) + C Σ_i s_i φ(x_i·w + b; y_i), that is ``Problem`` with λ = 1/(C·Σ s), where s
    are sample weights times class weights. In a problem of one class against the rest, as in
    liblinear, the rest has class weight 1.
    """

    penalty: str = field(default="l2", kw_only=False)
    loss: str = field(default="squared_hinge", kw_only=False)
    multi_class: str = "ovr"

    def _loss(self) -> Any:
        if self._joint:
            return losses.MulticlassHinge(gamma=0.0)
        if self.multi_class == "crammer_singer":
            return losses.Hinge()
        if choice(self.loss, "loss", ("squared_hinge", "hinge")) == "hinge":
            return losses.Hinge()
        return losses.SquaredHinge(gamma=0.5)

    def _penalty(self) -> Any:
        kind = choice(self.penalty, "penalty", ("l2", "l1"))
        return penalties.L1() if kind == "l1" else penalties.L2()

    def _is_joint(self, classes: int) -> bool:
        kind = choice(self.multi_class, "multi_class", ("ovr", "crammer_singer"))
        if kind == "crammer_singer" and self.penalty != "l2":
            raise ValueError(
                f'multi_class="crammer_singer" needs penalty="l2", not {self.penalty!r}'
            )
        return kind == "crammer_singer" and classes > 2

    def _lam(self, total: float) -> float:
        lam = super()._lam(total)
        # For two classes, whose coefficients are opposite, the difference counts half.
        halved = self.multi_class == "crammer_singer" and not self._joint
        return 0.5 * lam if halved else lam

    def _weights_of(self, k: int | None, indices: Any, weights: Any, by_class: Any) -> Any:
        if k is not None and by_class is not None:
            by_class = by_class.copy()
            by_class[np.arange(len(by_class)) != k] = 1.0
        return super()._weights_of(k, indices, weights, by_class)

    def _publish(self, fits: list[Fit], *, single: bool) -> None:
        super()._publish(fits, single=single)
        self.n_iter_ = int(np.max(self.n_iter_))


@documented(
    "epsilon tol C loss fit_intercept intercept_scaling dual verbose random_state max_iter "
    "intercept_penalty positive warm_start",
    epsilon="""float, default 0.0
    Width of the tube in which residuals cost nothing.""",
    loss=""""epsilon_insensitive" or "squared_epsilon_insensitive"
    max(0, |y − z| − ε) or its square.""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVR(_SupportVectors, LinearRegressor):
    """Support vector regression.

    Minimises ½‖w‖² + C Σ_i s_i φ(x_i·w + b; y_i), that is ``Problem`` with λ = 1/(C·Σ s), where s
    are sample weights.
    """

    epsilon: float = 0.0
    loss: str = "epsilon_insensitive"
    intercept_scaling: float = 1.0

    def _loss(self) -> Any:
        known = ("epsilon_insensitive", "squared_epsilon_insensitive")
        epsilon = number(self.epsilon, "epsilon", 0.0)
        if choice(self.loss, "loss", known) == "epsilon_insensitive":
            return losses.EpsilonInsensitive(epsilon)
        return losses.SquaredEpsilonInsensitive(epsilon, gamma=0.5)

    def _publish(self, fits: list[Fit], *, single: bool) -> None:
        super()._publish(fits, single=single)
        if self.fit_intercept:
            self.intercept_ = np.atleast_1d(self.intercept_)  # scikit-learn's shape
