"""Strengths of penalties chosen by cross-validation over partitions.

Least squares choose from moments (``moments.py``). Other models are fitted without each fold at
each strength, one after the other while the data stay where they are; a sample that is left out has
the weight 0. Then comes a certified fit to all samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.distributed.data.agreement import summarize_training
from dualgap.distributed.data.folds import Fold, Folds
from dualgap.distributed.estimators import state
from dualgap.distributed.lazy import for_workers
from dualgap.distributed.moments import moments_in, points_of
from dualgap.distributed.scores import scores_in
from dualgap.distributed.session import Options, Session
from dualgap.distributed.tuning import TUNING
from dualgap.estimators import (
    LinearSVCCV,
    LinearSVRCV,
    LogisticRegressionCV,
    PoissonRegressorCV,
    RidgeCV,
)
from dualgap.estimators.selection.folds import Choice
from dualgap.estimators.selection.grids import Cs_of
from dualgap.estimators.selection.lasso_cv import LeastSquaresCV
from dualgap.estimators.selection.paths import warn_of_unsolved
from dualgap.linalg.validate import Floats, whole

_BY_MOMENTS = (LeastSquaresCV, RidgeCV)
_BY_FITS = (LogisticRegressionCV, LinearSVCCV, LinearSVRCV, PoissonRegressorCV)
_FOLDS = 5  # for cv=None


def refuse_other_choices(estimator: Any) -> None:
    """Raise if partitions cannot make the choice of an estimator."""
    name = type(estimator).__name__
    if not isinstance(estimator, (*_BY_MOMENTS, *_BY_FITS)):
        raise ValueError(
            f"{name} chooses among models by folds in a way that partitions do not support: fit "
            f"one model for each candidate, such as {name.removesuffix('CV')}"
        )
    if getattr(estimator, "scoring", None) is not None:
        raise ValueError("scoring: over partitions there is only the score of scoring=None")
    if isinstance(estimator, LogisticRegressionCV):
        if len(estimator._ratios()) > 1:
            raise ValueError("l1_ratios: over partitions only C is chosen, for one share of L1")
        if not estimator.refit:
            raise ValueError("refit=False has no proof: leave it True")
    if estimator.cv is not None and whole(estimator.cv, "cv", 1) < 2:
        raise ValueError("cv must be at least 2, or None for 5: the number of folds")


def choose(estimator: Any, session: Session, scheme: str, options: Options) -> Choice:
    """The parameters of the final fit, and the attributes that cross-validation sets."""
    ends = np.cumsum([each.n for each in session.summaries])
    count = _FOLDS if estimator.cv is None else estimator.cv
    folds = Folds(count, options.random_state, (0, *ends[:-1].tolist()))
    if isinstance(estimator, _BY_MOMENTS):
        return _by_moments(estimator, session, folds)
    return _by_fits(estimator, session, folds, scheme, options._replace(checkpoint=None))


# --- least squares --------------------------------------------------------------------------------


def _by_moments(estimator: Any, session: Session, folds: Folds) -> Choice:
    p = max(each.p for each in session.summaries)
    if p > TUNING.most_moments:
        raise ValueError(
            f"cross-validation over partitions takes the products of all pairs of columns, for at "
            f"most {TUNING.most_moments} features, not {p}: fit one model for each candidate"
        )
    moments, shift = moments_in(session, folds)
    _refuse_weightless(moments.weight)
    points, weights, pairs = points_of(moments, shift)
    kind = next(each for each in type(estimator).__mro__ if "estimators" in each.__module__)
    facts = dict(zip(("penalty_weight", "bounds"), estimator._facts_of_columns(p)))
    own = {**estimator.get_params(deep=False), **facts, "cv": pairs, "callback": None, "verbose": 0}
    found = kind(**own).fit(points[:, :-1], points[:, -1], weights)
    names = ["alpha_", "alphas_", "mse_path_", "l1_ratio_", "best_score_"]
    attributes = {name: vars(found)[name] for name in names if name in vars(found)}
    chosen = {"alpha": "alpha_", "l1_ratio": "l1_ratio_"}
    refit = {name: attributes[own] for name, own in chosen.items() if own in attributes}
    return Choice(refit, attributes, [], 0)


def _refuse_weightless(weights: Floats) -> None:
    for j in np.flatnonzero(weights <= 0.0):
        raise ValueError(f"fold {j} has no sample with weight: use fewer folds (cv)")


# --- other models ---------------------------------------------------------------------------------


def _by_fits(
    estimator: Any, session: Session, folds: Folds, scheme: str, options: Options
) -> Choice:
    logistic = isinstance(estimator, LogisticRegressionCV)
    grid = Cs_of(estimator.Cs) if logistic else estimator._grid(None, None, None)
    name = "C" if logistic else estimator._strength
    ratio = float(estimator._ratios()[0]) if logistic else None
    fixed = {"l1_ratio": ratio, "penalty": "deprecated"} if logistic else {}
    order = np.argsort(grid if name == "C" else -grid, kind="stable")
    deviance = isinstance(estimator, PoissonRegressorCV)
    quiet = options._replace(callback=None, progress=False)
    scores, unsolved, lights = np.empty((folds.total, len(grid))), [], []
    for j in range(folds.total):
        fold = Fold(folds, j)
        summaries = session.ask(summarize_training, (session.spec, fold))
        models: list[Any] = [None] * len(grid)
        for at in order:
            model = estimator._model_of({name: float(grid[at]), **fixed})
            if hasattr(estimator, "feature_names_in_"):
                model.feature_names_in_ = estimator.feature_names_in_
            stated = state(model, summaries)
            found = [
                session.solve(one._replace(fold=fold), scheme, quiet, summaries)[0]
                for one in stated.models
            ]
            unsolved += [solution for solution in found if not solution.converged]
            models[at] = _light(model, stated, found)
        scores[j] = scores_in(session, models, fold, deviance=deviance)
        lights.append(models)
    _refuse_weightless(np.where(np.isfinite(scores).all(axis=1), 1.0, 0.0))
    warn_of_unsolved(unsolved, scores.size, stacklevel=4)
    best = float(grid[order][np.argmax(scores[:, order].mean(axis=0))])
    attributes: dict[str, Any] = {f"{name}_": best, f"{name}s_": grid, "scores_": scores}
    if logistic:
        estimator.Cs_, first = grid, lights[0][0]
        estimator.classes_, estimator._joint = first.classes_, first._joint
        tables = _logistic_tables(lights, scores)
        attributes |= estimator._tables(*tables, np.array([ratio]), best, ratio)
    return Choice({name: best, **fixed}, attributes, unsolved, scores.size)


def _light(model: Any, stated: Any, found: list[Any]) -> Any:
    """The model with the coefficients of its solutions, to predict with."""
    rows = np.vstack([np.atleast_2d(solution.coef.T) for solution in found])
    intercepts = np.concatenate([np.atleast_1d(solution.intercept) for solution in found])
    model.n_iter_ = max(max(len(solution.history) - 1, 1) for solution in found)
    model.n_features_in_ = rows.shape[1]
    if stated.classes is None:
        model.coef_, model.intercept_ = rows[0], intercepts[0]
    else:
        model.classes_, model.coef_, model.intercept_ = stated.classes, rows, intercepts
    return for_workers(model)


def _logistic_tables(lights: list[list[Any]], scores: Floats) -> tuple[Any, Any, Any]:
    """Coefficients, scores and rounds of all folds and values of C, for one share of L1."""
    rows = [
        [
            np.column_stack([one.coef_, one.intercept_]) if one.fit_intercept else one.coef_
            for one in models
        ]
        for models in lights
    ]
    rounds = np.array([[one.n_iter_ for one in models] for models in lights])
    return np.array(rows)[:, None], scores[:, None], rounds[:, None]
