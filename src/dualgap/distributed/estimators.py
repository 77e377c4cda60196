"""Estimators on partitioned data: ``fit(LinearSVC(), X, y, client=client)``.

The estimator says what to minimise and gets the attributes that its own ``fit`` sets; in between is
``solve``. λ depends on the number of samples and the loss on the number of classes, so both are
known only once the partitions have been summarised.
"""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.distributed.data.agreement import (
    ClassWeights,
    ResolvedModel,
    Summary,
    label_weights,
    union,
)
from dualgap.distributed.data.block import Block, ModelSpec, check_spec
from dualgap.distributed.data.partitioned import Partitioned
from dualgap.distributed.data.readers import from_dask, from_dataframe
from dualgap.distributed.data.sources import Sources, listed
from dualgap.distributed.solve import Options, solve_partitioned
from dualgap.linalg.validate import Floats, unknown
from dualgap.proof.radius import radius_of_coefficients
from dualgap.run.solution import Solution


class _ManyClassesError(Exception):
    """A loss for two classes has met more: each class needs a problem of its own."""


class _EstimatorProblem(Partitioned):
    """The problem of an estimator; ``positive``: the class that is fitted against the rest."""

    def __init__(self, estimator: Any, sources: Sources, positive: Any = None) -> None:
        self.estimator, self.sources, self.positive = estimator, sources, positive
        self.classifies = hasattr(estimator, "_is_joint")
        self.classes: Any = None
        # The loss is not known yet. Softmax accepts any number of labels of any kind.
        loss = "softmax" if self.classifies else estimator._loss()
        self.spec = check_spec(ModelSpec(loss, "l2", 1.0))

    def resolve(self, summaries: list[Summary]) -> ResolvedModel:
        from dualgap.estimators.classifier import refuse_one_class

        model, labels, class_weights = self.estimator, None, None
        total = float(sum(each.weight for each in summaries))
        if self.classifies:
            self.classes = labels = union(summaries)
            refuse_one_class(labels, model)
            model._joint = joint = model._is_joint(len(labels))
            if len(labels) > 2 and not joint:
                if self.positive is None:
                    raise _ManyClassesError
                others = labels[labels != self.positive]
                labels = np.array([others[0], self.positive])
            sums = label_weights(summaries, self.classes)
            class_weights = self._class_weights(sums)
            total = total if class_weights is None else float(sums @ class_weights.factors)
        p, lam = max(each.p for each in summaries), model._lam(total)
        one = model._subproblem(np.empty(0), None, p, lam)
        if lam == 0.0:
            raise ValueError("models without a penalty have no distributed fit: add a penalty")
        scaling = getattr(model, "intercept_scaling", 1.0)
        spec = ModelSpec(one.loss, one.penalty, one.lam, model._intercept(), scaling)
        return ResolvedModel(check_spec(spec), labels, class_weights)

    def _class_weights(self, sums: Floats) -> ClassWeights | None:
        """As on one machine, for one sample of each class that has the weight of all of them."""
        from dualgap.estimators.classifier import class_weights

        given, each = getattr(self.estimator, "class_weight", None), np.arange(len(sums))
        k = None if self.positive is None else int(np.searchsorted(self.classes, self.positive))
        by_class = class_weights(given, self.classes, each, sums)
        factors = self.estimator._weights_of(k, each, None, by_class)
        return None if factors is None else ClassWeights(self.classes, factors)


def fit(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    client: Any = None,
    scheme: str = "auto",
    **options: Any,
) -> Any:
    """Fit an estimator of this package on partitioned data, and prove how good the fit is.

    Parameters
    ----------
    estimator : LinearSVC, LogisticRegression, Ridge, ...
        Its tol, max_iter, random_state and callback are used; its method is not.
    X : Dask array, Dask dataframe, list of partitions, or what ``from_libsvm`` returns
    y, sample_weight : Dask or other arrays; for a dataframe the names of columns, or Dask series
        Not for a list of partitions, which contain their own.
    client, scheme, options
        As for ``solve``. If each class has a problem of its own, ``checkpoint`` gets a folder for
        each.

    Returns
    -------
    estimator
        The same estimator, fitted. ``decision_radius`` is infinite under L1 and with an unpenalised
        intercept, and ``support_certified_`` is all False: more would take more passes over the
        data.
    """
    _refuse_other(estimator)
    for name in options:
        if name not in Options._fields:
            raise TypeError(unknown("option", name, Options._fields))
    sources = _sources(X, y, sample_weight)
    try:
        problem = _EstimatorProblem(estimator, sources)
        found = [_solve(problem, client, scheme, options)]
        classes = problem.classes
    except _ManyClassesError:
        classes = problem.classes
        problems = [_EstimatorProblem(estimator, sources, positive) for positive in classes]
        found = [
            _solve(one, client, scheme, _in_own_folder(options, k))
            for k, one in enumerate(problems)
        ]
    return _publish(estimator, sources, classes, found)


def _refuse_other(estimator: Any) -> None:
    name = type(estimator).__name__
    if not hasattr(estimator, "_subproblem"):
        raise ValueError(f"estimator must be one of dualgap, such as LinearSVC(), not {name}")
    if hasattr(estimator, "cv"):
        raise ValueError(
            f"{name} chooses among models by folds, which partitioned data does not support: fit "
            f"one model for each strength of the penalty, such as {name.removesuffix('CV')}"
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
        raise ValueError("partitions contain their y and sample_weight: [(X, y), ...]")
    return listed(X)


def _solve(
    problem: _EstimatorProblem, client: Any, scheme: str, options: dict[str, Any]
) -> tuple[Solution, Block]:
    from dualgap.estimators.fits import max_epochs, seeds

    model = problem.estimator
    seed = seeds(getattr(model, "random_state", None), 1)[0]
    how = {
        "tol": model.tol,
        "max_epochs": max_epochs(model.max_iter),
        "random_state": seed,
        "callback": model.callback,
        "progress": bool(model.verbose),
        **options,
    }
    return solve_partitioned(problem, client, scheme, Options(**how))


def _publish(
    estimator: Any, sources: Sources, classes: Any, found: list[tuple[Solution, Block]]
) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    from dualgap.estimators.fits import Fit, complaint
    from dualgap.estimators.published import centred

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
    for solution, skeleton in found:
        bound = radius_of_coefficients(skeleton, solution.certificate.gap)
        if skeleton.intercept is True:
            width = skeleton.width
            between = None if width == 1 else np.full((width, width), np.inf)
            bound = bound._replace(intercept=np.inf, between=between)
        nothing = np.zeros(solution.coef.shape, dtype=bool)
        shown = centred(skeleton, solution.coef, solution.intercept)
        own = (*shown, solution.dual, solution.certificate)
        fits.append(Fit(solution, *own, partial(_the_same, bound), partial(_the_same, nothing)))
    estimator._publish(fits, single=classes is None)
    return estimator


def _the_same(known: Any) -> Any:
    return known
