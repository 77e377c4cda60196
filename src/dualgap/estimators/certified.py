"""Estimators for any loss and any penalty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sklearn.utils.metaestimators import available_if

from dualgap import losses, penalties
from dualgap.estimators.base import InverseStrength, Strength
from dualgap.estimators.classifier import LinearClassifier
from dualgap.estimators.docstrings import documented
from dualgap.estimators.logistic import Probabilities
from dualgap.estimators.regressor import LinearRegressor
from dualgap.linalg.validate import named
from dualgap.losses.targets import targets_of


def _has_probabilities(model: Any) -> bool:
    loss = named(model.loss, losses.REGISTRY, "loss")
    return isinstance(loss, (losses.Logistic, losses.Softmax))


@dataclass(eq=False, repr=False, kw_only=True)
class _AnyPenalty:
    """Parameters that name a loss and a penalty, each by a word or as an object."""

    loss: Any = field(default="squared", kw_only=False)
    penalty: Any = field(default="l2", kw_only=False)
    # Use penalties.NonNegative, Weighted and Box.
    positive: bool = field(default=False, init=False)
    penalty_weight: Any = field(default=None, init=False)
    bounds: Any = field(default=None, init=False)

    def _penalty(self) -> Any:
        return named(self.penalty, penalties.REGISTRY, "penalty")


@documented(
    "loss penalty C fit_intercept class_weight",
    loss="""str or loss, default "logistic"
    A binary loss, or a multiclass loss such as ``losses.Softmax()``; see ``dualgap.losses``. With a
    binary loss and more than two classes, each class is a problem of its own, against the rest.""",
    penalty="""str or penalty, default "l2"
    See ``dualgap.penalties``.""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class CertifiedClassifier(_AnyPenalty, InverseStrength, Probabilities, LinearClassifier):
    """Classification with any loss and any penalty.

    Minimises g(w) + C Σ_i s_i φ(x_i·w + b; y_i), that is ``Problem`` with λ = 1/(C·Σ s), where s
    are sample weights times class weights. Probabilities exist for the logistic and the softmax
    loss.
    """

    loss: Any = field(default="logistic", kw_only=False)

    def _loss(self) -> Any:
        loss = named(self.loss, losses.REGISTRY, "loss")
        if hasattr(loss, "targets") and not targets_of(loss).labels:
            raise ValueError(f"loss {self.loss!r} is for regression: use CertifiedRegressor")
        return loss

    def _is_joint(self, classes: int) -> bool:
        loss = self._loss()
        return hasattr(loss, "targets") and targets_of(loss).block

    predict_proba = available_if(_has_probabilities)(Probabilities.predict_proba)
    predict_log_proba = available_if(_has_probabilities)(Probabilities.predict_log_proba)


@documented(
    "loss penalty alpha",
    loss="""str or loss, default "squared"
    See ``dualgap.losses``.""",
    penalty="""str or penalty, default "l2"
    See ``dualgap.penalties``.""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class CertifiedRegressor(_AnyPenalty, Strength, LinearRegressor):
    """Regression with any loss and any penalty.

    Minimises 1/(Σ s) Σ_i s_i φ(x_i·w + b; y_i) + α g(w), that is ``Problem`` with λ = α, where s
    are sample weights. Predictions are x·w + b, also for the Poisson loss.
    """

    def _loss(self) -> Any:
        loss = named(self.loss, losses.REGISTRY, "loss")
        if hasattr(loss, "targets") and targets_of(loss).labels:
            raise ValueError(f"loss {self.loss!r} is for classification: use CertifiedClassifier")
        return loss
