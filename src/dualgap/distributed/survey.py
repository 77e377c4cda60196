"""Whether partitions fit together, before anything is made of them.

Each partition is looked at where it is, and says what the others must know; what is wrong is said
together with the number of the partition.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.block import Block, Model, Raw, Shape
from dualgap.distributed.sources import Sources
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, finite_vector
from dualgap.problem.targets import check_targets, distinct

_FEW = 3  # labels that are enough to see that there are more than two


class Survey(NamedTuple):
    """What a partition says of itself; ``sums``: the weight of each label; ``lowest``: the first
    feature that it uses, at most 1."""

    n: int
    p: int
    weight: float
    labels: Any
    sums: Floats
    lowest: int


def survey(raw: Raw, a: Floats | None, k: int, model: Model) -> tuple[Survey, None]:
    """Look at the data of a partition."""
    X = raw.X
    if not hasattr(X, "shape") or len(X.shape) != 2:
        raise ValueError("X must be a matrix (samples, features)")
    n, p = X.shape
    if n == 0:
        raise ValueError("it is empty: merge it with another partition, or leave it out")
    weight = _weight(raw.weights, n)
    labels, sums = _labels(raw.y, model.loss, n, raw.weights)
    return Survey(n, p, weight, labels, sums, _lowest(X)), None


def _labels(y: Any, loss: Any, n: int, weights: Any) -> tuple[Any, Floats]:
    """Those that occur, if targets are labels, and their weights."""
    if loss.targets not in ("binary", "classes"):
        check_targets(y, loss, n)
        return None, np.empty(0)
    if np.shape(y) != (n,):
        raise ValueError(f"y must hold one label for each of the {n} samples, not {np.shape(y)}")
    y = np.asarray(y)
    if loss.targets == "binary" or y.dtype.kind in "biuf":
        y = finite_vector(y, "y", n).astype(y.dtype)
    found, places = distinct(y)
    counts = np.bincount(places, minlength=len(found))
    sums = counts.astype(np.float64) if weights is None else _added_up(weights, places, counts)
    most = _FEW if loss.targets == "binary" else len(found)
    return found[:most], sums[:most]


def _added_up(weights: Any, places: Any, counts: Any) -> Floats:
    """Sums by place, each rounded once: the certificate counts on it."""
    apart = np.split(np.asarray(weights)[np.argsort(places)], np.cumsum(counts)[:-1])
    return np.array([math.fsum(part) for part in apart])


def _weight(weights: Any, n: int) -> float:
    if weights is None:
        return float(n)
    weights = finite_vector(weights, "sample_weight", n)
    if (weights < 0.0).any():
        raise ValueError("sample_weight has negative entries")
    return math.fsum(weights)


def _lowest(X: Any) -> int:
    if not storage.is_sparse(X) or X.format != "csr":
        return 0
    return int(X.indices.min(initial=1))


class ByClass(NamedTuple):
    """A factor of weights for each label."""

    labels: Any
    factors: Floats

    def of(self, y: Any) -> Floats:
        """That of each sample."""
        return np.asarray(self.factors[np.searchsorted(self.labels, y)])


class Settled(NamedTuple):
    """What is to be fitted, the labels that targets stand for, and their weights, once data is
    known."""

    model: Model
    labels: Any
    by_class: ByClass | None = None


class Making(NamedTuple):
    """What makes a block of raw data; ``lowest``: the number of the first feature, if the data has
    to be brought into shape."""

    settled: Settled
    shape: Shape
    lowest: int | None = None


def all_labels(surveys: list[Survey], loss: Any) -> Any:
    """Those of all partitions; None if targets are numbers."""
    if loss.targets not in ("binary", "classes"):
        return None
    every = union(surveys)
    return check_targets(every, loss, len(every))[1]


def union(surveys: list[Survey]) -> Any:
    """All labels, if they are of one kind: beside text, numbers would become text as well."""
    kinds = [_kind(each.labels[0]) for each in surveys]
    for k, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise ValueError(
                f"partition {k} has labels of the kind {kind!r} where partition 0 has "
                f"{kinds[0]!r}: all need labels of one kind"
            )
    return np.unique(np.concatenate([each.labels for each in surveys]))


def _kind(label: Any) -> str:
    if isinstance(label, (numbers.Number, np.bool_)):
        return "number"
    return "text" if isinstance(label, str) else type(label).__name__


def label_sums(surveys: list[Survey], labels: Any) -> Floats:
    """The weight of each label in all partitions."""
    sums = np.zeros(len(labels))
    for each in surveys:
        sums[np.searchsorted(labels, each.labels)] += each.sums
    return sums


def agreed(surveys: list[Survey], sources: Sources, settled: Settled) -> Making:
    """What all partitions have in common."""
    p, lowest = _features(surveys, sources)
    if settled.by_class is None:
        weight = math.fsum(each.weight for each in surveys)
    else:
        labels, factors = settled.by_class
        weight = float(label_sums(surveys, labels) @ factors)
    if weight == 0.0:
        raise ValueError("sample_weight is zero for every sample of every partition")
    counts = [each.n for each in surveys]
    shape = Shape(p, sum(counts), weight, len(counts), max(counts), settled.labels)
    return Making(settled, shape, lowest if sources.stretch else None)


def _features(surveys: list[Survey], sources: Sources) -> tuple[int, int]:
    """How many there are, and the number of the first one."""
    if sources.stretch:
        lowest = sources.lowest
        if lowest is None:
            lowest = min(each.lowest for each in surveys)
        found = max(each.p for each in surveys) - lowest
        if sources.width is not None and sources.width < found:
            raise ValueError(f"n_features is {sources.width}, but the file has {found} features")
        return sources.width or found, lowest
    p = surveys[0].p
    for k, each in enumerate(surveys):
        if each.p != p:
            raise ValueError(
                f"partition {k} has {each.p} features where partition 0 has {p}: "
                "all need the same features, in the same order"
            )
    return p, 0


def made(raw: Raw, making: Making) -> Block:
    """The block of a partition."""
    if making.lowest is not None:
        X, shape = raw.X, (raw.X.shape[0], making.shape.p)
        wide = type(X)((X.data, X.indices - making.lowest, X.indptr), shape=shape)
        raw = raw._replace(X=wide)
    if making.settled.by_class is not None:
        own = making.settled.by_class.of(raw.y)
        raw = raw._replace(weights=own if raw.weights is None else own * raw.weights)
    return Block(raw, making.settled.model, making.shape)
