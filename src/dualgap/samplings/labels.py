"""Groups of samples, as a user gives them: a label for each, or lists of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg import storage


def as_labels(groups: Any, what: str, n: int | None = None) -> Any:
    """Labels 0, 1, ... of the samples; ``n`` is their number, if it is known."""
    if isinstance(groups, str) or not hasattr(groups, "__len__") or len(groups) == 0:
        raise ValueError(
            f"{what} must have a label for each sample, or be a list of index arrays, not "
            f"{groups!r}"
        )
    if all(np.ndim(group) == 0 for group in groups):
        return storage.read_only(np.unique(np.asarray(groups), return_inverse=True)[1])
    parts = [np.atleast_1d(np.asarray(group)) for group in groups]
    sizes = np.array([len(part) for part in parts])
    if not sizes.all():
        raise ValueError(f"{what} has an empty group, of which no sample can be drawn")
    members, n = np.concatenate(parts), int(sizes.sum()) if n is None else n
    if members.dtype.kind not in "iu" or not np.array_equal(np.sort(members), np.arange(n)):
        raise ValueError(f"{what} must hold each of the indices 0 to {n - 1} exactly once")
    labels = np.empty(n, np.int64)
    labels[members] = np.repeat(np.arange(len(parts)), sizes)
    return storage.read_only(labels)


def members_of(labels: Any) -> tuple[Any, ...]:
    """The samples of each label."""
    order = np.argsort(labels, kind="stable")
    return tuple(np.split(order, np.cumsum(np.bincount(labels))[:-1]))


def same_arrays(one: Any, other: Any) -> bool:
    """Whether two arrays, or tuples of them, are the same; or both are None."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(np.array_equal, one, other))
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one, other))
