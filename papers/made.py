"""Data constructed for a claim that no real set isolates. Names tell how: "made:kind:numbers"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.datasets import Dataset


def short_rows(n: int, d: int, entries: int) -> tuple[Any, Any]:
    """Rows of ``entries`` normal numbers at random places, and noisy labels."""
    rng = np.random.default_rng(0)
    # One entry in each stretch of columns: sorted, and never two at the same place.
    stretch = d // entries
    places = rng.integers(stretch, size=(n, entries)) + stretch * np.arange(entries)
    X = _rows(rng.standard_normal(places.shape), places, d)
    return X, _labels(X, rng)


def groups(groups: int, rows: int, width: int, entries: int) -> tuple[Any, Any]:
    """Rows of norm 1 in groups of ``rows`` samples that share no feature."""
    rng = np.random.default_rng(0)
    n = groups * rows
    places = np.sort(np.argsort(rng.random((n, width)), axis=1)[:, :entries], axis=1)
    places += width * (np.arange(n)[:, None] // rows)
    values = rng.standard_normal(places.shape)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    X = _rows(values, places, groups * width)
    return X, _labels(X, rng)


def unequal(n: int, d: int, largest: int) -> tuple[Any, Any]:
    """Dense rows of norm 1, but for one in a hundred, of norm ``largest``."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[::100] *= largest
    return sp.csr_matrix(X), _labels(X, rng)


KINDS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "short-rows": short_rows,
    "groups": groups,
    "unequal": unequal,
}


def is_made(name: str) -> bool:
    return name.startswith("made:")


def load(name: str) -> Dataset:
    kind, numbers = _parts(name)
    X, y = KINDS[kind](*numbers)
    words = (KINDS[kind].__doc__ or "").rstrip(".")
    words = words.replace("``", "")
    return Dataset(f"{kind} {numbers}", X, y, synthetic=False, source=f"constructed: {words}")


def extent(name: str) -> tuple[float, float]:
    """Samples and entries."""
    kind, numbers = _parts(name)
    if kind == "short-rows":
        return float(numbers[0]), float(numbers[0] * numbers[2])
    if kind == "groups":
        return float(numbers[0] * numbers[1]), float(numbers[0] * numbers[1] * numbers[3])
    return float(numbers[0]), float(numbers[0] * numbers[1])


def _parts(name: str) -> tuple[str, tuple[int, ...]]:
    _, kind, *numbers = name.split(":")
    return kind, tuple(map(int, numbers))


def _rows(values: Any, places: Any, d: int) -> Any:
    n, entries = places.shape
    starts = np.arange(0, places.size + 1, entries, dtype=np.int32)
    return sp.csr_matrix((values.ravel(), places.ravel().astype(np.int32), starts), shape=(n, d))


def _labels(X: Any, rng: np.random.Generator) -> Any:
    scores = X @ rng.standard_normal(X.shape[1])
    noise = 0.3 * np.std(scores) * rng.standard_normal(len(scores))
    return np.where(scores + noise > 0.0, 1.0, -1.0)
