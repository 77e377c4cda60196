"""The names of an estimator's parameters, read from its signature once.

scikit-learn reads them at each ``get_params``: in a grid search several times for each fit.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from sklearn.base import BaseEstimator


class NamedOnce(BaseEstimator):
    """A base of estimators whose signatures stay as they are."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return list(_names(cast(Any, cls)))


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(super(NamedOnce, kind)._get_param_names())
