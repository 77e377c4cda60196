"""Estimators on partitioned data: ``fit(LinearSVC(), X, y, client=client)``.

The estimator says what to minimise and gets the attributes that its own ``fit`` sets; in between is
``solve``. λ depends on the number of samples and the loss on the number of classes, so both are
known only once the partitions have been summarised.
"""

from __future__ import annotations

import math
import warnings
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.agreement import (
    ClassWeights,
    ResolvedModel,
    Summary,
    label_weights,
    union,
)
from dualgap.distributed.data.block import Block, ModelSpec, check_spec
from dualgap.distributed.data.readers import from_dask, from_dataframe, from_memory
from dualgap.distributed.data.sources import Sources, listed
from dualgap.distributed.session import Options, Session, in_session
from dualgap.linalg.validate import Floats, unknown
from dualgap.proof.radius import radius_of_coefficients
from dualgap.run.solution import Solution


class _Stated(NamedTuple):
    """What an estimator minimises: a model for each of its problems.

    ``classes``: the labels, None for a regression; ``joint``: whether one problem is for all.
    """

    models: list[ResolvedModel]
    classes: Any = None
    joint: bool = False


def state(estimator: Any, summaries: list[Summary]) -> _Stated:
    """The problems of an estimator, once the partitions are known."""
    from dualgap.estimators.classifier import refuse_one_class

    total, p = math.fsum(each.weight for each in summaries), max(each.p for each in summaries)
    if not _classifies(estimator):
        return _Stated([ResolvedModel(_spec_of(estimator, total, p), None)])
    classes = union(summaries)
    refuse_one_class(classes, estimator)
    estimator._joint = joint = bool(estimator._is_joint(len(classes)))
    sums = label_weights(summaries, classes)
    models = []
    for k in [None] if joint or len(classes) == 2 else range(len(classes)):
        factors = _class_factors(estimator, classes, sums, k)
        own = total if factors is None else float(sums @ factors)
        labels = classes if k is None else np.array([classes[k - 1], classes[k]])
        weights = None if factors is None else ClassWeights(classes, factors)
        models.append(ResolvedModel(_spec_of(estimator, own, p), labels, weights))
    return _Stated(models, classes, joint)


def _classifies(estimator: Any) -> bool:
    return hasattr(estimator, "_is_joint")


def _spec_of(estimator: Any, total: float, p: int) -> ModelSpec:
    """The model for samples of this total weight."""
    lam = estimator._lam(total)
    if lam == 0.0:
        raise ValueError("models without a penalty have no distributed fit: add a penalty")
    one = estimator._subproblem(np.empty(0), None, p, lam)
    scaling = getattr(estimator, "intercept_scaling", 1.0)
    return check_spec(ModelSpec(one.loss, one.penalty, one.lam, estimator._intercept(), scaling))


def _class_factors(estimator: Any, classes: Any, sums: Floats, k: int | None) -> Floats | None:
    """As on one machine, for one sample of each class that has the weight of all of them."""
    from dualgap.estimators.classifier import class_weights

    given, each = getattr(estimator, "class_weight", None), np.arange(len(sums))
    by_class = class_weights(given, classes, each, sums)
    found: Floats | None = estimator._weights_of(k, each, None, by_class)
    return found


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
        Data in memory are cut into eight partitions.
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
    for name in options:
        if name not in Options._fields:
            raise TypeError(unknown("option", name, Options._fields))
    _refuse_other(estimator)
    sources, own = sources_of(X, y, sample_weight), _options(estimator, options)
    name_features(estimator, sources)
    spec = spec_of_targets(estimator)

    def use(session: Session) -> Any:
        choice = None
        if hasattr(estimator, "cv"):
            from dualgap.distributed.selection import choose

            choice = choose(estimator, session, scheme, own)
        stated = state(_chosen(estimator, choice), session.summaries)
        each = [own] if len(stated.models) == 1 else _in_own_folders(own, len(stated.models))
        found = [session.solve(*one) for one in zip(stated.models, repeat(scheme), each)]
        return choice, stated.classes, stated.joint, found

    choice, classes, joint, found = in_session(client, sources, spec, own, use)
    model = _chosen(estimator, choice)
    model._joint = joint
    _publish(model, classes, found)
    if choice is not None:
        estimator._forget_proofs()
        estimator._take_learnt(model)
        for name, value in choice.attributes.items():
            setattr(estimator, name, value)
    return estimator


def _chosen(estimator: Any, choice: Any) -> Any:
    """The estimator itself, or that which cross-validation has chosen."""
    if choice is None:
        return estimator
    model = estimator._model_of(choice.refit)
    if hasattr(estimator, "feature_names_in_"):
        model.feature_names_in_ = estimator.feature_names_in_
    return model


def _refuse_other(estimator: Any) -> None:
    from dualgap.estimators.validated import check_settings

    name = type(estimator).__name__
    if not hasattr(estimator, "_subproblem"):
        raise ValueError(f"estimator must be one of dualgap, such as LinearSVC(), not {name}")
    if hasattr(estimator, "cv"):
        from dualgap.distributed.selection import refuse_other_choices

        refuse_other_choices(estimator)
    if estimator.categories is not None:
        raise ValueError(
            "categories are not encoded in partitions: encode them before, for example by "
            "dask.dataframe.get_dummies, and leave categories=None"
        )
    if estimator.warm_start:
        raise ValueError("warm_start=True has no distributed fit: leave it False")
    check_settings(estimator)


def spec_of_targets(estimator: Any) -> ModelSpec:
    """What says which targets partitions must have, before the number of classes is known."""
    # Softmax accepts any number of labels of any kind.
    return check_spec(ModelSpec("softmax" if _classifies(estimator) else estimator._loss()))


def _options(estimator: Any, options: dict[str, Any]) -> Options:
    """Those of the estimator, unless they are given."""
    from dualgap.estimators.fits import max_epochs, seeds

    own = {
        "tol": estimator.tol,
        "max_epochs": max_epochs(estimator.max_iter),
        "random_state": seeds(getattr(estimator, "random_state", None), 1)[0],
        "callback": estimator.callback,
        "progress": bool(estimator.verbose),
    }
    return Options(**{**own, **options})


def _in_own_folders(options: Options, count: int) -> list[Options]:
    """The options for each of several problems."""
    if options.checkpoint is None:
        return [options] * count
    folder = Path(options.checkpoint)
    return [options._replace(checkpoint=folder / f"class-{k}") for k in range(count)]


def sources_of(X: Any, y: Any, sample_weight: Any) -> Sources:
    """The partitions of what an estimator is given."""
    if hasattr(X, "chunks"):
        return from_dask(X, y, sample_weight)
    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        return from_dataframe(X, y, sample_weight)
    if hasattr(X, "shape"):
        return from_memory(X, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise ValueError("partitions contain their y and sample_weight: [(X, y), ...]")
    return listed(X)


def name_features(estimator: Any, sources: Sources) -> None:
    """Set ``feature_names_in_``, by which the penalty may name columns."""
    estimator.__dict__.pop("feature_names_in_", None)
    if sources.names and all(isinstance(name, str) for name in sources.names):
        estimator.feature_names_in_ = np.array(sources.names, dtype=object)


def _publish(estimator: Any, classes: Any, found: list[tuple[Solution, Block]]) -> Any:
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
