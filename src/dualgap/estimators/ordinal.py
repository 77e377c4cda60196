"""Ordinal logistic regression: classes in an order, thresholds between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from dualgap import losses
from dualgap.estimators.base import CertifiedModel, InverseStrength, flag, total_weight
from dualgap.estimators.classifier import class_weights, refuse_one_class
from dualgap.estimators.docstrings import documented
from dualgap.estimators.fits import Fit, Subproblem, with_callbacks
from dualgap.estimators.offsets import checked_offset
from dualgap.estimators.ordered_classes import OrderedClasses
from dualgap.estimators.validated import labelled_data, sample_weights
from dualgap.linalg.shift import Shift
from dualgap.penalties import L2
from dualgap.penalties.structure import check_penalty
from dualgap.problem.ordinal import ordinal_problem, rows_of
from dualgap.proof.intercept_reach import SUM_ERROR
from dualgap.proof.predictions import CertifiedPredictions
from dualgap.proof.proof_file import Proven, as_label, write_proof
from dualgap.proof.radius import Radius
from dualgap.proof.stated_models import Ordinal
from dualgap.run.snapshot import Snapshot


@documented(
    "C tol class_weight max_iter warm_start",
    class_weight="""dict or "balanced", optional
    Factors for the weights of samples, by class. "balanced" gives each class the same total.""",
    attributes={
        "classes_": """array of shape (n_classes,)
        The classes in their order: that of y's categories if y is a pandas categorical with an
        order, else sorted.""",
        "coef_": """array of shape (n_features,)
        The coefficients w: the larger x·w, the higher the class.""",
        "thresholds_": """array of shape (n_classes − 1,)
        The thresholds θ between classes; -inf below and inf above all classes that have samples.
        Classes between without samples have no room between theirs.""",
        "intercept_": """array of shape (n_classes − 1,)
        −θ: x·w + intercept_[k] are the log-odds of a class above classes_[k].""",
        "threshold_radius_": """array of shape (n_classes − 1,)
        How far each threshold can be from that of the exact optimum; infinite without a penalty.
        """,
        "dual_coef_": """array
        Dual variables of the logistic terms: one for each sample and threshold next to its
        class.""",
    },
)
@dataclass(eq=False, repr=False, kw_only=True)
class OrdinalLogisticRegression(
    InverseStrength, OrderedClasses, CertifiedPredictions, ClassifierMixin, CertifiedModel
):
    """Logistic regression for classes that have an order, with proportional odds.

    P(y ≤ k) = 1/(1 + exp(x·w − θ_k)) with thresholds θ_0 < θ_1 < ... that are not penalised.
    Minimises ½‖w‖² + C Σ_i s_i (−log P(y_i)), where s are sample weights times class weights. The
    certificate has the objective divided by C Σ_i s_i m_i, which makes λ = 1/(C Σ s m); m_i is the
    number of thresholds next to the class of a sample, 1 or 2. With two classes it is
    ``LogisticRegression``.
    """

    class_weight: Any = None
    fit_intercept: bool = field(default=True, init=False)
    positive: bool = field(default=False, init=False)
    bounds: Any = field(default=None, init=False)

    def _loss(self) -> Any:
        return losses.Logistic()

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Any:
        """Fit the model and prove how good it is.

        Parameters
        ----------
        X : array, CSR or CSC matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array of shape (n_samples,), optional
            Weights ≥ 0; a weight of 2 is the same as a repeated sample.
        offset : array of shape (n_samples,), optional
            Added to x·w.

        Returns
        -------
        self
        """
        order = _order_of(y)
        X, y = labelled_data(self, X, y)
        weights = sample_weights(sample_weight, len(y))
        self.classes_, codes = _classes(y, order)
        weights = self._weights(codes, weights)
        used = np.bincount(codes, weights, len(self.classes_)) > 0.0
        refuse_one_class(self.classes_[used], self)
        self._used = used
        # Those of classes without weight have no weight either, whatever their code.
        codes = np.clip(np.cumsum(used)[codes] - 1, 0, None)
        own = None if offset is None else checked_offset(offset, len(y), 1)
        count = int(np.count_nonzero(used))
        rows = rows_of(codes, count)
        self._stacked = rows, codes, weights, X.shape[1]
        total = total_weight(None if weights is None else weights[rows.samples], len(rows.samples))
        subproblem = self._subproblem(rows.signs, weights, X.shape[1], self._lam(total))
        return self._complete(X, y, weights, [subproblem._replace(offset=own)], single=True)

    def _weights(self, codes: Any, weights: Any) -> Any:
        found = np.unique(codes)
        by_class = class_weights(
            self.class_weight, self.classes_[found], np.searchsorted(found, codes), weights
        )
        if by_class is None:
            return weights
        own = by_class[np.searchsorted(found, codes)]
        return own if weights is None else weights * own

    def _penalty(self) -> Any:
        return L2()

    def _problem(self, X: Any, subproblem: Subproblem) -> Any:
        rows, codes, weights, _ = self._stacked
        count = int(np.count_nonzero(self._used))
        base, lam, offset = subproblem.penalty, subproblem.lam, subproblem.offset
        return ordinal_problem(X, codes, count, rows, base, lam, weights, offset)

    # --- attributes ----------------------------------------------------------------------------

    def _publish(self, fits: list[Fit], *, single: bool) -> None:
        (fit,) = fits
        p = self._stacked[-1]
        thresholds = self._thresholds(fit.coef[p:], fit.intercept)
        shown = fit._replace(
            coef=fit.coef[:p],
            intercept=-thresholds,
            radius=lambda: _of_thresholds(fit.radius(), p),
            zeros=lambda: fit.zeros()[:p],
        )
        super()._publish([shown], single=single)
        self.thresholds_ = thresholds

    def _thresholds(self, gaps: Any, intercept: Any) -> Any:
        """The thresholds between all classes, from those between classes with samples."""
        known = np.cumsum(np.append(-intercept, gaps)).astype(np.asarray(gaps).dtype)
        below = np.cumsum(self._used)[:-1]  # how many of these are on the left
        return np.concatenate([[-np.inf], known, [np.inf]])[below].astype(known.dtype)

    def _added(self) -> Any:
        return 0.0  # ``decision_radius`` is about x·w

    def _are_mine(self, coef: Any, intercept: Any) -> bool:
        same = np.array_equal(self.thresholds_, -np.atleast_1d(intercept))
        return same and super()._are_mine(coef, intercept)

    def decision_radius(self, X: Any, offset: Any = None) -> Any:
        """How far each x·w can be from that of the exact optimum.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        offset : array of shape (n_samples,), optional
            Added to x·w and to that of the optimum; it matters for rounding errors only.

        Returns
        -------
        array of shape (n_samples,)
            Includes rounding errors. Infinite if nothing is proven, as without a penalty.
        """
        data = self._data(X)
        own = self._radii[0]._replace(shift=None).of_features(data)
        return own + self._rounding(data, offset)[:, 0]

    @property
    def threshold_radius_(self) -> Any:
        """How far each threshold can be from that of the exact optimum."""
        if not hasattr(self, "_radii"):
            raise AttributeError("threshold_radius_: this model has no proof")
        radius = self._radii[0]
        found = radius.intercept
        if radius.shift is not None:  # bounds are about θ − μ·w
            weights = radius.spread[radius.shift.places]
            moved = float(np.sum(radius.shift.by**2 * weights))
            found = found + radius.root * np.sqrt(moved) * SUM_ERROR
        below = np.cumsum(self._used)[:-1]
        return np.concatenate([[0.0], found, [0.0]])[below]

    def _starts(self, X: Any, count: int) -> list[Any]:
        p = X.shape[1]
        if not flag(self.warm_start, "warm_start") or np.shape(getattr(self, "coef_", 0)) != (p,):
            return [None]
        known = np.unique(self.thresholds_[np.isfinite(self.thresholds_)])
        if len(known) != np.count_nonzero(self._used) - 1:
            return [None]
        coef = np.concatenate([self.coef_, np.diff(known)])
        return [(coef, -known[0], self._dual_start())]

    def _dual_start(self) -> Any:
        dual = getattr(self, "dual_coef_", np.empty(0))
        return dual if dual.shape == self._stacked[0].samples.shape else None

    def _as_fitted(self, snapshot: Snapshot) -> dict[str, Any]:
        p = self._stacked[-1]
        own = self._thresholds(snapshot.coef[p:], snapshot.intercept)
        return {"coef_": snapshot.coef[:p], "intercept_": -own, "thresholds_": own}

    def _ordered(self, fit: Fit) -> tuple[Any, list[str]]:
        """Data, coefficients and thresholds between classes that have samples; these classes."""
        X, _, (subproblem,), _ = self._training("summary")
        _, codes, weights, p = self._stacked
        thresholds = np.cumsum(np.append(-fit.intercept, fit.coef[p:])).astype(np.float64)
        coef = np.asarray(fit.coef[:p], dtype=np.float64)
        parts = X, codes, weights, subproblem.offset, coef, thresholds
        return parts, [str(label) for label in self.classes_[self._used]]

    def save_proof(self, path: Any) -> Any:
        X, y, (subproblem,), (fit,) = self._training("save_proof")
        problem = self._problem(X, subproblem)
        rows, codes, weights, p = self._stacked
        count, model = int(np.count_nonzero(self._used)), None
        if count > 2:
            model = Ordinal(
                check_penalty(subproblem.penalty, p),
                rows,
                p,
                weights,
                subproblem.offset,
                len(codes),
            )
        parts = fit.coef, fit.intercept, fit.dual, fit.certificate
        proven = Proven(problem, *parts, 0, _labels(y, codes, count), model)
        return write_proof(path, X, y, [proven])

    save_proof.__doc__ = CertifiedModel.save_proof.__doc__

    def without_proof(self) -> Any:
        self.__dict__.pop("_stacked", None)
        return super().without_proof()

    without_proof.__doc__ = CertifiedModel.without_proof.__doc__

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_stacked", None)  # of the training data
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # where classes have no order
        return tags


def _order_of(y: Any) -> Any:
    """The categories of a pandas categorical with an order; None for other targets."""
    kind: Any = getattr(y, "dtype", None)
    return np.asarray(kind.categories) if getattr(kind, "ordered", False) is True else None


def _classes(y: Any, order: Any) -> tuple[Any, Any]:
    """The classes in their order, and the place of each sample's class."""
    found, codes = np.unique(y, return_inverse=True)
    if order is None:
        return found, codes
    places = {label: k for k, label in enumerate(order)}
    return order, np.array([places[label] for label in found])[codes]


def _labels(y: Any, codes: Any, classes: int) -> list[tuple[Any, float]]:
    """The code of each label that a proof file states."""
    found, first = np.unique(y, return_index=True)
    own = 2.0 * codes - 1.0 if classes == 2 else codes.astype(float)
    return [(as_label(label), float(own[i])) for label, i in zip(found, first)]


def _of_thresholds(radius: Radius, p: int) -> Radius:
    """The radius of coefficients of features, and of each threshold."""
    shift = radius.shift
    if shift is not None:  # of the columns of the rows' problem, which may be gaps
        own = shift.places < p
        shift = Shift(shift.places[own], shift.by[own])
    reach = np.atleast_1d(radius.intercept)
    return radius._replace(spread=radius.spread[:p], intercept=reach, shift=shift)
