"""Scores of classifiers on the test samples of a fold."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.utils.validation import _check_method_params

from dualgap.estimators.logistic import LogisticRegression
from dualgap.linalg.validate import Floats


def fold_scorer(
    scorer: Any, plain: bool, classes: Any, data: Any, params: Any
) -> Callable[[Floats, Floats, Floats | None], float]:
    """The score of coefficients, intercepts and, if they are known, decision values.

    ``data`` are X, y, the codes of y, offsets or None, and the test samples.
    ``plain``: the score is the accuracy, which then follows from decision values. Otherwise
    ``scorer`` is given all classes: a fold may lack some.
    """
    X, y, codes, offset, test = data
    offset = None if offset is None else offset[test]
    params = _check_method_params(X=X, params=params, indices=test)
    weights, correct = params.get("sample_weight"), codes[test]
    plain = plain and not params.keys() - {"sample_weight"} and len(correct) > 0
    model, scorer = _Shifted(offset), None if plain else _with_labels(scorer, classes)
    model.classes_, model._joint, model.n_features_in_ = classes, len(classes) > 2, X.shape[1]

    @cache
    def tested() -> tuple[Any, Any]:
        return X[test], y[test]

    def score(coef: Floats, intercept: Floats, values: Floats | None) -> float:
        if scorer is not None:
            model.coef_, model.intercept_ = coef, intercept
            return float(scorer(model, *tested(), **params))
        if values is None:
            values = tested()[0] @ coef.T + intercept
            values = values if offset is None else values + offset.reshape(values.shape)
        best = values.argmax(axis=1) if model._joint else values[:, 0] > 0.0
        return float(np.average(best == correct, weights=weights))

    return score


class _Shifted(LogisticRegression):
    """A model for samples with known offsets, for scorers, which pass none."""

    def __init__(self, offset: Any) -> None:
        super().__init__()
        self._offset = offset

    def decision_function(self, X: Any, offset: Any = None) -> Any:
        return super().decision_function(X, self._offset)


def shifted(model: Any, offset: Any) -> LogisticRegression:
    """A fitted model for samples with these offsets."""
    other = _Shifted(offset)
    learnt = ("coef_", "intercept_", "classes_", "_joint", "n_features_in_", "feature_names_in_")
    other.__dict__.update({name: vars(model)[name] for name in learnt if name in vars(model)})
    return other


def _with_labels(scorer: Any, classes: Any) -> Any:
    function = getattr(scorer, "_score_func", None)
    known = inspect.signature(function).parameters if function is not None else {}
    if "labels" not in known:
        return scorer
    more = {"labels": classes, **getattr(scorer, "_kwargs", {})}
    if len(classes) == 2 and "pos_label" in known:
        more["pos_label"] = classes[1]
    return make_scorer(
        function,
        greater_is_better=scorer._sign == 1,
        response_method=scorer._response_method,
        **more,
    )
