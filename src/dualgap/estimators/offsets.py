"""The offsets of samples, which are added to their decision values."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from dualgap.estimators.fits import Subproblem
from dualgap.linalg.validate import Floats, refuse_lazy


def checked_offset(given: Any, n: int, columns: int, *, shared: bool = False) -> Floats:
    """An offset for each of n samples, or for each of their ``columns`` decision values if there
    are several. ``shared``: a single one may stand for all of these."""
    refuse_lazy(given, "offset")
    offset = np.asarray(check_array(given, ensure_2d=False, dtype=np.float64, input_name="offset"))
    if offset.shape == (n, 1) and columns == 1:
        offset = offset[:, 0]
    wanted = (n,) if columns == 1 else (n, columns)
    if offset.shape == wanted:
        return offset
    if shared and offset.shape == (n,):
        return np.repeat(offset[:, None], columns, axis=1)
    raise ValueError(
        f"offset must have shape {wanted}, a number for each "
        f"{'sample' if columns == 1 else 'sample and decision value'}, not {offset.shape}"
    )


def with_offset(subproblems: list[Subproblem], offset: Floats) -> list[Subproblem]:
    """The problems with their offsets: all for a single one, else a column for each."""
    if len(subproblems) == 1:
        return [subproblems[0]._replace(offset=offset)]
    return [one._replace(offset=column) for one, column in zip(subproblems, offset.T)]


def plus_offset(scores: Any, offset: Any, *, shared: bool = False) -> Any:
    """Decision values x·w + b of new samples with their offsets."""
    if offset is None:
        return scores
    columns = scores.shape[1] if scores.ndim == 2 else 1
    own = checked_offset(offset, len(scores), columns, shared=shared)
    return scores + own.reshape(scores.shape)
