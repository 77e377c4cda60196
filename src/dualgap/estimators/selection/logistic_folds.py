"""Paths of logistic models on folds, and their scores."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, make_scorer
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _check_method_params

from dualgap.estimators import _checks
from dualgap.estimators._penalties import by_ratio
from dualgap.estimators.logistic import LogisticRegression
from dualgap.estimators.selection.folds import Folds
from dualgap.estimators.selection.paths import solutions_at, with_intercept
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.run.solution import Solution


class LogisticFolds(Folds):
    """A mixin for estimators with these parameters and attributes."""

    fit_intercept: Any
    scoring: Any
    Cs_: Floats
    classes_: Any
    _joint: bool

    def _fold(
        self,
        X: Any,
        y: Any,
        codes: Any,
        weights: Any,
        train: Any,
        test: Any,
        ratio: float,
        score_params: dict[str, Any],
        options: dict[str, Any],
    ) -> tuple[Any, ...]:
        """Coefficients, scores and rounds of a fold at each C, and solutions that fell short."""
        train = np.arange(len(y))[train]
        own = np.ones(len(train)) if weights is None else weights[train]
        # A class that the fold lacks: with an intercept, that of its own is −∞ at the optimum and
        # the others do not notice; without one, a sample of no weight brings the class in.
        intercept = _checks.flag(self.fit_intercept, "fit_intercept")
        present, missing = np.unique(codes[train]), np.setdiff1d(codes, codes[train])
        rows = train
        if len(missing) and not intercept:
            extra = [int(np.flatnonzero(codes == code)[0]) for code in missing]
            rows, own = np.append(train, extra), np.append(own, np.zeros(len(extra)))
            present = np.append(present, missing)
        if len(present) < 2:
            raise ValueError(
                f"a fold is fitted to samples of one class only ({self.classes_[present[0]]!r}): "
                "give folds in which each class occurs, such as cv=StratifiedKFold(2)"
            )
        labels = codes[rows] if self._joint else 2.0 * codes[rows] - 1.0
        problem = Problem(
            X[rows],
            labels,
            "softmax" if self._joint else "logistic",
            by_ratio(ratio),
            1.0,
            own,
            intercept,
        )
        up = np.argsort(self.Cs_, kind="stable")
        model, scorer = self._as_model(X.shape[1]), self._fold_scorer()
        score_params = _check_method_params(X=X, params=score_params, indices=test)
        found: list[Any] = [None] * len(up)
        unsolved: list[Solution] = []
        lams = 1.0 / (self.Cs_[up] * own.sum())
        for at, solution in zip(up, solutions_at(problem, lams, **options)):
            line = np.atleast_2d(with_intercept(solution, intercept))
            if len(missing) and intercept:
                whole = np.zeros((len(self.classes_), line.shape[1]))
                whole[missing, -1] = -np.inf
                whole[present] = line
                line = whole
            model.coef_, model.intercept_ = self._parts(line)
            score = float(scorer(model, X[test], y[test], **score_params))
            # scikit-learn asks for at least one, also where the start is good enough.
            found[at] = line, score, max(len(solution.history) - 1, 1)
            if not solution.converged:
                unsolved.append(solution)
        return (*zip(*found), unsolved)

    def _as_model(self, features: int) -> LogisticRegression:
        model = LogisticRegression()
        model.classes_, model._joint, model.n_features_in_ = self.classes_, self._joint, features
        return model

    def _parts(self, lines: Floats) -> tuple[Floats, Floats]:
        """Coefficients and intercepts."""
        if self.fit_intercept:
            return lines[:, :-1], lines[:, -1]
        return lines, np.zeros(len(lines))

    def _scorer(self) -> Any:
        return get_scorer("accuracy" if self.scoring is None else self.scoring)

    def _fold_scorer(self) -> Any:
        """The scorer, told of all classes, which a fold may lack some of."""
        scorer = self._scorer()
        function = getattr(scorer, "_score_func", None)
        known = inspect.signature(function).parameters if function is not None else {}
        if "labels" not in known:
            return scorer
        more = {"labels": self.classes_, **getattr(scorer, "_kwargs", {})}
        if len(self.classes_) == 2 and "pos_label" in known:
            more["pos_label"] = self.classes_[1]
        return make_scorer(
            function,
            greater_is_better=scorer._sign == 1,
            response_method=scorer._response_method,
            **more,
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """The score of predictions by ``scoring``."""
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        return float(self._scorer()(self, X, y, **params))

    def get_metadata_routing(self) -> MetadataRouter:
        """Who gets which parameters of ``fit`` and ``score``: scorer and splitter."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=self.cv,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
            .add(
                scorer=self._scorer(),
                method_mapping=MethodMapping()
                .add(caller="score", callee="score")
                .add(caller="fit", callee="score"),
            )
        )
