"""Estimators on data in parts: ``fit(LinearSVC(), X, y, client)``.

The estimator says what is to be minimised and gets the attributes that its own ``fit`` sets; what
is in between is ``solve``. λ depends on the number of samples and the loss on that of classes, so
both are known only once the partitions have been looked at.
"""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.distributed.block import Block, Model, check_model
from dualgap.distributed.partitioned import Partitioned
from dualgap.distributed.readers import from_dask, from_dataframe
from dualgap.distributed.solve import Options, solved
from dualgap.distributed.sources import Sources, listed
from dualgap.distributed.survey import ByClass, Settled, Survey, label_sums, union
from dualgap.linalg.validate import Floats, unknown
from dualgap.proof.radius import radius
from dualgap.run.solution import Solution


class _ManyClassesError(Exception):
    """A loss of two classes has met more: each is a problem of its own."""


class _Estimated(Partitioned):
    """The problem of an estimator; ``positive``: of which class, against the rest."""

    def __init__(self, estimator: Any, sources: Sources, positive: Any = None) -> None:
        self.estimator, self.sources, self.positive = estimator, sources, positive
        self.classifies = hasattr(estimator, "_is_joint")
        self.classes: Any = None
        # Labels may be anything: those of a loss of many classes may, too.
        loss = "softmax" if self.classifies else estimator._loss()
        self.model = check_model(Model(loss, "l2", 1.0))

    def settled(self, surveys: list[Survey]) -> Settled:
        from dualgap.estimators.classifier import refuse_one_class

        model, labels, by_class = self.estimator, None, None
        total = float(sum(each.weight for each in surveys))
        if self.classifies:
            self.classes = labels = union(surveys)
            refuse_one_class(labels, model)
            model._joint = joint = model._is_joint(len(labels))
            if len(labels) > 2 and not joint:
                if self.positive is None:
                    raise _ManyClassesError
                others = labels[labels != self.positive]
                labels = np.array([others[0], self.positive])
            sums = label_sums(surveys, self.classes)
            by_class = self._by_class(sums)
            total = total if by_class is None else float(sums @ by_class.factors)
        p, lam = max(each.p for each in surveys), model._lam(total)
        one = model._subproblem(np.empty(0), None, p, lam)
        if lam == 0.0:
            raise ValueError("a model without a penalty has no distributed fit: add a penalty")
        scaling = getattr(model, "intercept_scaling", 1.0)
        found = Model(one.loss, one.penalty, one.lam, model._intercept(), scaling)
        return Settled(check_model(found), labels, by_class)

    def _by_class(self, sums: Floats) -> ByClass | None:
        """As for one machine, where a sample for each class has the weight of all of them."""
        from dualgap.estimators.classifier import class_weights

        given, each = getattr(self.estimator, "class_weight", None), np.arange(len(sums))
        k = None if self.positive is None else int(np.searchsorted(self.classes, self.positive))
        by_class = class_weights(given, self.classes, each, sums)
        factors = self.estimator._weights_of(k, each, None, by_class)
        return None if factors is None else ByClass(self.classes, factors)


def fit(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    client: Any = None,
    scheme: str = "cocoa+",
    **options: Any,
) -> Any:
    """Fit an estimator of this package on data in parts, and prove how good the fit is.

    Parameters
    ----------
    estimator : LinearSVC, LogisticRegression, Ridge, ...
        Its tol, max_iter, random_state and callback count; its method does not.
    X : Dask array, Dask dataframe, list of partitions, or what ``from_libsvm`` returns
    y, sample_weight : Dask or other arrays; for a dataframe the names of columns, or Dask series
        Partitions have theirs with them.
    client, scheme, options
        As for ``solve``; with a problem for each class, ``checkpoint`` gets a folder for each.

    Returns
    -------
    estimator
        Itself, fitted. ``decision_radius`` is infinite under L1 and with an intercept without a
        penalty, and ``support_certified_`` says nothing: that would take more passes over the data.
    """
    _refuse_other(estimator)
    for name in options:
        if name not in Options._fields:
            raise TypeError(unknown("option", name, Options._fields))
    sources = _sources(X, y, sample_weight)
    try:
        parts = _Estimated(estimator, sources)
        found = [_solved(parts, client, scheme, options)]
        classes = parts.classes
    except _ManyClassesError:
        classes = parts.classes
        each = [_Estimated(estimator, sources, positive) for positive in classes]
        found = [
            _solved(one, client, scheme, _in_own_folder(options, k)) for k, one in enumerate(each)
        ]
    return _published(estimator, sources, classes, found)


def _refuse_other(estimator: Any) -> None:
    name = type(estimator).__name__
    if not hasattr(estimator, "_subproblem"):
        raise ValueError(f"estimator must be one of dualgap, such as LinearSVC(), not {name}")
    if hasattr(estimator, "cv"):
        raise ValueError(
            f"{name} chooses among models by folds, which data in parts has no fit for: fit one "
            f"model for each strength of the penalty, such as {name.removesuffix('CV')}"
        )


def _in_own_folder(options: dict[str, Any], k: int) -> dict[str, Any]:
    if options.get("checkpoint") is None:
        return options
    return {**options, "checkpoint": Path(options["checkpoint"]) / f"class-{k}"}


def _sources(X: Any, y: Any, sample_weight: Any) -> Sources:
    if hasattr(X, "chunks"):
        return from_dask(X, y, sample_weight)
    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        return from_dataframe(X, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise ValueError("partitions have their y and sample_weight with them: [(X, y), ...]")
    return listed(X)


def _solved(
    parts: _Estimated, client: Any, scheme: str, options: dict[str, Any]
) -> tuple[Solution, Block]:
    from dualgap.estimators.fits import max_epochs, seeds

    model = parts.estimator
    seed = seeds(getattr(model, "random_state", None), 1)[0]
    how = {
        "tol": model.tol,
        "max_epochs": max_epochs(model.max_iter),
        "random_state": seed,
        "callback": model.callback,
        "progress": bool(model.verbose),
        **options,
    }
    return solved(parts, client, scheme, Options(**how))


def _published(
    estimator: Any, sources: Sources, classes: Any, found: list[tuple[Solution, Block]]
) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    from dualgap.estimators.fits import Fit, centred, complaint

    solutions = [solution for solution, _ in found]
    words = complaint(solutions, estimator.tol, estimator.max_iter, False)
    if words:
        warnings.warn(words, ConvergenceWarning, stacklevel=3)
    if classes is not None:
        estimator.classes_ = classes
    estimator.n_features_in_ = found[0][1].p
    if sources.names is not None:
        estimator.feature_names_in_ = np.array(sources.names, dtype=object)
    fits = []
    for solution, frame in found:
        bound = radius(_without_data(frame), None, None, None, solution.certificate)
        if frame.intercept is True:
            between = None if frame.width == 1 else np.full((frame.width, frame.width), np.inf)
            bound = bound._replace(intercept=np.inf, between=between)
        nothing = np.zeros(solution.coef.shape, dtype=bool)
        own = (*centred(frame, solution), solution.dual, solution.certificate)
        fits.append(Fit(solution, *own, bound, nothing))
    estimator._publish(fits, single=classes is None)
    return estimator


def _without_data(frame: Block) -> Block:
    """The frame as ``radius`` asks it: it would look at samples for an unpenalised intercept."""
    other = copy.copy(frame)
    other.intercept = frame.intercept if frame.intercept == "penalised" else False
    return other
