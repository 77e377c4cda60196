"""A partition as a problem of its own: its samples, weighted by their share of all samples.

A block is a ``Problem`` with some of the samples. Weights add up to 1 over all blocks and labels
are those of all blocks, so sums over the samples of a block add up to those of the whole problem.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dualgap.files.digest import digest
from dualgap.linalg import storage
from dualgap.linalg.design_matrix import DesignMatrix
from dualgap.linalg.matrices import Dense
from dualgap.linalg.validate import Floats, finite_vector, named, positive
from dualgap.losses.targets import check_loss, targets_of
from dualgap.penalties import REGISTRY
from dualgap.penalties.proximal import Proximal
from dualgap.problem.problem import Problem

# Attributes that another process computes again instead of receiving them.
_VIEWS = ("rows", "stored_rows", "columns", "features", "tables")


class ModelSpec(NamedTuple):
    """What is to be fitted, without data."""

    loss: Any
    penalty: Any = "l2"
    lam: float = 1.0
    intercept: Any = False
    intercept_scaling: float = 1.0


class Totals(NamedTuple):
    """What a partition has to know about all of them.

    ``p`` features and ``n`` samples of total weight ``weight`` in ``partitions`` partitions, the
    largest of which has ``largest`` samples. ``labels``: what the codes of targets stand for, if
    targets are labels. ``weighted``: over how many labels weights are summed.
    """

    p: int
    n: int
    weight: float
    partitions: int
    largest: int
    labels: Any = None
    weighted: int = 0


class RawData(NamedTuple):
    """The data of a partition as it was read."""

    X: Any
    y: Any
    weights: Any = None


class ProximalTerm(NamedTuple):
    """(λρ/2)‖w − centre‖², on as many of the last coefficients as ``centre`` has.

    ``intercept_factor``: how many times as large ρ is for the intercepts.
    """

    rho: float
    centre: Floats
    intercept_factor: float = 1.0

    def rho_of_each(self, width: int) -> Floats:
        """ρ of each coefficient that has the term; the last ``width`` of them are intercepts."""
        rho = np.full(len(self.centre), self.rho)
        rho[-width:] *= self.intercept_factor
        return rho


class Block(Problem):
    """The samples of one partition."""

    raw: RawData  # what the next problem on the same data is made of
    occurrences: Any = None  # how features are spread over all partitions (messages.Occurrences)

    def __init__(self, raw: RawData, spec: ModelSpec, totals: Totals) -> None:
        scaling = spec.intercept_scaling
        DesignMatrix.__init__(self, raw.X, spec.intercept, scaling, is_whole=False)
        self.spec, self.totals = spec, totals
        self.loss = self.given_loss = spec.loss
        targets, y = targets_of(self.loss), raw.y
        self.classes = totals.labels if targets.labels else None
        if totals.labels is not None and not targets.labels:  # least squares on labels
            y = np.where(y == totals.labels[1], 1.0, -1.0)
        self.y = self.plain_y = storage.read_only(targets.encode(y, totals.labels))
        self._set_penalty(spec.penalty)
        self.lam = positive(spec.lam, "lam")
        self.s = _weights(raw.weights, self.n)
        self.c = storage.as_shares(self.s / totals.weight)
        self._refuse_tiny_lam()
        self._refuse_impossible_penalty()

    @property
    def weight_error(self) -> float:
        """Rounding of weights, which are summed in partitions, then over partitions and labels."""
        return 4.0 + 0.5 * (self.totals.partitions + self.totals.weighted)

    @property
    def classes_without_weight(self) -> Any:
        """None: other partitions may have samples of any class."""
        return np.zeros(self.width, dtype=bool)

    @cached_property
    def tables(self) -> dict[Any, Any]:
        """What schemes keep from one round to the next; it can always be made again."""
        return {}

    def with_proximal(self, term: ProximalTerm | None) -> Block:
        """The block with the penalty of an outer step; it shares tables with others of this ρ."""
        if term is None:
            return self
        rho, centre = np.zeros((2, self.coef_size))
        rho[-len(term.centre) :] = term.rho_of_each(self.width)
        centre[-len(term.centre) :] = term.centre
        penalty = Proximal(self.penalty, storage.read_only(rho), storage.read_only(centre))
        inner = self.with_penalty(penalty)
        assert isinstance(inner, Block)
        inner.__dict__["tables"] = self.tables.setdefault(term.rho, {})
        return inner

    def digest(self) -> str:
        """A fingerprint of the data."""
        rows: Any = self.stored_rows
        arrays = (rows.data,) if isinstance(rows, Dense) else rows.arrays
        return digest(*arrays, self.y, self.c)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _VIEWS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.X = _aligned(self.X)
        if "raw" in state:
            self.raw = self.raw._replace(X=self.X)


def without_samples(spec: ModelSpec, totals: Totals) -> Block:
    """The problem as the driver knows it: its one sample, all zeros, stands for those elsewhere."""
    y = np.zeros(1) if totals.labels is None else totals.labels[:1]
    return Block(RawData(sp.csr_matrix((1, totals.p)), y, None), spec, totals)


def check_spec(spec: ModelSpec) -> ModelSpec:
    """The same with the loss and the penalty that names stand for."""
    return spec._replace(
        loss=check_loss(spec.loss),
        penalty=named(spec.penalty, REGISTRY, "penalty"),
        lam=positive(spec.lam, "lam"),
    )


def _weights(weights: Any, n: int) -> Floats:
    return np.ones(n) if weights is None else finite_vector(weights, "sample_weight", n)


def _aligned(X: Any) -> Any:
    """Arrays that came in a message may start anywhere; kernels need them aligned."""
    if not storage.is_sparse(X):
        return X if X.flags.aligned else X.copy()
    arrays = (np.require(array, None, "A") for array in (X.data, X.indices, X.indptr))
    return type(X)(tuple(arrays), shape=X.shape)
