"""Groups of features: from what a user writes to one order of all features."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg import storage


class Partition(NamedTuple):
    """Group k has the features order[starts[k]], ..., order[starts[k + 1] − 1]."""

    order: Any
    starts: Any

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> Any:
        """The number of features of each group."""
        return np.diff(self.starts)

    @property
    def labels(self) -> Any:
        """The group of each feature."""
        found = np.empty(len(self.order), np.int64)
        found[self.order] = np.repeat(np.arange(self.n_groups), self.sizes)
        return found

    def on_features(self, features: Any) -> Partition:
        """The same groups of some of the features; a group may lose all of its own."""
        labels = self.labels[features]
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels, minlength=self.n_groups)
        return partition(order, sizes)


def partition(order: Any, sizes: Any) -> Partition:
    """A partition whose arrays kernels may read."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Partition(*(storage.read_only(np.array(v, np.int64)) for v in (order, starts)))


def check_groups(groups: Any, d: int) -> Partition:
    """The partition of ``d`` features that a user means.

    ``groups`` is the size of all groups, which are then adjacent features; or a list with the size
    of each; or a list of the features of each, by their indices.
    """
    if isinstance(groups, Partition):
        return _checked(groups, d)
    if isinstance(groups, numbers.Integral) and not isinstance(groups, bool):
        if groups < 1 or d % int(groups):
            raise ValueError(
                f"groups={groups} does not divide the {d} features into groups of equal size: give "
                "a list with the size of each group, or with the indices of its features"
            )
        return partition(np.arange(d), np.full(d // int(groups), int(groups)))
    if isinstance(groups, (str, bytes, bool)) or not hasattr(groups, "__len__"):
        raise ValueError(
            "groups must be the size of all groups, a list with the size of each, or a list of "
            f"lists of feature indices, not {groups!r}"
        )
    if all(np.ndim(group) == 0 for group in groups):
        return _of_sizes(_whole(groups, "groups"), d)
    return _of_lists([_whole(group, f"groups[{k}]") for k, group in enumerate(groups)], d)


def _whole(values: Any, name: str) -> Any:
    found = np.asarray(values)
    if found.ndim != 1:
        raise ValueError(f"{name} must be a list of feature indices, not {values!r}")
    if found.size == 0:
        return np.empty(0, np.int64)
    if found.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold whole numbers, not {found.dtype}")
    return found.astype(np.int64)


def _of_sizes(sizes: Any, d: int) -> Partition:
    if (sizes < 0).any() or sizes.sum() != d:
        raise ValueError(
            f"groups has sizes that add up to {sizes.sum()}, where there are {d} features"
            if (sizes >= 0).all()
            else "groups has a negative size"
        )
    return partition(np.arange(d), sizes)


def _of_lists(lists: list[Any], d: int) -> Partition:
    order = np.concatenate(lists) if lists else np.empty(0, np.int64)
    for k, group in enumerate(lists):
        outside = group[(group < 0) | (group >= d)]
        if len(outside):
            raise ValueError(
                f"groups[{k}] has feature {outside[0]}, where features count from 0 to {d - 1}"
            )
    counts = np.bincount(order, minlength=d)
    twice, missing = np.flatnonzero(counts > 1), np.flatnonzero(counts == 0)
    if len(twice):
        own = [k for k, group in enumerate(lists) if (group == twice[0]).any()]
        where = f"groups {own[0]} and {own[1]}" if len(own) > 1 else f"group {own[0]} twice"
        raise ValueError(
            f"groups overlap: feature {twice[0]} is in {where}. Groups must not share features; to "
            "penalise overlapping ones, repeat the columns of X that they share"
        )
    if len(missing):
        raise ValueError(
            f"groups leave out feature {missing[0]}: each feature must be in a group. One of its "
            "own with weight 0 leaves a feature unpenalised"
        )
    return partition(order, [len(group) for group in lists])


def _checked(groups: Partition, d: int) -> Partition:
    """Kernels follow its indices, so a partition of another number of features is refused."""
    order, starts = (np.asarray(v, np.int64) for v in groups)
    whole = len(order) == d and bool((np.sort(order) == np.arange(d)).all())
    rising = len(starts) > 0 and starts[0] == 0 and starts[-1] == d and (np.diff(starts) >= 0).all()
    if not (whole and rising):
        raise ValueError(f"groups are those of {len(order)} features, where there are {d}")
    return partition(order, np.diff(starts))
