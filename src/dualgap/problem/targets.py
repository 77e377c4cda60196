"""Targets: what y must be for a loss, and labels as indices of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg.validate import LARGEST, SMALLEST, Floats, finite_vector


def check_targets(y: Any, loss: Any, n: int) -> tuple[Floats, Any]:
    """Targets as kernels see them, and the labels that they stand for, if they do.

    The result is a copy: later changes of the user's array are not ours. Signs take a byte each.
    """
    if loss.targets == "classes":
        return _class_indices(y, type(loss).__name__, n)
    y = finite_vector(y, "y", n)
    low, high = float(y.min()), float(y.max())
    largest = max(-low, high)
    if largest > LARGEST:
        raise ValueError(f"y has entries of size {largest:.1e}, whose squares overflow: rescale y")
    if loss.targets == "real" and 0.0 < largest < SMALLEST:
        raise ValueError(
            f"y has entries of size up to {largest:.1e}, whose squares underflow: rescale y"
        )
    name = type(loss).__name__
    if loss.targets == "count" and low < 0.0:
        raise ValueError(f"y has negative entries; {name} needs counts or rates >= 0")
    if loss.targets != "binary":
        return y.copy(), None
    upper = y == high
    two = low < high and np.count_nonzero(upper) + np.count_nonzero(y == low) == n
    if not two:
        classes = np.unique(y)
        found = (
            f"one class only ({classes[0]:g})"
            if len(classes) == 1
            else f"{len(classes)} different values"
        )
        more = "; for more classes use Softmax or MulticlassHinge" if len(classes) > 2 else ""
        raise ValueError(f"y has {found}; {name} needs labels of exactly two values{more}")
    return signs(upper), np.array([low, high])


def signs(upper: Any) -> Any:
    """+1 where it is so and −1 elsewhere, of few bytes: steps visit them at random."""
    return 2 * upper.view(np.int8) - np.int8(1)


def _class_indices(y: Any, name: str, n: int) -> tuple[Floats, Any]:
    """The index of each label among the sorted labels, and these."""
    if hasattr(y, "toarray"):
        raise ValueError("y must be dense: use y.toarray().ravel()")
    if isinstance(y, np.ma.MaskedArray) and np.any(y.mask):
        raise ValueError("y has masked entries: remove or fill them in")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] > 1:
        raise ValueError(
            f"y must have one dimension, a label for each sample, not shape {labels.shape}: "
            "where each row marks a class use y.argmax(axis=1)"
        )
    if labels.dtype.kind in "biuf":
        labels = finite_vector(labels, "y", n).astype(labels.dtype)
    if labels.shape != (n,):
        raise ValueError(f"y must hold one label for each of the {n} samples")
    classes, indices = distinct(labels)
    if len(classes) == 1:
        raise ValueError(f"y has one class only ({classes[0]}); {name} needs at least two")
    return indices.reshape(n).astype(np.float64), classes


def distinct(labels: Any) -> tuple[Any, Any]:
    """The labels that occur, sorted, and which of them each sample has."""
    if labels.dtype.kind == "O" and any(label is None or label != label for label in labels):
        raise ValueError("y has missing labels: remove or fill them in")
    try:
        classes, indices = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y must hold labels of one kind: {error}") from None
    return classes, indices
