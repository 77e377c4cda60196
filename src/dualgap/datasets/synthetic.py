"""Stand-ins for data sets that cannot be had: the same shape, density and kind of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.datasets.registry import Entry

LARGEST = 10_000_000  # entries, about 120 MB; a set with more of them gets fewer rows


def stand_in(entry: Entry) -> tuple[Any, Any]:
    """X and y, the same ones at each call."""
    rng = np.random.default_rng(list(entry.name.encode()))
    n = min(entry.n, int(LARGEST / (entry.density * entry.d)))
    if entry.kind in ("flags", "text"):
        X = _draws(n, entry, rng)
    else:
        X = _one_in_each_stretch(n, entry, rng)
    if entry.kind == "text":
        X = _tf_idf(X)
    if entry.kind in ("text", "shares"):
        X = _unit_rows(X)
    scores = X @ rng.standard_normal(entry.d)
    scores += 0.3 * scores.std() * rng.standard_normal(n)
    return X, np.where(scores > np.quantile(scores, 1.0 - entry.positive), 1.0, -1.0)


def _draws(n: int, entry: Entry, rng: np.random.Generator) -> Any:
    """Rows of words drawn by Zipf's law, as counts; for flags, as ones."""
    d, flags = entry.d, entry.kind == "flags"
    popularity = np.diff(np.log(np.arange(1, d + 2))) / np.log(d + 1)
    mean = _draws_needed(popularity, entry.density * d, varied=flags)
    # Sets of flags have rows of very different length, which is what importance sampling is about.
    lengths = rng.poisson(mean * rng.exponential(size=n) if flags else mean, size=n)
    rows = np.repeat(np.arange(n, dtype=np.int64), lengths)
    words = ((d + 1) ** rng.random(len(rows))).astype(np.int64) - 1
    # Popular columns lie anywhere, not side by side.
    words = rng.permutation(d)[np.minimum(words, d - 1)]
    rows *= d
    rows += words
    places, counts = np.unique(rows, return_counts=True)
    values = np.ones(len(places)) if flags else counts.astype(np.float64)
    starts = np.searchsorted(places, np.arange(n + 1, dtype=np.int64) * d)
    return _csr(values, places % d, starts, (n, d))


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


def _one_in_each_stretch(n: int, entry: Entry, rng: np.random.Generator) -> Any:
    """Rows of equal length: one entry in each stretch of columns, as codes of categories have."""
    d = entry.d
    k = max(1, round(entry.density * d))
    edges = np.linspace(0, d, k + 1).astype(np.int32)
    places = edges[:-1] + (rng.random((n, k), dtype=np.float32) * np.diff(edges)).astype(np.int32)
    # A float32 just below 1 may be rounded up to the next stretch.
    places = np.minimum(places, edges[1:] - 1)
    low = {"categories": 1.0, "signed": -1.0}.get(entry.kind, 0.0)
    values = rng.uniform(low, 1.0, n * k)
    return _csr(values, places.ravel(), np.arange(0, n * k + 1, k), (n, d))


def _tf_idf(X: Any) -> Any:
    documents = np.bincount(X.indices, minlength=X.shape[1])
    X.data = np.log1p(X.data) * np.log((1.0 + X.shape[0]) / documents[X.indices])
    return X


def _unit_rows(X: Any) -> Any:
    lengths = np.diff(X.indptr)
    squares = np.add.reduceat(np.append(X.data**2, 0.0), X.indptr[:-1])
    # Of an empty row, reduceat returns an entry of the next one; nothing is divided by it.
    X.data /= np.repeat(np.sqrt(squares), lengths)
    return X


def _csr(values: Any, columns: Any, starts: Any, shape: tuple[int, int]) -> Any:
    parts = (values, columns.astype(np.int32), starts.astype(np.int32))
    return sp.csr_matrix(parts, shape=shape)
