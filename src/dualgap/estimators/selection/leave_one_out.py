"""Leave-one-out residuals of ridge regression, exact and in closed form, for many alphas at once.

The fit is a smoother:  H = U diag(σ²/(σ² + α)) Uᵀ  plus the projection on √s, in the coordinates of
``decomposition.py``. The residual of a sample that was left out of the fit is
(y_i − ŷ_i)/(1 − H_ii). Both are computed from I − H, whose eigenvalues α/(σ² + α) involve no
cancellation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dualgap.estimators.selection.decomposition import Decomposition
from dualgap.linalg import parallel, storage
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats


class LeaveOneOut(Decomposition):
    """The decomposition of the data, and what it says about samples that are left out."""

    def residuals(self, Y: Floats, alphas: Floats) -> Floats:
        """y_i minus its prediction by the model fitted without sample i, (n, T, A)."""
        # With as many directions as samples, the remainder is rounding errors only.
        used = np.count_nonzero(self.root)
        complete = len(self.squares) + int(self.intercept) >= used
        inner, centred = self.inner(Y), self.centred(Y)
        taken = alphas / (self.squares[:, None] + alphas)
        share = (inner[:, :, None] * taken[:, None, :]).reshape(
            len(taken), inner.shape[1] * len(alphas)
        )
        residual = np.empty((self.n, Y.shape[1], len(alphas)))
        room = np.empty((self.n, len(alphas)))

        def fill(rows: slice) -> None:
            U = self._left(rows)
            squared = U * U
            residual[rows] = (U @ share).reshape(-1, *residual.shape[1:])
            room[rows] = squared @ taken
            if not complete:
                scaled = self.root[rows, None] * centred[rows]
                residual[rows] += (scaled - U @ inner)[:, :, None]
                rest = 1.0 - self.shares[rows] - np.sum(squared, axis=1)
                room[rows] += np.maximum(rest, 0.0)[:, None]

        with single_threaded_blas():
            for some in _grouped([(rows,) for rows in self.blocks()]):
                parallel.together(fill, some)
        none = self.root == 0.0
        out = residual / np.where(none[:, None], 1.0, self.root[:, None] * room)[:, None, :]
        if none.any():
            for k, alpha in enumerate(alphas):
                coefs, b = self.solutions(Y, np.array([alpha]))
                out[none, :, k] = Y[none] - (self.X[none] @ coefs[0].T + b[0])
        return np.asarray(out)

    def _left(self, rows: slice) -> Floats:
        """Some rows of U."""
        if self.left is not None:
            return self.left[rows]
        if not storage.is_sparse(self.X):
            return np.asarray(self.rows(rows) @ self.right)
        products = self.X[rows] @ self.right - self.mean @ self.right
        return np.asarray(self.root[rows, None] * products)


def _grouped(calls: list[Any]) -> Iterator[list[Any]]:
    """A few blocks at a time, since each has a copy of its rows."""
    return (calls[first : first + 8] for first in range(0, len(calls), 8))
