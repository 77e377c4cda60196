"""Predictions for collections of Dask, which are collections themselves.

Only what a prediction needs travels to the workers: no dual variables and no proof.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from dualgap.estimators.base import FOLLOWING, PROOFS

_LEFT_OUT = {*PROOFS, *FOLLOWING, "_following", "callback", "feature_names_in_"}


def is_collection(X: Any) -> bool:
    """Whether X is a Dask array or dataframe."""
    return hasattr(X, "__dask_graph__")


def predicted(model: Any, name: str, X: Any, offset: Any = None) -> Any:
    """What the method ``name`` of a fitted model returns for each part of X."""
    check_is_fitted(model)
    if offset is not None:
        raise ValueError("offset: predictions for collections of Dask have none; add it to them")
    light = for_workers(model)
    example = getattr(light, name)(sp.csr_matrix((1, model.n_features_in_)))
    if hasattr(X, "columns"):
        return _of_frame(model, light, name, X, example)
    return _of_array(model, light, name, X, example)


def for_workers(model: Any) -> Any:
    """A model that can predict, and is small."""
    light = object.__new__(type(model))
    light.__dict__ = {name: own for name, own in vars(model).items() if name not in _LEFT_OUT}
    light.callback = None
    return light


def _of_array(model: Any, light: Any, name: str, X: Any, example: Any) -> Any:
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions (samples, features), not {X.ndim}")
    check_width(model, X.shape[1])
    _check_feature_names(model, X, reset=False)
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    columns: dict[str, Any] = {"chunks": (X.chunks[0], example.shape[1:])}
    if example.ndim == 1:
        columns = {"chunks": (X.chunks[0],), "drop_axis": 1}
    return X.map_blocks(_apply, light, name, dtype=example.dtype, meta=example[:0], **columns)


def _apply(block: Any, light: Any, name: str) -> Any:
    return getattr(light, name)(block)


def _of_frame(model: Any, light: Any, name: str, frame: Any, example: Any) -> Any:
    check_width(model, len(frame.columns))
    _check_feature_names(model, frame._meta, reset=False)
    meta = _framed(example, frame._meta.iloc[:0].index, light)
    return frame.map_partitions(_apply_to_frame, light, name, tuple(frame.columns), meta=meta)


def _apply_to_frame(frame: Any, light: Any, name: str, columns: tuple[Any, ...]) -> Any:
    data = frame[list(columns)].to_numpy(dtype=np.float64, na_value=np.nan)
    found = getattr(light, name)(data) if len(data) else _empty(light, name)
    return _framed(found, frame.index, light)


def _empty(light: Any, name: str) -> Any:
    return getattr(light, name)(sp.csr_matrix((1, light.n_features_in_)))[:0]


def _framed(found: Any, index: Any, light: Any) -> Any:
    """A series, or a dataframe with a column for each class, for the rows of ``index``."""
    import pandas as pd  # type: ignore[import-untyped]

    found = found[: len(index)]
    if found.ndim == 1:
        return pd.Series(found, index=index)
    return pd.DataFrame(found, index=index, columns=[str(label) for label in light.classes_])


def check_width(model: Any, width: int) -> None:
    """Raise scikit-learn's error if X has another number of features than the model."""
    if width != model.n_features_in_:
        raise ValueError(
            f"X has {width} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input"
        )
