"""Cross-validation over strengths of the penalty, for any estimator with ``alpha`` or ``C``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import Bunch
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_method_params, validate_data

from dualgap.estimators.base import total_weight
from dualgap.estimators.offsets import with_offset
from dualgap.estimators.regressor import offset_of_targets
from dualgap.estimators.selection.folds import Choice, CrossValidated, follow
from dualgap.estimators.selection.logistic_folds import rows_of_one_class
from dualgap.estimators.validated import DTYPES, STORAGES
from dualgap.linalg.validate import Floats, real_array, whole
from dualgap.run.solution import Solution


@dataclass(eq=False, repr=False, kw_only=True)
class StrengthChosen(CrossValidated):
    """A mixin for estimators that choose the strength of their penalty.

    Each fold follows a path from the strongest penalty to the weakest. The strength with the best
    mean score wins, of equals the one with the strongest penalty.
    """

    scoring: Any = None

    _strength: ClassVar[str]  # "alpha" or "C"
    _usual_scoring: ClassVar[Any] = None  # None is the estimator's own
    _scorer_callers: ClassVar[tuple[str, ...]] = ("fit",)

    def _grid(self, X: Any, y: Any, weights: Floats | None) -> Floats:
        """The candidates, from the strongest penalty to the weakest or as given."""
        raise NotImplementedError

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        labelled = is_classifier(self)
        X, y = validate_data(
            self, X, y, accept_sparse=STORAGES, dtype=DTYPES, y_numeric=not labelled
        )
        if not labelled:
            return X, np.asarray(y, dtype=np.float64)
        check_classification_targets(y)
        return X, y

    def _checked_offset(self, offset: Any, y: Any) -> Any:
        return offset_of_targets(offset, y)

    def _choose(
        self, X: Any, y: Any, weights: Floats | None, offset: Floats | None, routed: Bunch
    ) -> Choice:
        grid = self._grid(X, y, weights)
        scored = routed.scorer.score.get("sample_weight")
        kind = is_classifier(self)
        folds = self._split(X, y, routed, fitted=weights, scored=scored, classifier=kind)
        jobs = [(X, y, weights, offset, *fold, grid, routed.scorer.score) for fold in folds]
        results, unsolved = self._on_folds(self._fold, jobs)
        scores = np.array(results)
        order = self._from_strongest(grid)
        best = float(grid[order][np.argmax(scores[:, order].mean(axis=0))])
        name = self._strength
        found = {f"{name}_": best, f"{name}s_": grid, "scores_": scores}
        return Choice({name: best}, found, unsolved, scores.size)

    def _from_strongest(self, grid: Floats) -> Any:
        order = np.argsort(grid, kind="stable")
        return order if self._strength == "C" else order[::-1]

    def _fold(
        self,
        X: Any,
        y: Any,
        weights: Any,
        offset: Any,
        train: Any,
        test: Any,
        grid: Floats,
        score_params: dict[str, Any],
        options: dict[str, Any],
    ) -> tuple[Floats, list[Solution]]:
        """The score of a fold at each strength, and solutions that missed ``tol``."""
        names = [one.name for one in fields(self._refitted) if one.init]
        model: Any = self._refitted(**{k: getattr(self, k) for k in names if hasattr(self, k)})
        model.n_features_in_ = X.shape[1]
        own = None if weights is None else weights[train]
        if is_classifier(self):
            model.classes_, codes = np.unique(y[train], return_inverse=True)
            model._joint = model._is_joint(len(model.classes_))
            subproblems = []
            if len(model.classes_) > 1:
                subproblems = model._subproblems(codes, own, X.shape[1])
        else:
            subproblems = model._subproblems([y[train]], own, X.shape[1])
        if offset is not None:
            subproblems = with_offset(subproblems, offset[train])
            model.predict = partial(model.predict, offset=offset[test])
        order, unsolved = self._from_strongest(grid), []
        models: list[list[tuple[Any, Any]]] = [[] for _ in grid]

        def keep(k: int, solution: Solution) -> None:
            models[order[k]].append((solution.coef.T, solution.intercept))

        if not subproblems:
            model.classes_, codes = np.unique(y, return_inverse=True)
            rows = rows_of_one_class(codes[train][0], len(model.classes_), X.shape[1])
            models = [[(row[:-1], row[-1]) for row in rows] for _ in grid]
            model._joint = False
        first = None
        for one in subproblems:
            problem = model._problem(X[train] if first is None else first, one)
            first = problem if first is None else first
            total = total_weight(one.weights, len(one.y))
            lams = [model.set_params(**{self._strength: v})._lam(total) for v in grid[order]]
            unsolved += follow(problem, np.array(lams), options, keep)
        scorer, params = self._scorer(), _check_method_params(X, score_params, test)
        data, scores = (X[test], y[test]), np.empty(len(grid))
        for k, found in enumerate(models):
            coef, intercept = (np.array(part) for part in zip(*found))
            if model._joint:
                coef, intercept = coef[0], intercept[0]
            single = not is_classifier(self)
            model.coef_ = coef[0] if single else coef
            model.intercept_ = intercept[0] if single else intercept
            scores[k] = scorer(model, *data, **params)
        return scores, unsolved

    def _scores_use_weights(self) -> bool:
        if self.scoring is None:
            return True
        scorer = self._scorer()
        return "sample_weight" in signature(getattr(scorer, "_score_func", scorer)).parameters

    def _scorer(self) -> Any:
        usual = self._usual_scoring if self.scoring is None else self.scoring
        return check_scoring(self._refitted(), usual)


def strengths_of(given: Any, name: str) -> Floats | int:
    """Given strengths, checked, or how many there should be."""
    if np.ndim(given) == 0:
        return whole(given, name, 1)
    values = real_array(given, name).astype(np.float64)
    if values.ndim != 1 or not values.size or not ((values > 0.0) & np.isfinite(values)).all():
        raise ValueError(f"{name} must be numbers > 0, or the size of the grid")
    return np.asarray(values)
