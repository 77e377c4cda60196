"""Small data sets that come with scikit-learn: no file and no network is needed for them."""

from __future__ import annotations

from typing import Any, NamedTuple


class Small(NamedTuple):
    """How large a set is, and what y holds."""

    n: int
    d: int
    task: str


NAMES = {
    "breast_cancer": Small(569, 30, "two classes"),
    "diabetes": Small(442, 10, "numbers"),
    "digits": Small(1797, 64, "ten classes"),
    "iris": Small(150, 4, "three classes"),
    "wine": Small(178, 13, "three classes"),
}


def load(name: str) -> tuple[Any, Any, tuple[str, ...]]:
    """X, y and the names of the features."""
    import sklearn.datasets

    data = getattr(sklearn.datasets, f"load_{name}")()
    return data.data, data.target.astype(float), tuple(map(str, data.feature_names))
