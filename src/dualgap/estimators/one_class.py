"""Detection of outliers by a linear one-class support vector machine.

With S = Σ s the objective ½‖w‖² + Σ_i s_i max(0, ρ − w·x_i) − νSρ of Schölkopf et al. (2001) is

    ½‖w − m‖² + Σ_i s_i max(ν r_i, (ν − 1) r_i) − ½‖m‖²,    r_i = w·x_i − ρ,  m = ν Σ_i s_i x_i,

since −νSρ = ν Σ s r − w·m. With w = m − v these are the residuals of a regression on x with
coefficients v: it predicts the ν-quantile of m·x under the penalty ½‖v‖², and ρ is its intercept.
So every method for quantiles solves it. The certificate is that of w, for the exact m.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.extmath import safe_sparse_dot

from dualgap.compile.scalar import EPS
from dualgap.estimators.base import CertifiedModel, choice, total_weight
from dualgap.estimators.docstrings import documented
from dualgap.estimators.fits import Fit, Subproblem, finish, first_use, solve_all, with_callbacks
from dualgap.estimators.reports import Reports
from dualgap.estimators.validated import (
    check_settings,
    refuse_as_sklearn,
    sample_weights,
    unlabelled_data,
)
from dualgap.linalg.validate import Floats, NotFiniteError, number
from dualgap.losses import Quantile
from dualgap.penalties import L2
from dualgap.penalties.centred import Centred
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof.predictions import CertifiedPredictions
from dualgap.proof.proof_file import Proven, write_proof
from dualgap.proof.rounding import error_of_u
from dualgap.proof.stated_models import OneClass
from dualgap.run.snapshot import Snapshot


class _Statement(NamedTuple):
    """The regression that is solved, and the same problem about −w, which is proven."""

    regression: Problem
    mirrored: Problem
    centre: Floats  # m


def _state(X: Any, weights: Floats | None, nu: float) -> _Statement:
    zeros, lam = np.zeros(X.shape[0]), 1.0 / total_weight(weights, X.shape[0])
    data = Problem(X, zeros, Quantile(nu), L2(), lam, weights, True)
    share = np.full(data.n, nu)
    centre, error = (v[: data.p].copy() for v in (data.average(share), error_of_u(data, share)))
    if data.shift is not None:
        places, by = data.shift
        own = nu / lam * by
        centre[places] += own
        error[places] += 4.0 * EPS * (np.abs(own) + np.abs(centre[places]))
    scores = data.decision(np.append(centre, 0.0))  # up to a constant, for which the intercept is
    regression = Problem(data, scores, Quantile(nu), L2(), lam, weights, True)
    penalty = Centred(-centre, error)
    mirrored = Problem(data, zeros, Quantile(nu), penalty, lam, weights, True)
    mirrored.__dict__["scale"] = regression.scale  # that of w = m: tol means the same for both
    return _Statement(regression, mirrored, centre)


@documented(
    "kernel tol nu verbose max_iter",
    kernel=""""linear", default "linear"
    The only one.""",
    nu="""float, default 0.5
    Above 0, and at most 1: a bound on the share of the samples, by weight, that are outliers.""",
    attributes={
        "coef_, intercept_": """arrays of shape (1, n_features) and (1,)
        The model: x·w + b is above 0 for inliers.""",
        "offset_": """array of shape (1,)
        ρ = −b: samples with a smaller score x·w are outliers.""",
    },
)
@dataclass(eq=False, repr=False, kw_only=True)
class OneClassSVM(CertifiedPredictions, OutlierMixin, CertifiedModel):
    """Detection of outliers by a linear one-class support vector machine.

    Minimises ½‖w‖² + Σ_i s_i (max(0, −z_i) + ν b) with z_i = x_i·w + b, where s are sample weights:
    scikit-learn's ``OneClassSVM(kernel="linear")`` in its units. The certificate has the objective
    divided by Σ s, which makes λ = 1/Σ s, and counted from its bound −‖m‖²/(2 Σ s), where
    m = ν Σ s x is the w of ν = 1.
    """

    nu: float = 0.5
    kernel: str = "linear"
    fit_intercept: bool = field(default=True, init=False)
    positive: bool = field(default=False, init=False)
    penalty_weight: Any = field(default=None, init=False)
    bounds: Any = field(default=None, init=False)

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the model and prove how good it is.

        Parameters
        ----------
        X : array, CSR or CSC matrix of shape (n_samples, n_features)
            float32 and float64 are read in place.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; a weight of 2 is the same as a repeated sample.

        Returns
        -------
        self
        """
        choice(self.kernel, "kernel", ("linear",))
        nu = number(self.nu, "nu", 0.0, 1.0, open_low=True)
        check_settings(self)
        X = unlabelled_data(self, X)
        weights = sample_weights(sample_weight, X.shape[0])
        reports = Reports(self, X, None, weights, 1)
        try:
            with first_use(self):
                stated = _state(X, weights, nu)
                self._centre = stated.centre
                found = self._solved(stated, reports)
        except NotFiniteError:
            refuse_as_sklearn(self, X)
            raise
        self._publish([found], single=False)
        self.offset_ = -self.intercept_
        trained: Any = X, None, stated.mirrored, found
        self._trained = trained
        reports.end()
        return self

    def _solved(self, stated: _Statement, reports: Reports) -> Fit:
        regression, mirrored, centre = stated
        parts = regression.plain_y, regression.s, regression.loss, L2(), regression.lam
        (fit,) = solve_all(self, regression, [Subproblem(*parts)], self._start(stated), reports)
        w = joined(regression, fit.solution.coef, fit.solution.intercept)
        w[: mirrored.p] -= centre
        coef, intercept = mirrored.split(w)
        own = replace(
            fit.solution, coef=coef, intercept=intercept, dual=fit.dual, proof=None,
            problem=mirrored,
        )  # fmt: skip
        found = finish(mirrored, own)
        shown = replace(found.solution, coef=-coef, intercept=-intercept, dual=-fit.dual)
        return found._replace(
            solution=shown, coef=-found.coef, intercept=-found.intercept, dual=-found.dual
        )

    def _problem(self, X: Any, subproblem: Subproblem) -> Problem:
        regression: Problem = X  # stated already
        return regression

    def _start(self, stated: _Statement) -> list[Any]:
        """The last fit as coefficients of the regression."""
        ((start),) = self._starts(stated.regression.X, 1)
        if start is None:
            return [None]
        coef, intercept, dual = start
        w = -joined(stated.regression, coef, intercept)
        w[: stated.regression.p] += stated.centre
        return [(*stated.regression.split(w), None if dual is None else -dual)]

    def _as_fitted(self, snapshot: Snapshot) -> dict[str, Any]:
        return {
            "coef_": np.atleast_2d(self._centre - snapshot.coef),
            "intercept_": -np.atleast_1d(snapshot.intercept),
        }

    def save_proof(self, path: Any) -> Any:
        X, _, problem, fit = self._training("save_proof")
        parts = -fit.coef, -fit.intercept, -fit.dual, fit.certificate
        return write_proof(path, X, None, [Proven(problem, *parts, model=OneClass(self.nu))])

    save_proof.__doc__ = CertifiedModel.save_proof.__doc__

    def summary(
        self, covariance: str = "model", confidence: float = 0.95, groups: Any = None
    ) -> Any:
        """Refused: there is no likelihood, and the loss has kinks."""
        raise ValueError(
            "OneClassSVM.summary: a loss with kinks and no likelihood has no standard errors; use "
            "the bootstrap"
        )

    # --- predictions ---------------------------------------------------------------------------

    def score_samples(self, X: Any) -> Any:
        """The scores x·w: the smaller, the more abnormal.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        data = self._read(X)
        return safe_sparse_dot(data, self.coef_.T, dense_output=True).ravel()

    def decision_function(self, X: Any) -> Any:
        """How far scores are above ``offset_``: negative for outliers.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self.score_samples(X) + self.intercept_

    def predict(self, X: Any) -> Any:
        """1 for inliers and −1 for outliers.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def predict_certified(self, X: Any) -> Any:
        """Whether each prediction is proven to be that of the exact optimum.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        boolean array of shape (n_samples,)
        """
        return np.abs(self.decision_function(X)) > self.decision_radius(X)
