"""Estimators for any loss and any penalty."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metaestimators import available_if

from dualgap import losses, penalties
from dualgap.estimators import _checks
from dualgap.estimators._classes import LinearClassifier
from dualgap.estimators._docs import documented
from dualgap.estimators._regressors import LinearRegressor
from dualgap.estimators.logistic import Probabilities
from dualgap.linalg.validate import named, number


def _has_probabilities(model: Any) -> bool:
    loss = named(model.loss, losses.REGISTRY, "loss")
    return isinstance(loss, (losses.Logistic, losses.Softmax))


@documented(
    loss="""str or loss, default "logistic"
    A loss of two classes, or one of many classes such as ``losses.Softmax()``; see
    ``dualgap.losses``. With a loss of two, more classes are a problem each, against the rest.""",
    penalty="""str or penalty, default "l2"
    See ``dualgap.penalties``.""",
)
class CertifiedClassifier(Probabilities, LinearClassifier):
    """Classification with any loss and any penalty.

    Minimises g(w) + C Σ_i s_i φ(x_i·w + b; y_i), that is ``Problem`` with λ = 1/(C·Σ s), where s
    are sample weights times class weights. Probabilities exist for the logistic and the softmax
    loss.
    """

    def __init__(
        self,
        loss: Any = "logistic",
        penalty: Any = "l2",
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 10_000,
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _loss(self) -> Any:
        loss = named(self.loss, losses.REGISTRY, "loss")
        if getattr(loss, "targets", "binary") not in ("binary", "classes"):
            raise ValueError(f"loss {self.loss!r} is one of numbers: use CertifiedRegressor")
        return loss

    def _penalty(self) -> Any:
        return named(self.penalty, penalties.REGISTRY, "penalty")

    def _lam(self, total: float) -> float:
        return 1.0 / (_checks.inverse_strength(self.C) * total)

    def _is_joint(self, classes: int) -> bool:
        return bool(getattr(self._loss(), "targets", None) == "classes")

    predict_proba = available_if(_has_probabilities)(Probabilities.predict_proba)
    predict_log_proba = available_if(_has_probabilities)(Probabilities.predict_log_proba)


@documented(
    loss="""str or loss, default "squared"
    See ``dualgap.losses``.""",
    penalty="""str or penalty, default "l2"
    See ``dualgap.penalties``.""",
)
class CertifiedRegressor(LinearRegressor):
    """Regression with any loss and any penalty.

    Minimises 1/(Σ s) Σ_i s_i φ(x_i·w + b; y_i) + α g(w), that is ``Problem`` with λ = α, where s
    are sample weights. Predictions are x·w + b, also for the Poisson loss.
    """

    def __init__(
        self,
        loss: Any = "squared",
        penalty: Any = "l2",
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 10_000,
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _loss(self) -> Any:
        loss = named(self.loss, losses.REGISTRY, "loss")
        if getattr(loss, "targets", "real") not in ("real", "count"):
            raise ValueError(f"loss {self.loss!r} is one of classes: use CertifiedClassifier")
        return loss

    def _penalty(self) -> Any:
        return named(self.penalty, penalties.REGISTRY, "penalty")

    def _lam(self, total: float) -> float:
        return number(self.alpha, "alpha", 0.0)
