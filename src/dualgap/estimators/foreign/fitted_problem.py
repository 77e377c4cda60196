"""A problem that a fitted model solves, from the objective as its library writes it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dualgap import losses
from dualgap.estimators.foreign.fitted_model import FittedModel
from dualgap.estimators.penalties import constraints_of
from dualgap.linalg.validate import Floats
from dualgap.penalties import L1, L2, ElasticNet, GroupLasso, NonNegative, Weighted
from dualgap.problem import Problem

UNHALVED = 0.5  # γ at which our squared losses r²/(2γ) are r²


class FittedProblem(NamedTuple):
    """A problem with the model's coefficients; the model's own objective is ``unit`` · P."""

    problem: Problem
    coef: Floats
    intercept: Any
    unit: float


def fitted_sum(
    fitted: FittedModel,
    k: int | None,
    y: Any,
    loss: Any,
    penalty: Any,
    *,
    scale: float,
    strength: float,
    weights: Floats | None = None,
    intercept: Any,
    scaling: float = 1.0,
    offset: Any = None,
) -> FittedProblem:
    """The objective ``scale`` · Σ s φ + ``strength`` · g; see ``fitted_problem``."""
    s = fitted.weights if weights is None else weights
    unit = scale * math.fsum(s)
    return fitted_problem(
        fitted, k, y, s, loss, penalty, strength / unit, unit,
        intercept=intercept, scaling=scaling, offset=offset,
    )  # fmt: skip


def fitted_problem(
    fitted: FittedModel,
    k: int | None,
    y: Any,
    s: Floats,
    loss: Any,
    penalty: Any,
    lam: float,
    unit: float,
    *,
    intercept: Any,
    scaling: float = 1.0,
    offset: Any = None,
) -> FittedProblem:
    """The problem of row ``k`` of the coefficients, with ``lam`` = 0 for no penalty.

    ``k`` = None takes all rows, for a multiclass loss. ``intercept`` and ``scaling`` are those of
    ``Problem``.
    """
    if lam == 0.0:
        lam, penalty = 1.0, constraints_of(penalty, fitted.X.shape[1])
    problem = Problem(fitted.X, y, loss, penalty, lam, s, intercept, scaling, offset)
    if k is None:
        return FittedProblem(problem, fitted.coef.T, fitted.intercept, unit)
    return FittedProblem(problem, fitted.coef[k], float(fitted.intercept[k]), unit)


def fitted_groups(
    fitted: FittedModel,
    groups: Any,
    weights: Any = None,
    *,
    positive: bool = False,
    l1_ratio: float = 1.0,
    intercept: bool,
) -> FittedProblem:
    """The mean of ½‖r‖² over samples plus ``alpha`` of the model times the norms of groups; with
    several targets the groups of features have the coefficients of all."""
    penalty = GroupLasso(groups, weights, l1_ratio, positive)
    Y = fitted.targets()
    k, y = (0, Y[:, 0]) if Y.shape[1] == 1 else (None, Y)
    return fitted_problem(
        fitted, k, y, fitted.weights, losses.Squared(), penalty, float(fitted.model.alpha), 1.0,
        intercept=intercept,
    )  # fmt: skip


def one_vs_rest(fitted: FittedModel) -> Iterator[tuple[int, Floats]]:
    """The row of coefficients and the targets ±1 of each problem; one problem for two classes."""
    if len(fitted.classes) == 2:
        yield 0, 2.0 * fitted.labels - 1.0
        return
    for k in range(len(fitted.classes)):
        yield k, np.where(fitted.labels == k, 1.0, -1.0)


def mixed(l1: float, l2: float, weights: Any = None, *, positive: bool = False) -> tuple[Any, Any]:
    """The penalty l1‖w‖₁ + ½ l2‖w‖², and its strength l1 + l2."""
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
