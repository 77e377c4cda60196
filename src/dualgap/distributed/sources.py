"""Where partitions come from: recipes that whoever needs a partition can follow, again if need be.

Nobody reads a partition before a worker asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.block import Raw
from dualgap.linalg import storage
from dualgap.linalg.validate import whole


class Source(NamedTuple):
    """``read(*parts)`` gives the partition; parts that are Dask's are computed beforehand."""

    read: Callable[..., Raw]
    parts: tuple[Any, ...]

    def load(self) -> Raw:
        """Read it here."""
        return self.read(*(_here(part) for part in self.parts))

    @property
    def lazy(self) -> bool:
        """Whether Dask has to compute some of its parts."""
        return any(is_lazy(part) for part in self.parts)


class Sources(list[Source]):
    """All partitions. ``stretch``: of a file, whose parts do not show all of its features; of
    ``width`` features, None for as many as it shows; ``lowest``: the number of the first one, None
    if the file has to tell; ``names``: of features."""

    stretch = False
    width: int | None = None
    lowest: int | None = 0
    names: list[Any] | None = None


def is_lazy(part: Any) -> bool:
    """Whether it is a Delayed or a Future."""
    return is_delayed(part) or type(part).__module__.startswith("distributed")


def is_delayed(part: Any) -> bool:
    """Whether it is one that nobody has begun to compute."""
    return hasattr(part, "__dask_graph__")


def _here(part: Any) -> Any:
    if not is_lazy(part):
        return part
    return part.compute() if is_delayed(part) else part.result()


def raw_of(X: Any, y: Any = None, weights: Any = None) -> Raw:
    """From (X, y) or (X, y, weights), apart or as one tuple."""
    if y is None and isinstance(X, (tuple, list)):
        if len(X) not in (2, 3):
            raise ValueError(f"must be (X, y) or (X, y, sample_weight), not {len(X)} things")
        return raw_of(*X)
    if y is None:
        raise ValueError("y is missing: a partition is (X, y) or (X, y, sample_weight)")
    if not storage.is_sparse(X):
        X = np.asarray(X)
    weights = None if weights is None else np.asarray(weights)
    return Raw(X, np.asarray(y), weights)


def split(X: Any, y: Any, weights: Any, count: int) -> Sources:
    """Consecutive samples of what is in memory, in parts of about the same size."""
    n = X.shape[0]
    count = whole(count, "partitions", 1)
    if count > n:
        raise ValueError(f"{n} samples do not make {count} partitions: at most {n}")
    size = -(-n // count)
    cuts = [*range(0, n, size), n]
    if len(cuts) - 1 < count:  # ⌈n/c⌉ would leave the last ones empty
        cuts = [int(cut) for cut in np.linspace(0, n, count + 1)]
    X = X.tocsr() if storage.is_sparse(X) else X
    pieces = [slice(*cut) for cut in pairwise(cuts)]
    return Sources(
        Source(raw_of, (X[one], y[one], None if weights is None else weights[one]))
        for one in pieces
    )


def listed(blocks: Sequence[Any]) -> Sources:
    """From a list of (X, y) or (X, y, weights), of which each, or each part, may be delayed."""
    if isinstance(blocks, Sources):
        return blocks
    if not isinstance(blocks, Sequence) or isinstance(blocks, str) or not len(blocks):
        raise ValueError(
            "partitions must be a list of (X, y) or (X, y, sample_weight), delayed or not, or what "
            "from_dask, from_dataframe or from_libsvm return"
        )
    return Sources(
        Source(raw_of, tuple(block) if isinstance(block, (tuple, list)) else (block,))
        for block in blocks
    )
