"""A partition as a problem of its own: its samples, with their shares of the whole.

A block is a ``Problem`` with some of the samples. Weights add up to 1 over all blocks, labels are
those of all blocks, and so its sums are parts of the sums of the whole problem.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dualgap.files.digest import digest
from dualgap.linalg import storage
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.matrices import Dense
from dualgap.linalg.validate import Floats, finite_vector, named, positive
from dualgap.penalties import REGISTRY
from dualgap.penalties._check import check_penalty
from dualgap.problem.problem import Problem, check_loss
from dualgap.problem.targets import signs
from dualgap.samplings.base import metric_squares

# What another process makes anew instead of receiving it.
_VIEWS = ("rows", "stored_rows", "columns", "features", "tables")


class Model(NamedTuple):
    """What is to be fitted, without data."""

    loss: Any
    penalty: Any
    lam: float
    intercept: Any = False
    intercept_scaling: float = 1.0


class Shape(NamedTuple):
    """What a partition has to know of all of them.

    ``p`` features and ``n`` samples of the total weight ``weight`` in ``parts`` partitions, the
    largest of which has ``largest`` samples. ``labels``: those that targets stand for, if they do.
    """

    p: int
    n: int
    weight: float
    parts: int
    largest: int
    labels: Any = None


class Raw(NamedTuple):
    """The data of a partition as it was read."""

    X: Any
    y: Any
    weights: Any = None


class Block(Problem):
    """The terms of one partition."""

    spread: Any = None  # how features are spread over all partitions

    def __init__(self, raw: Raw, model: Model, shape: Shape) -> None:
        scaling = model.intercept_scaling
        DesignMatrix.__init__(self, raw.X, model.intercept, scaling, is_whole=False)
        self.shape = shape
        self.loss = model.loss
        self.classes = shape.labels
        self.y = storage.read_only(_targets(raw.y, self.loss, shape.labels))
        self.penalty = self._place_by_place(check_penalty(model.penalty, self.p))
        self.lam = positive(model.lam, "lam")
        self.s = _weights(raw.weights, self.n)
        self.c = storage.as_shares(self.s / shape.weight)
        self._refuse_tiny_lam()
        self._refuse_impossible_penalty()

    @property
    def weight_error(self) -> float:
        """Weights are added up in partitions, over these, and for labels with factors."""
        labels = 0 if self.shape.labels is None else len(self.shape.labels)
        return 4.0 + 0.5 * (self.shape.parts + labels)

    @property
    def classes_without_weight(self) -> Any:
        """Other partitions may have samples of any class."""
        return np.zeros(self.width, dtype=bool)

    @cached_property
    def tables(self) -> dict[Any, Any]:
        """What schemes keep from one round to the next; it can always be made again."""
        return {}

    def curvatures(self, factors: Floats) -> Floats:
        """c_i/λ Σ_j factors_j x_ij², in the metric of the penalty."""
        with np.errstate(over="ignore"):
            q = self.c / self.lam * metric_squares(self, factors)
        if not np.isfinite(q).all():
            raise ValueError(
                "lam is so small for data of this size that curvatures overflow: rescale X"
            )
        return np.asarray(q)

    def digest(self) -> str:
        """A fingerprint of the data."""
        rows = self.stored_rows
        arrays = (rows.data,) if isinstance(rows, Dense) else rows.arrays
        return digest(*arrays, self.y, self.c)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _VIEWS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.X = _aligned(self.X)


def check_model(model: Model) -> Model:
    """With the loss and the penalty that names stand for."""
    return model._replace(
        loss=check_loss(model.loss),
        penalty=named(model.penalty, REGISTRY, "penalty"),
        lam=positive(model.lam, "lam"),
    )


def _targets(y: Any, loss: Any, labels: Any) -> Any:
    if labels is None:
        return np.array(y, dtype=np.float64)
    if loss.targets == "classes":
        return np.searchsorted(labels, np.asarray(y)).astype(np.float64)
    return signs(np.asarray(y) == labels[1])


def _weights(weights: Any, n: int) -> Floats:
    return np.ones(n) if weights is None else finite_vector(weights, "sample_weight", n)


def _aligned(X: Any) -> Any:
    if not storage.is_sparse(X):
        return X if X.flags.aligned else X.copy()
    parts = (np.require(part, None, "A") for part in (X.data, X.indices, X.indptr))
    return type(X)(tuple(parts), shape=X.shape)
