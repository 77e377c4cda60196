"""What skl2onnx has to know to convert pipelines that contain estimators of dualgap."""

from __future__ import annotations

from typing import Any

import numpy as np
import skl2onnx
from onnx import helper
from skl2onnx.common import data_types
from skl2onnx.common.shape_calculator import (
    calculate_linear_classifier_output_shapes,
    calculate_linear_regressor_output_shapes,
)
from sklearn.base import is_classifier, is_outlier_detector

from dualgap import estimators
from dualgap.files.onnx_graph import Graph, Result, draw, two_sided

# What skl2onnx may ask of a classifier: decision values, or the form of its outputs.
_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "raw_scores": [True, False],
    "nocl": [True, False],
    "output_class_labels": [False, True],
}


def converted(model: Any, dtype: Any) -> Any:
    """An estimator of scikit-learn as ONNX, whatever estimators of dualgap it contains."""
    for name in estimators.__all__:
        own = getattr(estimators, name)
        if isinstance(own, type):
            _register(own)
    kinds = {4: data_types.FloatTensorType, 8: data_types.DoubleTensorType}
    given = [("X", kinds[dtype.itemsize]([None, model.n_features_in_]))]
    options = {"zipmap": False} if is_classifier(model) else None
    return skl2onnx.to_onnx(model, initial_types=given, options=options)


def _register(own: type) -> None:
    if is_outlier_detector(own()):
        shapes, options = _shapes_of_outliers, None
    elif is_classifier(own()):
        shapes, options = calculate_linear_classifier_output_shapes, _OPTIONS
    else:
        shapes, options = calculate_linear_regressor_output_shapes, None
    skl2onnx.update_registered_converter(
        own, f"Dualgap{own.__name__}", shapes, _convert, options=options
    )


def _shapes_of_outliers(operator: Any) -> None:
    given = operator.inputs[0]
    count = given.get_first_dimension()
    label, scores = operator.outputs
    label.type, scores.type = data_types.Int64TensorType([count]), type(given.type)([count])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of one model to those of a pipeline."""
    given = operator.inputs[0]
    double = isinstance(given.type, data_types.DoubleTensorType)
    graph = Graph(np.float64 if double else np.float32)
    model = operator.raw_operator
    results = draw(model, graph, given.full_name)
    raw = {"raw_scores": False}
    if "probabilities" in results and container.get_options(model, raw)["raw_scores"]:
        del results["probabilities"]
    names = {given.full_name: given.full_name}
    for output, value in _wanted(model, graph, results, operator.outputs):
        graph.add("Identity", value, name=output)
        names[output] = output
    for name, array in graph.constants.items():
        names[name] = scope.get_unique_variable_name(name)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        flat = array.ravel().tolist()
        flat = [text.encode() for text in flat] if array.dtype == np.object_ else flat
        container.add_initializer(names[name], kind, list(array.shape), flat)
    for operation, inputs, to, attributes in graph.nodes:
        names[to] = names.get(to) or scope.get_unique_variable_name(to)
        given = [names[one] for one in inputs]
        own = scope.get_unique_operator_name(operation)
        container.add_node(operation, given, names[to], name=own, **attributes)


def _wanted(model: Any, graph: Graph, results: dict[str, Result], outputs: Any) -> Any:
    """The names of what skl2onnx wants to know, each with the value."""
    if "variable" in results:
        return [(outputs[0].full_name, results["variable"].value)]
    scores = results["scores"]
    own = results.get("probabilities", scores).value
    if own == scores.value and scores.columns is None and is_classifier(model):
        # Of two classes, as skl2onnx has them.
        own = two_sided(graph, graph.add("Unsqueeze", own, graph.constant([1], np.int64)))
    return zip([one.full_name for one in outputs], [results["label"].value, own])
