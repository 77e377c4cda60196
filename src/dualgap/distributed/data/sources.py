"""Where partitions come from: recipes that any worker can follow, and follow again after a failure.

Nothing is read before a worker asks for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.block import RawData
from dualgap.distributed.tuning import TUNING
from dualgap.linalg import storage
from dualgap.linalg.validate import whole


class Source(NamedTuple):
    """``read(*args)`` gives the partition; arguments that are Dask's are computed beforehand."""

    read: Callable[..., RawData]
    args: tuple[Any, ...]

    def load(self) -> RawData:
        """Read it in this process; what fails for another reason than its data is tried again."""
        for _ in range(TUNING.loads - 1):
            try:
                return self.read(*(_computed(arg) for arg in self.args))
            except (ValueError, TypeError):
                raise
            except Exception:
                time.sleep(TUNING.load_pause)
        return self.read(*(_computed(arg) for arg in self.args))

    @property
    def lazy(self) -> bool:
        """Whether Dask has to compute some of the arguments."""
        return any(is_lazy(arg) for arg in self.args)


class Sources(list[Source]):
    """All partitions, in order.

    ``ragged``: the partitions may show different numbers of features, as ranges of one file do.
    Then ``n_features`` is their true number (None: the largest that any partition shows) and
    ``first_feature`` the number of the first one (None: the smallest that any partition shows).
    ``names``: those of the features, if they have any. ``path``: that of the file, if there is one.
    """

    ragged = False
    n_features: int | None = None
    first_feature: int | None = 0
    names: list[Any] | None = None
    path: str | None = None


def is_lazy(value: Any) -> bool:
    """Whether it is a Dask Delayed or Future."""
    return is_delayed(value) or type(value).__module__.startswith("distributed")


def is_delayed(value: Any) -> bool:
    """Whether it is a Delayed, whose computation has not begun."""
    return hasattr(value, "__dask_graph__")


def _computed(value: Any) -> Any:
    if not is_lazy(value):
        return value
    return value.compute() if is_delayed(value) else value.result()


def as_raw(X: Any, y: Any = None, weights: Any = None) -> RawData:
    """From (X, y) or (X, y, weights), given one by one or as one tuple."""
    if y is None and isinstance(X, (tuple, list)):
        if len(X) not in (2, 3):
            raise ValueError(f"must be (X, y) or (X, y, sample_weight), not a tuple of {len(X)}")
        return as_raw(*X)
    if y is None:
        raise ValueError("y is missing: a partition is (X, y) or (X, y, sample_weight)")
    if not storage.is_sparse(X):
        X = np.asarray(X)
    elif storage.is_coded(X):  # messages are made of plain arrays
        X = X.plain()
    weights = None if weights is None else np.asarray(weights)
    return RawData(X, np.asarray(y), weights)


def split(X: Any, y: Any, weights: Any, count: int) -> Sources:
    """Consecutive samples of data in memory, in ``count`` partitions of about the same size."""
    n = X.shape[0]
    count = whole(count, "partitions", 1)
    if count > n:
        raise ValueError(f"{n} samples cannot fill {count} partitions: use at most {n}")
    size = -(-n // count)
    cuts = [*range(0, n, size), n]
    if len(cuts) - 1 < count:  # ⌈n/c⌉ would leave the last ones empty
        cuts = [int(cut) for cut in np.linspace(0, n, count + 1)]
    X = X.tocsr() if storage.is_sparse(X) else X
    pieces = [slice(*cut) for cut in pairwise(cuts)]
    return Sources(
        Source(as_raw, (X[one], y[one], None if weights is None else weights[one]))
        for one in pieces
    )


def listed(partitions: Sequence[Any]) -> Sources:
    """From a list of (X, y) or (X, y, weights); tuples, or what they contain, may be delayed."""
    if isinstance(partitions, Sources):
        return partitions
    if not isinstance(partitions, Sequence) or isinstance(partitions, str) or not partitions:
        raise ValueError(
            "partitions must be a list of (X, y) or (X, y, sample_weight), delayed or not, or what "
            "from_dask, from_dataframe or from_libsvm return"
        )
    return Sources(
        Source(as_raw, tuple(one) if isinstance(one, (tuple, list)) else (one,))
        for one in partitions
    )
