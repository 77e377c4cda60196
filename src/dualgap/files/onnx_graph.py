"""Fitted estimators as ONNX graphs: decision values, labels, probabilities, means.

Plain operators only, all of which exist for float32 and float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from dualgap.estimators.base import CertifiedModel
from dualgap.estimators.classifier import LinearClassifier
from dualgap.estimators.log_link import LogLinkRegressor
from dualgap.estimators.one_class import OneClassSVM
from dualgap.estimators.ordered_classes import OrderedClasses, log_of_gaps
from dualgap.estimators.ordinal import OrdinalLogisticRegression
from dualgap.estimators.regressor import LinearRegressor

_INT64 = 7  # onnx.TensorProto.INT64


class Result(NamedTuple):
    """A result of the model: its name in the graph, and its columns if it has two dimensions."""

    value: str
    columns: int | None = None

    @property
    def shape(self) -> list[int | None]:
        return [None] if self.columns is None else [None, self.columns]


class Graph:
    """Nodes and constants, in the order in which they were added."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.nodes: list[tuple[str, list[str], str, dict[str, Any]]] = []
        self.constants: dict[str, Any] = {}
        self.labels: Any = np.dtype(np.int64)

    def constant(self, value: Any, dtype: Any = None) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value, self.dtype if dtype is None else dtype)
        return name

    def add(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """The name of the result: ``name``, or a new one."""
        name = name or f"v{len(self.nodes)}"
        self.nodes.append((operator, list(inputs), name, attributes))
        return name


def draw(model: Any, graph: Graph, X: str) -> dict[str, Result]:
    """Add the model to the graph; its results by what they are.

    ``label``, ``scores`` and, if the model has them, ``probabilities``; for regression
    ``variable``, which has two dimensions.
    """
    refuse_others(model)
    coef = np.atleast_2d(model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_)
    product = graph.add("MatMul", X, graph.constant(coef.T))
    if isinstance(model, OrdinalLogisticRegression):
        return _ordered(model, graph, product)
    intercept = np.broadcast_to(model.intercept_, len(coef))
    values = graph.add("Add", product, graph.constant(intercept))
    if is_classifier(model):
        return _labelled(model, graph, Result(values, len(coef)))
    if isinstance(model, OneClassSVM):
        return _inliers(graph, values)
    if isinstance(model, LogLinkRegressor) and getattr(model, "power", 1.0) != 0.0:
        values = graph.add("Exp", values)
    return {"variable": Result(values, len(coef))}


def refuse_others(model: Any) -> None:
    """Only models whose predictions are those of their base class."""
    check_is_fitted(model)
    own = type(model)
    known = isinstance(model, LinearClassifier) and (
        own.decision_function is LinearClassifier.decision_function
    )
    if isinstance(model, LogLinkRegressor):
        known = own._linear is LinearRegressor._linear
    elif isinstance(model, LinearRegressor):
        known = own.predict is LinearRegressor.predict
    elif isinstance(model, OneClassSVM):
        known = own.predict is OneClassSVM.predict
    elif isinstance(model, OrdinalLogisticRegression):
        known = own.predict is OrderedClasses.predict
    if not (isinstance(model, CertifiedModel) and known):
        raise TypeError(
            f"to_onnx converts estimators of dualgap that predict as they do, not {own.__name__}"
        )
    if "_encoding" in vars(model):
        raise ValueError(
            f"this {own.__name__} encodes categories itself, which to_onnx does not: fit a "
            "Pipeline of OneHotEncoder and the model, and convert that"
        )


def _labelled(model: Any, graph: Graph, scores: Result) -> dict[str, Result]:
    values, single = scores.value, scores.columns == 1
    if getattr(model, "_labels", None) is not None and model._multilabel():
        positive = graph.add("Greater", values, graph.constant(0.0))
        own = Result(graph.add("Cast", positive, to=_INT64), scores.columns)
        return {"label": own, "scores": scores}
    known, found = _classes(model, graph), {}
    if hasattr(model, "predict_proba"):
        own = Result(_probabilities(model, graph, values, single), len(model.classes_))
        found["probabilities"] = own
    if single:
        flat = graph.add("Squeeze", values, graph.constant([1], np.int64))
        scores = Result(flat)
        positive = graph.add("Greater", flat, graph.constant(0.0))
        best = graph.add("Cast", positive, to=_INT64)
    else:
        best = graph.add("ArgMax", values, axis=1, keepdims=0)
    return {"label": Result(graph.add("Gather", known, best)), "scores": scores, **found}


def _classes(model: Any, graph: Graph) -> str:
    kind = {"i": np.int64, "u": np.int64, "b": np.int64, "f": np.float64}
    graph.labels = np.dtype(kind.get(model.classes_.dtype.kind, np.object_))
    texts = graph.labels == np.object_
    return graph.constant(model.classes_.astype(str) if texts else model.classes_, graph.labels)


def _inliers(graph: Graph, values: str) -> dict[str, Result]:
    scores = graph.add("Squeeze", values, graph.constant([1], np.int64))
    outside = graph.add("Cast", graph.add("Less", scores, graph.constant(0.0)), to=_INT64)
    signs = graph.constant([1, -1], np.int64)
    return {"label": Result(graph.add("Gather", signs, outside)), "scores": Result(scores)}


def _ordered(model: Any, graph: Graph, predictor: str) -> dict[str, Result]:
    """Classes in an order: their probabilities as sums of logarithms, which do not cancel."""
    above = graph.add("Sub", predictor, graph.constant(model.thresholds_))
    nothing = graph.add("Mul", predictor, graph.constant([0.0]))
    below = _log_sigmoid(graph, graph.add("Neg", above))
    upper = graph.add("Concat", below, nothing, axis=1)
    lower = graph.add("Concat", nothing, _log_sigmoid(graph, above), axis=1)
    between = graph.constant(log_of_gaps(model.thresholds_))
    logs = graph.add("Add", graph.add("Add", upper, lower), between)
    count = len(model.classes_)
    best = graph.add("ArgMax", logs, axis=1, keepdims=0)
    label = Result(graph.add("Gather", _classes(model, graph), best))
    scores, own = Result(logs, count), Result(graph.add("Exp", logs), count)
    if count == 2:
        scores = Result(graph.add("Squeeze", above, graph.constant([1], np.int64)))
    return {"label": label, "scores": scores, "probabilities": own}


def _log_sigmoid(graph: Graph, values: str) -> str:
    """log(1/(1 + e^−z)) = min(z, 0) − log(1 + e^−|z|)."""
    small = graph.add("Exp", graph.add("Neg", graph.add("Abs", values)))
    rest = graph.add("Log", graph.add("Add", small, graph.constant(1.0)))
    return graph.add("Sub", graph.add("Min", values, graph.constant(0.0)), rest)


def _probabilities(model: Any, graph: Graph, values: str, single: bool) -> str:
    if single:
        return graph.add("Sigmoid", two_sided(graph, values))
    if not model._is_joint(len(model.classes_)):
        values = _log_sigmoid(graph, values)
    return graph.add("Softmax", values, axis=1)


def two_sided(graph: Graph, values: str) -> str:
    """The decision values of both classes, given those of the second in a column."""
    return graph.add("Concat", graph.add("Neg", values), values, axis=1)
