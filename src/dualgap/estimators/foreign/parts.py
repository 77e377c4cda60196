"""An objective in the words of another library, as a problem of ours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dualgap.estimators._penalties import constraints_of
from dualgap.estimators.foreign.data import Fitted
from dualgap.linalg.validate import Floats
from dualgap.penalties import L1, L2, ElasticNet, NonNegative, Weighted
from dualgap.problem import Problem


class Part(NamedTuple):
    """A problem of the model and the model's answer; its objective is ``unit`` · P."""

    problem: Problem
    coef: Floats
    intercept: Any
    unit: float


def part(
    fitted: Fitted,
    k: int | None,
    y: Any,
    loss: Any,
    penalty: Any,
    *,
    losses: float,
    strength: float,
    weights: Floats | None = None,
    intercept: Any,
    scaling: float = 1.0,
) -> Part:
    """``losses`` · Σ s φ + ``strength`` · g, for row ``k`` of the coefficients.

    ``k`` = None takes all rows, for a loss of many classes. ``intercept`` and ``scaling`` are those
    of ``Problem``.
    """
    s = fitted.weights if weights is None else weights
    unit = losses * math.fsum(s)
    lam = strength / unit
    if lam == 0.0:
        lam, penalty = 1.0, constraints_of(penalty, fitted.X.shape[1])
    problem = Problem(
        fitted.X, y, loss, penalty, lam, s, intercept=intercept, intercept_scaling=scaling
    )
    if k is None:
        return Part(problem, fitted.coef.T, fitted.intercept, unit)
    return Part(problem, fitted.coef[k], float(fitted.intercept[k]), unit)


def one_vs_rest(fitted: Fitted) -> Iterator[tuple[int, Floats]]:
    """For each problem its row of coefficients and targets ±1; a single one for two classes."""
    if len(fitted.classes) == 2:
        yield 0, 2.0 * fitted.labels - 1.0
        return
    for k in range(len(fitted.classes)):
        yield k, np.where(fitted.labels == k, 1.0, -1.0)


def mixed(l1: float, l2: float, weights: Any = None, *, positive: bool = False) -> tuple[Any, Any]:
    """The penalty l1‖w‖₁ + ½ l2‖w‖², and the number that it is to be multiplied by."""
    strength = l1 + l2
    if l2 == 0.0:
        penalty: Any = L1()
    elif l1 == 0.0:
        penalty = L2()
    else:
        penalty = ElasticNet(l1 / strength)
    if weights is not None:
        penalty = Weighted(penalty, np.asarray(weights, dtype=np.float64))
    return (NonNegative(penalty) if positive else penalty), strength
