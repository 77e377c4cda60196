"""The problem on some of its features or samples."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.penalties import structure
from dualgap.problem.objective import Objective

# Cached facts that other samples do not share.
_OF_DATA = (
    "_along",
    "total_square",
    "rows",
    "stored_rows",
    "columns",
    "entries",
    "even_squares",
    "floor",
    "distinct_terms",
    "_at_zero",
    "value_at_origin",
    "mean_square",
    "longest_row",
    "small_rows",
    "entry_shares",
    "target_views",
)


class Parts(Objective):
    """A problem that can be cut: the data, the terms, and parts of both."""

    feature_penalty: Any
    s: Floats | None
    given_loss: Any
    plain_y: Any
    offset: Floats | None

    def on_features(self, kept: Any) -> Any:
        """The problem on some features of X; None if the penalty does not say what it is there."""
        penalty = structure.on_features(self.feature_penalty, kept)
        if penalty is None:
            return None
        X, scaling = self._columns_of_data(kept), self.constant or 1.0
        y = self.plain_y if self.n_targets == 1 else self.plain_y.reshape(self.n, -1)
        known = y, self.given_loss, penalty, self.lam, self.s
        make: Any = type(self)
        return make(X, *known, self.intercept, scaling, self.offset)

    def _columns_of_data(self, kept: Any) -> Any:
        """Some columns of X, from the copy that the features view has made if X is by rows."""
        if self.shift is not None:
            return self.given[:, kept]
        columns: Any = self.columns
        columns = columns.base if self.has_intercept else columns
        if not storage.is_sparse(self.X):
            return columns.data[kept].T
        return sp.csc_array(columns.arrays, shape=self.X.shape)[:, kept]

    def on_samples(self, places: Any) -> Any:
        """The terms of some samples; weights, scale and feature sizes stay as they are."""
        other = copy.copy(self)
        for fact in (*_OF_DATA, "unpenalised"):
            other.__dict__.pop(fact, None)
        if storage.is_sparse(self.X):
            other.X = storage.selected(self.X, self.stored_rows, places)
            other.stored_rows = storage.rows(other.X, part_of=self.stored_rows)
        else:
            other.X = storage.chosen_rows(self.X, places)
        other.given, other._measured = other.X, {}
        other.n = len(places)
        other.y = storage.read_only(self.y[places])
        other.plain_y = storage.read_only(self.plain_y[places])
        other.offset = None if self.offset is None else self.offset[places]
        other.c = storage.chosen(self.c, places)
        other.s = None if self.s is None else self.s[places]
        other._along = self.squares_of_rows[places]
        other.row_squares, other.column_squares = self.row_squares[places], self.column_squares
        return other

    def sampled(self, places: Any) -> Any:
        """The same problem on a sample of its data: weights add up to 1 again."""
        other = self.on_samples(places)
        other.c = storage.divided(other.c, float(np.sum(other.c)))
        other.column_squares = self.column_squares * (other.n / self.n)
        return other
