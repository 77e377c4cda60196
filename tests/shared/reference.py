"""Formulas and optima written without the library: NumPy for values, cvxpy for optima."""

import cvxpy as cp
import numpy as np

from dualgap import losses, penalties

LOSSES = {
    "squared": losses.Squared(),
    "hinge": losses.Hinge(),
    "smoothed-hinge": losses.SmoothedHinge(0.5),
    "squared-hinge": losses.SquaredHinge(),
    "logistic": losses.Logistic(),
    "huber": losses.Huber(0.7),
    "epsilon-insensitive": losses.EpsilonInsensitive(0.2),
    "squared-epsilon-insensitive": losses.SquaredEpsilonInsensitive(0.2),
    "quantile": losses.Quantile(0.3),
    "poisson": losses.Poisson(),
    "gamma": losses.Gamma(),
    "tweedie": losses.Tweedie(1.4),
    "negative-binomial": losses.NegativeBinomial(1.5),
}

WEIGHTS = np.array([0.5, 2.0, 1.0, 0.1, 3.0])

PENALTIES = {
    "l2": penalties.L2(),
    "l1": penalties.L1(),
    "elastic-net": penalties.ElasticNet(0.6),
    "nonnegative": penalties.NonNegative(),
    "nonnegative-l1": penalties.NonNegative(penalties.L1()),
    "box": penalties.Box(-0.2, 0.3),
    "weighted-elastic-net": penalties.Weighted(penalties.ElasticNet(0.4), WEIGHTS),
}


def loss_values(name, z, y):
    """φ(z; y) for the losses above; labels are −1 and +1."""
    r, m = y - z, 1.0 - y * z
    positive = np.maximum(m, 0.0)
    outside = np.maximum(np.abs(r) - 0.2, 0.0)
    return {
        "squared": lambda: r**2 / 2,
        "hinge": lambda: positive,
        "smoothed-hinge": lambda: np.where(positive < 0.5, positive**2, positive - 0.25),
        "squared-hinge": lambda: positive**2 / 2,
        "logistic": lambda: np.logaddexp(0.0, -y * z),
        "huber": lambda: np.where(np.abs(r) <= 0.7, r**2 / 2, 0.7 * np.abs(r) - 0.245),
        "epsilon-insensitive": lambda: outside,
        "squared-epsilon-insensitive": lambda: outside**2 / 2,
        "quantile": lambda: np.maximum(0.3 * r, -0.7 * r),
        "poisson": lambda: np.exp(z) - y * z,
        "gamma": lambda: y * np.exp(-z) + z,
        "tweedie": lambda: y * np.exp(-0.4 * z) / 0.4 + np.exp(0.6 * z) / 0.6,
        "negative-binomial": lambda: (
            y * np.log1p(1.5 * np.exp(-z)) + 1.5 * np.log1p(np.exp(z) / 1.5)
        ),
    }[name]()


def penalty_value(name, w):
    return {
        "l2": lambda: w @ w / 2,
        "l1": lambda: np.abs(w).sum(),
        "elastic-net": lambda: 0.6 * np.abs(w).sum() + 0.2 * (w @ w),
        "nonnegative": lambda: w @ w / 2 if (w >= 0).all() else np.inf,
        "nonnegative-l1": lambda: w.sum() if (w >= 0).all() else np.inf,
        "box": lambda: w @ w / 2 if (w >= -0.2).all() and (w <= 0.3).all() else np.inf,
        "weighted-elastic-net": lambda: np.resize(WEIGHTS, len(w)) @ (0.4 * np.abs(w) + 0.3 * w**2),
    }[name]()


def objective(loss, penalty, X, y, c, lam, w):
    """P(w) in extended precision."""
    dense = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.longdouble)
    w = np.asarray(w, dtype=np.longdouble)
    values = loss_values(loss, dense @ w, np.asarray(y, dtype=np.longdouble))
    return float(np.asarray(c, dtype=np.longdouble) @ values + lam * penalty_value(penalty, w))


def cvxpy_optimum(loss, penalty, X, y, c, lam):
    """Coefficients from an interior-point solver."""
    dense = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)
    w = cp.Variable(dense.shape[1])
    z = dense @ w
    r, m = y - z, cp.pos(1 - cp.multiply(y, z))
    outside = cp.pos(cp.abs(r) - 0.2)
    values = {
        "squared": lambda: cp.square(r) / 2,
        "hinge": lambda: m,
        "smoothed-hinge": lambda: cp.huber(m, 0.5),
        "squared-hinge": lambda: cp.square(m) / 2,
        "logistic": lambda: cp.logistic(-cp.multiply(y, z)),
        "huber": lambda: cp.huber(r, 0.7) / 2,
        "epsilon-insensitive": lambda: outside,
        "squared-epsilon-insensitive": lambda: cp.square(outside) / 2,
        "quantile": lambda: cp.maximum(0.3 * r, -0.7 * r),
        "poisson": lambda: cp.exp(z) - cp.multiply(y, z),
        "gamma": lambda: cp.multiply(y, cp.exp(-z)) + z,
        "tweedie": lambda: cp.multiply(y, cp.exp(-0.4 * z)) / 0.4 + cp.exp(0.6 * z) / 0.6,
        "negative-binomial": lambda: (
            cp.multiply(y, cp.logistic(np.log(1.5) - z)) + 1.5 * cp.logistic(z - np.log(1.5))
        ),
    }[loss]()
    constraints = []
    if penalty.startswith("nonnegative"):
        constraints = [w >= 0]
    elif penalty == "box":
        constraints = [w >= -0.2, w <= 0.3]
    value = {
        "l1": lambda: cp.norm1(w),
        "elastic-net": lambda: 0.6 * cp.norm1(w) + 0.2 * cp.sum_squares(w),
        "nonnegative-l1": lambda: cp.norm1(w),
        "weighted-elastic-net": lambda: (
            np.resize(WEIGHTS, w.size) @ (0.4 * cp.abs(w) + 0.3 * cp.square(w))
        ),
    }.get(penalty, lambda: cp.sum_squares(w) / 2)()
    problem = cp.Problem(cp.Minimize(c @ values + lam * value), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-12, tol_feas=1e-10)
    found = np.asarray(w.value)
    if penalty.startswith("nonnegative"):
        found = np.maximum(found, 0.0)
    return np.clip(found, -0.2, 0.3) if penalty == "box" else found


def targets(loss, score, rng):
    """Targets that suit a loss, driven by a score."""
    kind = loss.targets
    noisy = score + 0.5 * rng.standard_normal(len(score))
    if kind == "binary":
        labels = np.where(noisy > np.median(noisy), 1.0, -1.0)
        return labels
    if kind == "count":
        return rng.poisson(np.exp(np.clip(score, -3.0, 2.0))).astype(float)
    return np.exp(noisy) if kind == "positive" else noisy
