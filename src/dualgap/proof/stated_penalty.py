"""A penalty as a proof file states it: strengths, and arrays of weights, bounds and groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.penalties import GroupLasso, SparseGroupLasso
from dualgap.penalties.structure import elastic_form


def stated_penalty(penalty: Any, arrays: dict[str, Any], p: int) -> dict[str, str]:
    """The strengths of l1, l2 and norms of groups. Weights, bounds and groups go to ``arrays``."""
    if type(penalty) in (GroupLasso, SparseGroupLasso):
        return _of_groups(penalty, arrays, p)
    form = elastic_form(penalty)
    if form is None:
        raise ValueError(
            f"a proof file cannot state the penalty {penalty!r}: it is not made of L1 and L2 "
            "terms, weights and bounds"
        )
    if form.low is not None:
        arrays["low"] = np.broadcast_to(np.asarray(form.low, np.float64), p)
        arrays["high"] = np.broadcast_to(np.asarray(form.high, np.float64), p)
    if form.weights is not None:
        arrays["penalty_weights"] = form.weights
    return {"l1": float(form.l1).hex(), "l2": float(form.l2).hex()}


def _of_groups(penalty: Any, arrays: dict[str, Any], p: int) -> dict[str, str]:
    labels, ratio = penalty.groups.labels, penalty.l1_ratio
    tau = penalty.tau if type(penalty) is SparseGroupLasso else 0.0
    arrays["groups"] = labels.astype(np.float64)
    arrays["group_weights"] = penalty.weights[labels]
    if tau > 0.0:
        arrays["penalty_weights"] = penalty.feature_weights
    if penalty.positive:
        arrays["low"], arrays["high"] = np.zeros(p), np.full(p, np.inf)
    strengths = {"l1": ratio * tau, "l2": 1.0 - ratio, "group": ratio * (1.0 - tau)}
    return {name: float(strength).hex() for name, strength in strengths.items()}
