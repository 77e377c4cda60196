"""Logistic regression."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax, softmax

from dualgap import losses
from dualgap.estimators.base import InverseStrength, choice
from dualgap.estimators.classifier import LinearClassifier
from dualgap.estimators.docstrings import COMPATIBLE, documented
from dualgap.estimators.fits import Fit
from dualgap.estimators.penalties import by_ratio
from dualgap.estimators.validated import LOGISTIC_SOLVERS
from dualgap.linalg.validate import number


class Probabilities:
    """Probabilities of a logistic or softmax model."""

    classes_: Any
    _is_joint: Any
    _scores: Any

    def predict_proba(self, X: Any, offset: Any = None) -> Any:
        """Probabilities of the classes.

        Those of one-vs-rest problems are divided by their sum.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array, optional
            As for ``decision_function``.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        scores = self._scores(X, offset)
        if scores.ndim == 1:
            return np.stack([expit(-scores), expit(scores)], axis=1)
        if self._is_joint(len(self.classes_)):
            return softmax(scores, axis=1)
        # In logarithms, so that probabilities that are all tiny do not vanish.
        return softmax(-np.logaddexp(0.0, -scores), axis=1)

    def predict_log_proba(self, X: Any, offset: Any = None) -> Any:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array, optional
            As for ``decision_function``.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        scores = self._scores(X, offset)
        if scores.ndim == 1:
            return -np.stack([np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)], axis=1)
        joint = self._is_joint(len(self.classes_))
        return log_softmax(scores if joint else -np.logaddexp(0.0, -scores), axis=1)


@documented(
    "penalty C l1_ratio dual tol fit_intercept intercept_scaling class_weight random_state solver "
    "max_iter multi_class verbose warm_start n_jobs",
    penalty=""""l2", "l1", "elasticnet" or None
    By default ``l1_ratio`` alone defines the penalty. The words are scikit-learn's older way to
    name it; None is the same as ``C=inf``.""",
    l1_ratio="""float, default 0.0
    Share of L1 in the penalty: ``l1_ratio``·‖w‖₁ + ½(1 − ``l1_ratio``)‖w‖².""",
    intercept_scaling=f"""float, default 1
    {COMPATIBLE} The intercept is not penalised.""",
    multi_class=""""auto", "multinomial" or "ovr", default "auto"
    More than two classes: one softmax loss, or a problem for each class against the rest.""",
    n_jobs="""int, optional
    Threads for the problems of one-vs-rest; None is one.""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegression(InverseStrength, Probabilities, LinearClassifier):
    """Logistic regression, for two classes or more.

    Minimises g(w) + C Σ_i s_i φ(x_i·w + b; y_i), that is ``Problem`` with λ = 1/(C·Σ s), where s
    are sample weights times class weights, and φ is the logistic or, for more than two classes, the
    softmax loss.
    """

    penalty: str | None = field(default="deprecated", kw_only=False)
    l1_ratio: float | None = 0.0
    dual: bool = False
    intercept_scaling: float = 1
    solver: str = "lbfgs"
    multi_class: str = "auto"

    _solvers = LOGISTIC_SOLVERS
    _intercept_has_rows = True

    def _loss(self) -> Any:
        return losses.Softmax() if self._joint else losses.Logistic()

    def _ratio(self) -> float:
        """The share of L1."""
        if self.penalty is None:
            return 0.0
        known = ("l2", "l1", "elasticnet", "deprecated")
        kind = choice(self.penalty, "penalty", known)
        if kind in ("l2", "l1"):
            return float(kind == "l1")
        if self.l1_ratio is None:
            if kind == "elasticnet":
                raise ValueError('penalty="elasticnet" needs l1_ratio, a number from 0 to 1')
            return 0.0
        return number(self.l1_ratio, "l1_ratio", 0.0, 1.0)

    def _penalty(self) -> Any:
        return by_ratio(self._ratio())

    def _lam(self, total: float) -> float:
        lam = super()._lam(total)  # checks C in any case
        return 0.0 if self.penalty is None else lam

    def _is_joint(self, classes: int) -> bool:
        known = ("auto", "multinomial", "ovr", "deprecated")
        return choice(self.multi_class, "multi_class", known) != "ovr" and classes > 2

    def _publish(self, fits: list[Fit], *, single: bool) -> None:
        super()._publish(fits, single=single)
        self.n_iter_ = np.atleast_1d(self.n_iter_)
