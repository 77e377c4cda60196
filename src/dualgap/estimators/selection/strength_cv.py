"""Estimators with the strength of their penalty chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.utils.extmath import safe_sparse_dot

from dualgap.estimators.docstrings import documented
from dualgap.estimators.poisson import PoissonRegressor
from dualgap.estimators.robust import QuantileRegressor
from dualgap.estimators.selection.folds import FOLD_JOBS, REFIT_CALLBACK
from dualgap.estimators.selection.grids import Cs_of
from dualgap.estimators.selection.strengths import StrengthChosen, strengths_of
from dualgap.estimators.svm import LinearSVC, LinearSVR
from dualgap.linalg.validate import Floats

_CS = """int or array, default 10
    The values of C, or how many, from 1e-4 to 1e4."""
_SCORES = """array of shape (n_folds, n_candidates)
    The score of each fold."""
_OF_C = {
    "C_": """float
    The chosen value.""",
    "Cs_": """array
    The candidates.""",
    "scores_": _SCORES,
}
_OF_ALPHA = {
    "alpha_": """float
    The chosen value.""",
    "alphas_": """array
    The candidates.""",
    "scores_": _SCORES,
}


def _scoring(usual: str) -> str:
    return f"""str or callable, optional
    By default {usual}."""


@documented(
    "Cs fit_intercept cv penalty loss scoring tol max_iter class_weight n_jobs verbose",
    attributes=_OF_C,
    Cs=_CS,
    penalty=""""l2" or "l1", default "l2"
    ½‖w‖² or ‖w‖₁.""",
    loss=""""squared_hinge" or "hinge", default "squared_hinge"
    max(0, 1 − yz)² or max(0, 1 − yz).""",
    multi_class=""""ovr"
    One problem for each class against the rest.""",
    scoring=_scoring("the accuracy"),
    n_jobs=FOLD_JOBS,
    callback=REFIT_CALLBACK,
)
@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVCCV(StrengthChosen, LinearSVC):
    """Support vector classification, with C chosen by cross-validation.

    The objective is that of ``LinearSVC``, λ = 1/(C·Σ s).
    """

    penalty: str = field(default="l2", kw_only=True)
    loss: str = field(default="squared_hinge", kw_only=True)
    Cs: Any = 10
    C: float = field(init=False)

    _refitted = LinearSVC
    _strength = "C"

    def _checked_offset(self, offset: Any, y: Any) -> Any:
        raise ValueError("LinearSVCCV takes no offset; LinearSVC does, with a C of your choice")

    def _grid(self, X: Any, y: Any, weights: Floats | None) -> Floats:
        return Cs_of(self.Cs)


@documented(
    "Cs epsilon fit_intercept cv loss scoring tol max_iter n_jobs verbose",
    attributes=_OF_C,
    Cs=_CS,
    epsilon="""float, default 0.0
    Width of the tube in which residuals cost nothing.""",
    loss=""""epsilon_insensitive" or "squared_epsilon_insensitive"
    max(0, |y − z| − ε) or its square.""",
    scoring=_scoring("R²"),
    n_jobs=FOLD_JOBS,
    callback=REFIT_CALLBACK,
)
@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVRCV(StrengthChosen, LinearSVR):
    """Support vector regression, with C chosen by cross-validation.

    The objective is that of ``LinearSVR``, λ = 1/(C·Σ s).
    """

    Cs: Any = 10
    C: float = field(init=False)

    _refitted = LinearSVR
    _strength = "C"

    def _grid(self, X: Any, y: Any, weights: Floats | None) -> Floats:
        return Cs_of(self.Cs)


@documented(
    "alphas fit_intercept cv scoring solver tol max_iter n_jobs verbose",
    attributes=_OF_ALPHA,
    alphas="""int or array, default 10
    The values of alpha, or how many, from 1e4 to 1e-4.""",
    scoring=_scoring("minus the mean deviance"),
    n_jobs=FOLD_JOBS,
    callback=REFIT_CALLBACK,
)
@dataclass(eq=False, repr=False, kw_only=True)
class PoissonRegressorCV(StrengthChosen, PoissonRegressor):
    """Poisson regression, with alpha chosen by cross-validation.

    The objective is that of ``PoissonRegressor``, λ = α.
    """

    alphas: Any = 10
    alpha: Any = field(init=False)

    _refitted = PoissonRegressor
    _usual_scoring = "neg_mean_poisson_deviance"
    _strength = "alpha"

    def _grid(self, X: Any, y: Any, weights: Floats | None) -> Floats:
        found = strengths_of(self.alphas, "alphas")
        return np.logspace(4, -4, found) if isinstance(found, int) else found


@documented(
    "quantile alphas fit_intercept cv scoring solver solver_options tol max_iter n_jobs verbose",
    attributes=_OF_ALPHA,
    quantile="""float, default 0.5
    Which quantile to predict, between 0 and 1.""",
    alphas="""int or array, default 10
    The values of alpha, or how many: from about the one at which all coefficients are 0 down to a
    thousandth of it.""",
    tol="""float, default 1e-6
    Stop when the certified duality gap is at most ``tol`` times the best possible objective (or
    times 0.001·P(0), if that is more; P(0) is the objective of the best constant).""",
    scoring=_scoring("minus the mean pinball loss of the quantile"),
    n_jobs=FOLD_JOBS,
    callback=REFIT_CALLBACK,
)
@dataclass(eq=False, repr=False, kw_only=True)
class QuantileRegressorCV(StrengthChosen, QuantileRegressor):
    """Quantile regression, with alpha chosen by cross-validation.

    The objective is that of ``QuantileRegressor``, λ = α, for one quantile.
    """

    alphas: Any = 10
    alpha: Any = field(init=False)

    _refitted = QuantileRegressor
    _strength = "alpha"

    def _grid(self, X: Any, y: Any, weights: Floats | None) -> Floats:
        q = self._loss().q
        found = strengths_of(self.alphas, "alphas")
        if not isinstance(found, int):
            return found
        c = np.full(len(y), 1.0) if weights is None else weights
        c = c / c.sum()
        order = np.argsort(y, kind="stable")
        at = min(int(np.searchsorted(np.cumsum(c[order]), q)), len(y) - 1)
        middle = y[order][at] if self.fit_intercept else 0.0
        a = c * np.where(y > middle, q, np.where(y < middle, q - 1.0, 0.0))
        a[order[at]] -= a.sum() if self.fit_intercept else 0.0
        most = float(np.max(np.abs(safe_sparse_dot(X.T, a, dense_output=True)))) or 1.0
        return np.asarray(most * np.logspace(0, -3, found))

    def _scorer(self) -> Any:
        if self.scoring is None:
            return make_scorer(mean_pinball_loss, greater_is_better=False, alpha=self._loss().q)
        return super()._scorer()
