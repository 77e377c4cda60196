"""Logistic regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, log_softmax, softmax

from dualgap import losses
from dualgap.estimators import _checks
from dualgap.estimators._classes import LinearClassifier
from dualgap.estimators._docs import COMPATIBLE, documented
from dualgap.estimators._fits import Fit
from dualgap.estimators._penalties import by_ratio
from dualgap.linalg.validate import number


class Probabilities:
    """Probabilities of a logistic or softmax model."""

    _joint: bool

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes.

        Those of one-vs-rest problems are divided by their sum.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([expit(-scores), expit(scores)], axis=1)
        if self._joint:
            return softmax(scores, axis=1)
        # From logarithms, so that all of them being tiny does no harm.
        return softmax(-np.logaddexp(0.0, -scores), axis=1)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return -np.stack([np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)], axis=1)
        return log_softmax(scores if self._joint else -np.logaddexp(0.0, -scores), axis=1)


@documented(
    penalty=""""l2", "l1", "elasticnet" or None
    By default ``l1_ratio`` alone says what the penalty is; the words are an older way to say it,
    and None is the same as ``C=inf``.""",
    l1_ratio="""float, default 0.0
    Share of L1 in the penalty: ``l1_ratio``·‖w‖₁ + ½(1 − ``l1_ratio``)‖w‖².""",
    intercept_scaling=f"""float, default 1
    {COMPATIBLE} The intercept is not penalised.""",
    multi_class=""""auto", "multinomial" or "ovr", default "auto"
    More than two classes: one softmax loss, or a problem for each class against the rest.""",
    n_jobs="""int, optional
    Threads for the problems of one-vs-rest; None is one.""",
)
class LogisticRegression(Probabilities, LinearClassifier):
    """Logistic regression, for two classes or more.

    Minimises g(w) + C Σ_i s_i φ(x_i·w + b; y_i), that is ``Problem`` with λ = 1/(C·Σ s), where s
    are sample weights times class weights, and φ is the logistic or, for more than two classes, the
    softmax loss.
    """

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "lbfgs",
        max_iter: int = 10_000,
        multi_class: str = "auto",
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        positive: bool = False,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.multi_class = multi_class
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.positive = positive
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def _loss(self) -> Any:
        return losses.Softmax() if self._joint else losses.Logistic()

    def _ratio(self) -> float:
        """The share of L1."""
        if self.penalty is None:
            return 0.0
        known = ("l2", "l1", "elasticnet", "deprecated")
        kind = _checks.choice(self.penalty, "penalty", known)
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
        self._ratio()
        C = _checks.inverse_strength(self.C)
        return 0.0 if self.penalty is None else 1.0 / (C * total)

    def _is_joint(self, classes: int) -> bool:
        known = ("auto", "multinomial", "ovr", "deprecated")
        return _checks.choice(self.multi_class, "multi_class", known) != "ovr" and classes > 2

    def _publish(self, fits: list[Fit], *, single: bool) -> None:
        super()._publish(fits, single=single)
        self.n_iter_ = np.atleast_1d(self.n_iter_)
