"""Several columns of targets in one problem, whose coefficients a penalty on groups ties together.

The loss is the sum of those of all columns: a_ik, z_ik and y_ik belong to sample i and target k,
and flat vectors have entry iK + k. Without the penalty each target would be a problem of its own;
so a free intercept, and what it asks of a dual point, are questions to ``views``, one for each.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.losses.targets import Numbers, targets_of
from dualgap.penalties.structure import is_on_groups, on_coefficients

# What a view cannot share with the whole problem.
_OF_WHOLE = (
    "_at_zero", "best_constant", "best_constants", "coef_size", "distinct_features",
    "distinct_terms", "entry_shares", "features", "floor", "free_places", "has_bounded_conj",
    "least", "least_strength", "origin_value", "scale", "small_rows", "strength_range",
    "target_views", "unpenalised", "value_at_origin", "width",
)  # fmt: skip


# What views share: the penalty is the same for each, and so are the free features.
_OF_EACH = (
    "features", "distinct_features", "free_places", "least_strength", "strength_range",
    "has_bounded_conj", "unpenalised",
)  # fmt: skip


def count_targets(y: Any, loss: Any, penalty: Any) -> int:
    """The number of columns of a matrix y, if the problem allows several; else 1."""
    shape = np.shape(y)
    if shape[1] < 2 or targets_of(loss).labels:
        return 1  # whatever is wrong with y, the targets of the loss say so
    if not isinstance(targets_of(loss), Numbers):
        return 1
    if not is_on_groups(penalty):
        raise ValueError(
            f"y has {shape[1]} columns, but nothing ties their coefficients together: state a "
            "problem for each, or give a penalty on groups such as GroupLasso(1)"
        )
    return int(shape[1])


def views_of(problem: Any) -> list[Any]:
    """The problem of each target alone: the same X and weights, and the same free features."""
    views: list[Any] = []
    Y, plain = (v.reshape(problem.n, -1) for v in (problem.y, problem.plain_y))
    constant = float(problem.intercept == "penalised") if problem.has_intercept else None
    for k in range(problem.n_targets):
        view = copy.copy(problem)
        for fact in _OF_WHOLE:
            view.__dict__.pop(fact, None)
        view.n_targets = 1
        columns = (np.ascontiguousarray(v[:, k]) for v in (Y, plain))
        view.y, view.plain_y = map(storage.read_only, columns)
        view.offset = None if problem.offset is None else problem.offset[:, k]
        view.penalty = on_coefficients(problem.feature_penalty, problem.p, constant, 1)
        if views:
            view.__dict__.update((fact, getattr(views[0], fact)) for fact in _OF_EACH)
        views.append(view)
    return views


def constants_of_targets(problem: Any) -> tuple[float, Floats]:
    """The objective of the best intercepts alone, counted as by ``best_constant``, and these."""
    found = [view.best_constant for view in problem.target_views]
    return sum(value for value, _ in found), np.array([b for _, b in found])
