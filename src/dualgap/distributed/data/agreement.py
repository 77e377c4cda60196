"""Whether partitions fit together: each one is summarised where it is, the driver compares.

What the partitions agree on makes a block of each. Errors name the partition.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.block import Block, ModelSpec, RawData, Totals
from dualgap.distributed.data.folds import Fold
from dualgap.distributed.data.sources import Sources
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, finite_vector
from dualgap.losses.targets import check_targets, distinct, targets_of

_MORE_THAN_TWO = 3  # labels of a partition that show that a binary loss has too many


class Summary(NamedTuple):
    """A partition in a few numbers: ``n`` samples, ``p`` features, and the total weight.

    ``labels``: those that occur, None if targets are numbers; ``label_weights``: the weight of
    each; ``first_feature``: the number of the first feature that occurs, at most 1; ``nbytes``: of
    X.
    """

    n: int
    p: int
    weight: float
    labels: Any
    label_weights: Floats
    first_feature: int
    nbytes: int


def summarize(raw: RawData, a: None, k: int, spec: ModelSpec) -> tuple[Summary, None]:
    """Check the data of a partition and summarise it (a task)."""
    X = raw.X
    if not hasattr(X, "shape") or len(X.shape) != 2:
        raise ValueError("X must be a matrix (samples, features)")
    n, p = X.shape
    if n == 0:
        raise ValueError("it is empty: merge it with another partition or leave it out")
    weight = _total_weight(raw.weights, n)
    labels, label_weights = _labels(raw.y, spec.loss, n, raw.weights)
    arrays = (X.data, X.indices, X.indptr) if storage.is_sparse(X) else (X,)
    nbytes = sum(array.nbytes for array in arrays)
    return Summary(n, p, weight, labels, label_weights, _first_feature(X), nbytes), None


def summarize_training(
    raw: RawData, a: None, k: int, message: tuple[ModelSpec, Fold]
) -> tuple[Summary, None]:
    """The same of the samples outside of a fold (a task)."""
    spec, fold = message
    raw = raw.raw if isinstance(raw, Block) else raw
    weights = fold.training_weights(k, raw.X.shape[0], raw.weights)
    return summarize(raw._replace(weights=weights), a, k, spec)


def _labels(y: Any, loss: Any, n: int, weights: Any) -> tuple[Any, Floats]:
    """The labels that occur, if targets are labels, and the weight of each."""
    targets = targets_of(loss)
    if not targets.labels:
        check_targets(y, loss, n)
        return None, np.empty(0)
    if np.shape(y) != (n,):
        raise ValueError(f"y must hold one label for each of the {n} samples, not {np.shape(y)}")
    y = np.asarray(y)
    if targets.signs or y.dtype.kind in "biuf":
        y = finite_vector(y, "y", n).astype(y.dtype)
    found, places = distinct(y)
    counts = np.bincount(places, minlength=len(found))
    sums = counts.astype(np.float64) if weights is None else _sums_by_place(weights, places, counts)
    most = _MORE_THAN_TWO if targets.signs else len(found)
    return found[:most], sums[:most]


def _sums_by_place(weights: Any, places: Any, counts: Any) -> Floats:
    """The sum of weights at each place, rounded once: ``Block.weight_error`` counts on it."""
    groups = np.split(np.asarray(weights)[np.argsort(places)], np.cumsum(counts)[:-1])
    return np.array([math.fsum(group) for group in groups])


def _total_weight(weights: Any, n: int) -> float:
    if weights is None:
        return float(n)
    weights = finite_vector(weights, "sample_weight", n)
    if (weights < 0.0).any():
        raise ValueError("sample_weight has negative entries")
    return math.fsum(weights)


def _first_feature(X: Any) -> int:
    if not storage.is_sparse(X) or X.format != "csr":
        return 0
    return int(X.indices.min(initial=1))


class ClassWeights(NamedTuple):
    """A factor for the weights of the samples of each label."""

    labels: Any
    factors: Floats

    def of(self, y: Any) -> Floats:
        """The factor of each sample."""
        return np.asarray(self.factors[np.searchsorted(self.labels, y)])


class ResolvedModel(NamedTuple):
    """The model to fit, with what depends on the data: the labels, and a weight for each class.

    Of two labels, the loss sees the second one as 1 and all others as −1. ``fold``: the samples to
    leave out, if there are any.
    """

    spec: ModelSpec
    labels: Any
    class_weights: ClassWeights | None = None
    fold: Fold | None = None


class Agreement(NamedTuple):
    """What turns the raw data of any partition into a block.

    ``first_feature``: the number of the first feature, if columns have to be aligned first.
    """

    model: ResolvedModel
    totals: Totals
    first_feature: int | None = None


def all_labels(summaries: list[Summary], loss: Any) -> Any:
    """The labels of all partitions; None if targets are numbers."""
    if not targets_of(loss).labels:
        return None
    every = union(summaries)
    return check_targets(every, loss, len(every))[1]


def union(summaries: list[Summary]) -> Any:
    """All labels. They must be of one kind: NumPy would turn numbers beside text into text."""
    kinds = [_kind(each.labels[0]) for each in summaries]
    for k, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise ValueError(
                f"partition {k} has labels of the kind {kind!r} where partition 0 has "
                f"{kinds[0]!r}: all partitions need labels of one kind"
            )
    return np.unique(np.concatenate([each.labels for each in summaries]))


def _kind(label: Any) -> str:
    if isinstance(label, (numbers.Number, np.bool_)):
        return "number"
    return "text" if isinstance(label, str) else type(label).__name__


def label_weights(summaries: list[Summary], labels: Any) -> Floats:
    """The weight of each label in all partitions."""
    sums = np.zeros(len(labels))
    for each in summaries:
        sums[np.searchsorted(labels, each.labels)] += each.label_weights
    return sums


def agree(summaries: list[Summary], sources: Sources, model: ResolvedModel) -> Agreement:
    """What all partitions have in common; raises if they do not fit together."""
    p, first_feature = features_of(summaries, sources)
    if model.class_weights is None:
        weight = math.fsum(each.weight for each in summaries)
        weighted = 0
    else:
        labels, factors = model.class_weights
        weighted = len(labels)
        weight = float(label_weights(summaries, labels) @ factors)
    if weight == 0.0:
        raise ValueError("sample_weight is zero for every sample of every partition")
    counts = [each.n for each in summaries]
    totals = Totals(p, sum(counts), weight, len(counts), max(counts), model.labels, weighted)
    return Agreement(model, totals, first_feature if sources.ragged else None)


def features_of(summaries: list[Summary], sources: Sources) -> tuple[int, int]:
    """How many features there are, and the number of the first one."""
    if sources.ragged:
        first = sources.first_feature
        if first is None:
            first = min(each.first_feature for each in summaries)
        found, given = max(each.p for each in summaries) - first, sources.n_features
        if given is not None and given < found:
            raise ValueError(f"n_features is {given}, but the file has {found} features")
        return given or found, first
    p = summaries[0].p
    for k, each in enumerate(summaries):
        if each.p != p:
            raise ValueError(
                f"partition {k} has {each.p} features where partition 0 has {p}: "
                "all partitions need the same features in the same order"
            )
    return p, 0


def aligned(raw: RawData, k: int, columns: tuple[int, int]) -> RawData:
    """The data with so many columns, the first of which has this number in the file."""
    X, (p, first) = raw.X, columns
    return raw._replace(X=type(X)((X.data, X.indices - first, X.indptr), shape=(X.shape[0], p)))


def make_block(data: Any, k: int, agreement: Agreement) -> Block:
    """The block of a partition, from its data as they were read or from another block of them."""
    model, totals, first = agreement
    raw: RawData = data.raw if isinstance(data, Block) else data
    if first is not None and not isinstance(data, Block):
        raw = aligned(raw, k, (totals.p, first))
    weights = raw.weights
    if model.class_weights is not None:
        factors = model.class_weights.of(raw.y)
        weights = factors if weights is None else factors * weights
    if model.fold is not None:
        weights = model.fold.training_weights(k, raw.X.shape[0], weights)
    block = Block(raw._replace(weights=weights), model.spec, totals)
    block.raw = raw._replace(X=block.X)
    return block
