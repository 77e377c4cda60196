"""Stand-ins for data sets that cannot be had: the same shape, density and kind of features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.datasets.registry import Entry

Block = tuple[Any, Any, Any]  # of rows: their entries, the columns of these, how many each row has

LARGEST = 10_000_000  # entries, about 120 MB; a set with more of them gets fewer rows
BLOCK = 1_000_000  # entries made at a time, which keeps the memory near that of the result


def stand_in(entry: Entry) -> tuple[Any, Any]:
    """X and y, the same ones at each call."""
    rng = np.random.default_rng(list(entry.name.encode()))
    per_row = entry.density * entry.d
    n = min(entry.n, int(LARGEST / per_row))
    rows = max(1, int(BLOCK / per_row))
    make = _words(entry, rng) if entry.kind in ("flags", "text") else _stretches(entry, rng)
    X = _stack([make(min(rows, n - first)) for first in range(0, n, rows)], entry)
    scores = X @ rng.standard_normal(entry.d)
    scores += 0.3 * scores.std() * rng.standard_normal(n)
    return X, np.where(scores > np.quantile(scores, 1.0 - entry.positive), 1.0, -1.0)


def _words(entry: Entry, rng: np.random.Generator) -> Callable[[int], Block]:
    """Rows of words drawn by Zipf's law: TF-IDF of unit length, or for flags just ones."""
    d, flags = entry.d, entry.kind == "flags"
    popularity = np.diff(np.log(np.arange(1, d + 2))) / np.log(d + 1)
    mean = _draws_needed(popularity, entry.density * d, varied=flags)
    order = rng.permutation(d)  # popular columns lie anywhere, not side by side
    idf = np.empty(d)
    idf[order] = -np.log(-np.expm1(-mean * popularity))

    def make(n: int) -> Block:
        # Flags have rows of very different length, which is what importance sampling is about.
        lengths = rng.poisson(mean * rng.exponential(size=n) if flags else mean, size=n)
        starts = np.repeat(np.arange(n) * d, lengths)
        words = ((d + 1) ** rng.random(len(starts))).astype(np.int64) - 1
        places, counts = np.unique(starts + order[np.minimum(words, d - 1)], return_counts=True)
        columns, lengths = places % d, np.bincount(places // d, minlength=n)
        if flags:
            return np.ones(len(columns)), columns.astype(np.int32), lengths
        # A word that every row has tells nothing, but it must not vanish.
        values = np.log1p(counts) * np.maximum(idf[columns], 1e-3)
        return _unit(values, lengths), columns.astype(np.int32), lengths

    return make


def _draws_needed(popularity: Any, distinct: float, *, varied: bool) -> float:
    """The mean number of draws for a row to have that many distinct words on average.

    With Poisson numbers of mean t, word j is missing with probability exp(-t q_j); when t itself is
    exponential with mean t, with probability 1 / (1 + t q_j).
    """
    low, high = np.log(distinct), np.log(distinct) + 20.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        tq = np.exp(middle) * popularity
        found = (tq / (1.0 + tq) if varied else -np.expm1(-tq)).sum()
        low, high = (middle, high) if found < distinct else (low, middle)
    return float(np.exp(low))


def _stretches(entry: Entry, rng: np.random.Generator) -> Callable[[int], Block]:
    """Rows of equal length: one entry in each stretch of columns, as codes of categories have."""
    k = max(1, round(entry.density * entry.d))
    edges = np.linspace(0, entry.d, k + 1).astype(np.int32)
    low = {"categories": 1.0, "signed": -1.0}.get(entry.kind, 0.0)

    def make(n: int) -> Block:
        columns = rng.integers(edges[:-1], edges[1:], size=(n, k), dtype=np.int32)
        values, lengths = rng.uniform(low, 1.0, n * k), np.full(n, k)
        return (
            _unit(values, lengths) if entry.kind == "shares" else values,
            columns.ravel(),
            lengths,
        )

    return make


def _unit(values: Any, lengths: Any) -> Any:
    """Entries of rows, scaled to rows of norm 1."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return values / np.sqrt(np.bincount(rows, values**2))[rows]


def _stack(blocks: list[Block], entry: Entry) -> Any:
    values, columns, lengths = (np.concatenate(parts) for parts in zip(*blocks))
    starts = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return sp.csr_matrix((values, columns, starts), shape=(len(lengths), entry.d))
