"""The summary of a fitted estimator: which problems it has, and what may be said about them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from dualgap.estimators.inference.covariance import Covariance, check_kind, covariance
from dualgap.estimators.inference.information import InformationSums
from dualgap.estimators.inference.ordered import OrderedSums
from dualgap.estimators.inference.summary import CoefficientTable, check_confidence
from dualgap.penalties.structure import has_barrier
from dualgap.penalties.thresholds import base_shape
from dualgap.problem import Problem
from dualgap.problem.intercept import joined

_MOST = 5000  # coefficients of a problem; their covariance takes 200 MB
_FAR = 0.05  # standard errors: a warning says so from there on
_CHANGED = 1e-6  # relative: an objective that differs by more is one of other data


def summarise(
    model: Any, trained: Any, kind: str, confidence: float, groups: Any
) -> CoefficientTable | list[CoefficientTable]:
    """One summary, or one for each problem of one-vs-rest and of several targets."""
    X, _, subproblems, fits = trained
    level, clusters = check_confidence(confidence), check_kind(kind, groups, X.shape[0])
    features = list(model.coef_names_)
    found = []
    for subproblem, fit in zip(subproblems, fits):
        problem = model._problem(X, subproblem)
        refuse(problem, model, kind)
        found.append(_summary(problem, model, fit, features, kind, level, clusters))
    far = max(summary.fit_error for summary in found)
    if far > _FAR:
        warnings.warn(
            f"a coefficient is about {far:.2g} standard errors from the optimum, which these "
            f"intervals ignore: fit again with tol={_tighter(model.tol, far):.0e}",
            stacklevel=3,
        )
    return found[0] if len(found) == 1 else found


def _tighter(tol: float, far: float) -> float:
    """The tolerance at which the distance, which goes with the root of the gap, is small."""
    return float(tol) * (0.2 * _FAR / far) ** 2


def refuse(problem: Problem, model: Any, kind: str) -> None:
    """Raise if standard errors would mean nothing for this loss or penalty."""
    name = type(model).__name__
    shape = _shape(problem)
    if shape is None or shape.kinked:
        raise ValueError(
            f"{name}.summary: standard errors and Wald intervals are not valid for coefficients "
            "that a penalty sets to zero or bounds (L1, non-negative, boxes); refit without a "
            "penalty or with L2, on data that have not chosen the features"
        )
    loss = problem.given_loss
    if getattr(loss, "likelihood", None) is None:
        smooth = not problem.targets.block and getattr(loss, "differentiable", False)
        if not smooth:
            raise ValueError(
                f"{name}.summary: {type(loss).__name__} has kinks, so its curvature says nothing "
                "about standard errors; use the bootstrap, or a model with a likelihood"
            )
        if kind == "model":
            raise ValueError(
                f"{name}.summary: {type(loss).__name__} is not the likelihood of a model; "
                'use covariance="HC0" or "HC1"'
            )
    if problem.coef_size > _MOST:
        raise ValueError(
            f"{name}.summary: {problem.coef_size} coefficients have a covariance of "
            f"{problem.coef_size**2 * 8e-9:.1f} GB; at most {_MOST} are supported"
        )


def _summary(
    problem: Problem,
    model: Any,
    fit: Any,
    features: list[str],
    kind: str,
    confidence: float,
    clusters: Any,
) -> CoefficientTable:
    ordered = has_barrier(problem.feature_penalty)
    read = _of_thresholds if ordered else _of_coefficients
    sums, w, names = read(problem, model, fit, features)
    curvature = _penalty_curvature(problem, len(w))
    _refuse_other_data(problem, fit)
    likelihood = getattr(problem.loss, "likelihood", None)
    found = covariance(
        sums,
        sums.centred(w),
        curvature,
        kind,
        clusters,
        scaled=likelihood == "up to scale",
        least_squares=getattr(problem.loss, "quadratic", False),
    )
    return CoefficientTable(
        names=names,
        coef=w,
        covariance=found.matrix,
        identified=found.identified,
        kind=kind if kind != "model" else "of the model",
        dispersion=found.dispersion,
        freedom=found.freedom,
        samples=sums.total,
        distribution="t" if likelihood == "up to scale" else "z",
        confidence=confidence,
        fit_error=_fit_error(found),
        notes=tuple(_notes(problem, found, penalised=bool(curvature.any()))),
    )


def _refuse_other_data(problem: Problem, fit: Any) -> None:
    """Raise if the training data have changed since: then the model is not their optimum."""
    now, then = problem.primal(joined(problem, fit.coef, fit.intercept)), fit.certificate.primal
    if not abs(now - then) <= _CHANGED * max(abs(then), problem.scale):
        raise ValueError("the training data have changed since the fit: fit again")


def _of_coefficients(problem: Problem, model: Any, fit: Any, features: list[str]) -> Any:
    """Sums over the samples; coefficients and intercept, flat; and their names."""
    coef = np.asarray(fit.coef, dtype=np.float64).reshape(problem.p, problem.width)
    intercept = np.atleast_1d(np.asarray(fit.intercept, dtype=np.float64))
    sums = InformationSums(
        problem, problem.given, coef, intercept, free_intercept=problem.intercept is True
    )
    w = np.vstack([coef, intercept]) if problem.has_intercept else coef
    return sums, w.ravel(), tuple(_names(problem, features))


def _of_thresholds(problem: Problem, model: Any, fit: Any, features: list[str]) -> Any:
    """The same for classes in an order, with thresholds in place of an intercept."""
    arguments, labels = model._ordered(fit)
    between = (f"{low}/{high}" for low, high in pairwise(labels))
    return OrderedSums(*arguments), np.concatenate(arguments[-2:]), (*features, *between)


def _shape(problem: Problem) -> Any:
    """The penalty on coefficients as numbers; None if it has no such form or is not smooth."""
    if has_barrier(problem.feature_penalty):
        return base_shape(problem.penalty, problem.d)
    return problem.penalty_shape


def _penalty_curvature(problem: Problem, count: int) -> Any:
    """Λ: the penalty is worth the sum of weights times λ, since losses are summed here."""
    total = problem.n if problem.s is None else float(np.sum(problem.s))
    curvature = total * problem.lam * _shape(problem).l2  # else it was refused
    if has_barrier(problem.feature_penalty):
        own = np.flatnonzero(problem.feature_penalty.rates == 0.0)  # the others are gaps
        return np.append(curvature[own], np.zeros(count - len(own)))
    if problem.has_intercept:
        curvature[problem.p * problem.width :] /= problem.constant**2
    return curvature


def _fit_error(found: Covariance) -> float:
    errors = np.sqrt(np.maximum(np.diag(found.matrix), 0.0))
    judged = found.identified & (errors > 0.0)
    return float(np.max(np.abs(found.step[judged]) / errors[judged], initial=0.0))


def _names(problem: Problem, features: list[str]) -> Iterator[str]:
    for name in [*features, *(["intercept"] if problem.has_intercept else [])]:
        if problem.width == 1:
            yield name
        else:
            yield from (f"{label}: {name}" for label in problem.classes)


def _notes(problem: Problem, found: Covariance, *, penalised: bool) -> Iterator[str]:
    if penalised:
        yield "Penalised: standard errors of the shrunken coefficients, whose bias they ignore."
    if problem.width > 1:
        yield "A feature's coefficients have a mean of 0 over the classes: test differences."
    if not found.identified.all():
        yield "Infinite standard errors: the data do not determine these coefficients."
