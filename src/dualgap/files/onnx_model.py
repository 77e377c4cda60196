"""``to_onnx``: fitted models for runtimes that have neither Python nor dualgap."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from dualgap.estimators.base import CertifiedModel
from dualgap.files.onnx_graph import Graph, draw

_OPSET = 17  # of 2022: runtimes of the last years know it
_ORDER = ("label", "variable", "probabilities", "scores")


def to_onnx(model: Any, dtype: Any = np.float32) -> Any:
    """A fitted model as ONNX.

    The input ``X`` has shape (n, n_features). The outputs of a classifier are ``label``,
    ``probabilities``, if the model has them, and ``scores``, the decision values; the output of a
    regressor is ``variable`` of shape (n, n_targets). Proofs stay behind.

    Parameters
    ----------
    model : estimator of dualgap, or a Pipeline or other estimator of scikit-learn that contains one
        The latter are converted by skl2onnx, which learns how to convert those of dualgap. Their
        classifiers have the outputs ``label`` and ``probabilities``, which are decision values if
        the model has no probabilities.
    dtype : numpy.float32 or numpy.float64
        Of the input, of the coefficients and of all computations.

    Returns
    -------
    onnx.ModelProto
        Write it with ``onnx.save``, or run it: ``InferenceSession(found.SerializeToString())``.
    """
    dtype = np.dtype(dtype)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be numpy.float32 or numpy.float64, not {dtype}")
    onnx = _wanted("onnx")
    if not isinstance(model, CertifiedModel):
        _wanted("skl2onnx")
        return importlib.import_module("dualgap.files.onnx_pipeline").converted(model, dtype)
    graph = Graph(dtype)
    results = draw(model, graph, "X")
    names = [name for name in _ORDER if name in results]
    for name in names:
        graph.add("Identity", results[name].value, name=name)
    helper = onnx.helper
    element = helper.np_dtype_to_tensor_dtype(dtype)
    types = {"label": helper.np_dtype_to_tensor_dtype(graph.labels)}
    value = helper.make_tensor_value_info
    made = helper.make_graph(
        [helper.make_node(kind, inputs, [to], **own) for kind, inputs, to, own in graph.nodes],
        type(model).__name__,
        [value("X", element, [None, model.n_features_in_])],
        [value(name, types.get(name, element), results[name].shape) for name in names],
        [onnx.numpy_helper.from_array(array, name) for name, array in graph.constants.items()],
    )
    opset = helper.make_opsetid("", _OPSET)
    found = helper.make_model(made, producer_name="dualgap", opset_imports=[opset])
    found.ir_version = helper.find_min_ir_version_for([opset])
    onnx.checker.check_model(found)
    return found


def _wanted(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ImportError(
            f"to_onnx needs the package {package}: pip install 'dualgap[onnx]'"
        ) from error
