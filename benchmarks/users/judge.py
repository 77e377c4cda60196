"""The one judge: the objective of coefficients and intercept, in float64, with no library's help.

Each function has scikit-learn's objective of the class of that name, whatever the units in which
another library states it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logsumexp, xlogy

Parameters = dict[str, Any]


def objective(
    kind: str, X: Any, y: Any, coef: Any, intercept: Any, p: Parameters, offset: Any = None
) -> float:
    """``coef`` has a row for each decision value, or is that row."""
    W = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    if W.shape[1] != X.shape[1]:
        raise ValueError(f"{X.shape[1]} coefficients are needed, not {W.shape[1]}")
    b = np.broadcast_to(np.asarray(intercept, dtype=np.float64).ravel(), W.shape[0])
    Z = np.asarray(X @ W.T, dtype=np.float64) + b
    if offset is not None:
        Z += offset[:, None]
    return float(OBJECTIVES[kind](Z, y, W, b, p))


def _logistic(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    """C Σ φ + ½‖W‖², multinomial for more than two classes."""
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) == 2:
        signs = 2.0 * codes - 1.0
        losses = np.logaddexp(0.0, -signs * Z[:, 0])
    else:
        losses = logsumexp(Z, axis=1) - Z[np.arange(len(codes)), codes]
    return p.get("C", 1.0) * np.sum(losses) + 0.5 * np.sum(W * W)


def _svc(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    """C Σ φ + ½‖w‖² for each class against the rest; + ½b² if the intercept is penalised."""
    labels, codes = np.unique(y, return_inverse=True)
    if p.get("multi_class") == "crammer_singer":
        own = Z[np.arange(len(codes)), codes]
        above = Z - own[:, None] + (np.arange(len(labels)) != codes[:, None])
        total = p.get("C", 1.0) * np.sum(above.max(axis=1))
        return float(total + 0.5 * np.sum(W * W) + _of_intercept(b, p))
    rows = 1 if len(labels) == 2 else len(labels)
    total = 0.0
    for k in range(rows):
        signs = np.where(codes == (1 if rows == 1 else k), 1.0, -1.0)
        short = np.maximum(0.0, 1.0 - signs * Z[:, k])
        total += np.sum(short * short if p.get("loss") != "hinge" else short)
    return p.get("C", 1.0) * total + 0.5 * np.sum(W * W) + _of_intercept(b, p)


def _svr(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    """C Σ max(0, |r| − ε) + ½‖w‖², + ½b² if the intercept is penalised."""
    beyond = np.maximum(0.0, np.abs(y - Z[:, 0]) - p.get("epsilon", 0.0))
    return p.get("C", 1.0) * np.sum(beyond) + 0.5 * np.sum(W * W) + _of_intercept(b, p)


def _of_intercept(b: Any, p: Parameters) -> float:
    return 0.5 * float(np.sum(b * b)) if p.get("intercept_penalty") == "l2" else 0.0


def _ridge(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    r = y - Z[:, 0]
    return float(r @ r) + p.get("alpha", 1.0) * np.sum(W * W)


def _elastic_net(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    r, share = y - Z[:, 0], p.get("l1_ratio", 0.5)
    penalty = share * np.sum(np.abs(W)) + 0.5 * (1.0 - share) * np.sum(W * W)
    return 0.5 * float(r @ r) / len(y) + p.get("alpha", 1.0) * penalty


def _lasso(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    return _elastic_net(Z, y, W, b, p | {"l1_ratio": 1.0})


def _quantile(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    r, q = y - Z[:, 0], p.get("quantile", 0.5)
    return float(np.mean(np.maximum(q * r, (q - 1.0) * r))) + p.get("alpha", 1.0) * np.sum(
        np.abs(W)
    )


def _poisson(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    """Half the mean deviance + ½α‖w‖²."""
    z = Z[:, 0]
    return float(np.mean(np.exp(z) - y * z + xlogy(y, y) - y)) + 0.5 * p.get("alpha", 1.0) * np.sum(
        W * W
    )


def _gamma(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    """Half the mean deviance + ½α‖w‖²."""
    z = Z[:, 0]
    return float(np.mean(y * np.exp(-z) + z - np.log(y) - 1.0)) + _half(W, p)


def _tweedie(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    """Half the mean deviance + ½α‖w‖², for a power between 1 and 2."""
    z, rate, left = Z[:, 0], p["power"] - 1.0, 2.0 - p["power"]
    losses = y * np.exp(-rate * z) / rate + np.exp(left * z) / left - y**left / (rate * left)
    return float(np.mean(losses)) + _half(W, p)


def _negative_binomial(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    """Half the mean deviance + ½α‖w‖²."""
    z, theta = Z[:, 0], 1.0 / p.get("dispersion", 1.0)
    both = np.logaddexp(z, np.log(theta)) - np.log(y + theta)
    return float(np.mean((y + theta) * both - y * z + xlogy(y, y))) + _half(W, p)


def _half(W: Any, p: Parameters) -> float:
    return 0.5 * p.get("alpha", 1.0) * float(np.sum(W * W))


def _group_lasso(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    """The mean of half the squares + α times the norms of adjacent features."""
    return _of_rows(y - Z[:, 0], W.reshape(-1, p["groups"]), p)


def _multi_task(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    """The same for several targets, whose coefficients of a feature are a group."""
    return _of_rows(y - Z, W.T, p)


def _of_rows(r: Any, rows: Any, p: Parameters) -> float:
    norms = np.sum(np.linalg.norm(rows, axis=1))
    return 0.5 * float(np.sum(r * r)) / len(r) + p["alpha"] * float(norms)


def _huber(Z: Any, y: Any, W: Any, b: Any, p: Parameters) -> float:
    """The mean of Huber's loss with a bend at ``delta`` + ½α‖w‖²."""
    size, delta = np.abs(y - Z[:, 0]), p["delta"]
    losses = np.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta))
    return float(np.mean(losses)) + 0.5 * p["alpha"] * np.sum(W * W)


OBJECTIVES: dict[str, Callable[[Any, Any, Any, Any, Parameters], float]] = {
    "LogisticRegression": _logistic,
    "LinearSVC": _svc,
    "LinearSVR": _svr,
    "Ridge": _ridge,
    "Lasso": _lasso,
    "ElasticNet": _elastic_net,
    "QuantileRegressor": _quantile,
    "PoissonRegressor": _poisson,
    "HuberRegression": _huber,
    "GammaRegressor": _gamma,
    "TweedieRegressor": _tweedie,
    "NegativeBinomialRegressor": _negative_binomial,
    "GroupLasso": _group_lasso,
    "MultiTaskLasso": _multi_task,
}
