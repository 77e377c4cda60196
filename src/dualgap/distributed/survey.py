"""Whether partitions fit together, before anything is made of them.

Each partition is looked at where it is, and says what the others must know; what is wrong is said
together with the number of the partition.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dualgap._validate import Floats, finite_vector
from dualgap.distributed.block import Block, Model, Raw, Shape
from dualgap.linalg import storage
from dualgap.targets import check_targets

_FEW = 3  # labels that are enough to see that there are more than two


class Survey(NamedTuple):
    """What a partition says of itself; ``lowest``: the first feature that it uses."""

    n: int
    p: int
    weight: float
    labels: Any
    lowest: int


def survey(raw: Raw, a: Floats | None, k: int, model: Model) -> tuple[Survey, None]:
    """Look at the data of a partition."""
    X = raw.X
    if not hasattr(X, "shape") or len(X.shape) != 2:
        raise ValueError("X must be a matrix (samples, features)")
    n, p = X.shape
    if n == 0:
        raise ValueError("it is empty: merge it with another partition, or leave it out")
    labels = _labels(raw.y, model.loss, n)
    return Survey(n, p, _weight(raw.weights, n), labels, _lowest(X)), None


def _labels(y: Any, loss: Any, n: int) -> Any:
    if loss.targets not in ("binary", "classes"):
        check_targets(y, loss, n)
        return None
    if np.shape(y) != (n,):
        raise ValueError(f"y must hold one label for each of the {n} samples, not {np.shape(y)}")
    y = np.asarray(y)
    if loss.targets == "binary" or y.dtype.kind in "biuf":
        y = finite_vector(y, "y", n).astype(y.dtype)
    found = np.unique(y)
    return found[:_FEW] if loss.targets == "binary" else found


def _weight(weights: Any, n: int) -> float:
    if weights is None:
        return float(n)
    weights = finite_vector(weights, "sample_weight", n)
    if (weights < 0.0).any():
        raise ValueError("sample_weight has negative entries")
    return math.fsum(weights)


def _lowest(X: Any) -> int:
    return int(X.indices.min()) if storage.is_sparse(X) and X.nnz and X.format == "csr" else 0


def agreed(surveys: list[Survey], model: Model, *, stretch: bool = False) -> Shape:
    """What all partitions have in common; ``stretch``: they may show fewer features than exist."""
    p = max(each.p for each in surveys) if stretch else surveys[0].p
    for k, each in enumerate(surveys):
        if each.p != p and not stretch:
            raise ValueError(
                f"partition {k} has {each.p} features where partition 0 has {p}: "
                "all need the same features, in the same order"
            )
    labels = None
    if model.loss.targets in ("binary", "classes"):
        every = np.unique(np.concatenate([each.labels for each in surveys]))
        labels = check_targets(every, model.loss, len(every))[1]
    weight = math.fsum(each.weight for each in surveys)
    if weight == 0.0:
        raise ValueError("sample_weight is zero for every sample of every partition")
    counts = [each.n for each in surveys]
    return Shape(p, sum(counts), weight, len(counts), max(counts), labels)


class Making(NamedTuple):
    """What makes a block of raw data; ``shift``: how many features of numbers too high by it."""

    model: Model
    shape: Shape
    shift: int = 0


def made(raw: Raw, making: Making) -> Block:
    """The block of a partition."""
    if making.shift:
        X = raw.X
        lower = type(X)((X.data, X.indices - making.shift, X.indptr), shape=X.shape)
        raw = raw._replace(X=lower)
    return Block(raw, making.model, making.shape)
