"""Block losses written without the library: NumPy for values, cvxpy for optima."""

import cvxpy as cp
import numpy as np

from dualgap import losses, penalties

LOSSES = {"softmax": losses.Softmax(), "multiclass-hinge": losses.MulticlassHinge(0.5)}
WEIGHTS = np.array([0.5, 2.0, 1.0, 0.1])
PENALTIES = {
    "l2": penalties.L2(),
    "l1": penalties.L1(),
    "elastic-net": penalties.ElasticNet(0.6),
    "nonnegative": penalties.NonNegative(),
    "weighted": penalties.Weighted(penalties.ElasticNet(0.4), WEIGHTS),
}


def simplex_projection(V):
    """Each row of V projected on the simplex, by sorting."""
    ordered = -np.sort(-V, axis=1)
    ranks = np.arange(1, V.shape[1] + 1)
    cuts = (np.cumsum(ordered, axis=1) - 1) / ranks
    count = (ordered > cuts).sum(axis=1)
    return np.maximum(V - cuts[np.arange(len(V)), count - 1][:, None], 0.0)


def loss_values(name, Z, y):
    """φ of each row; y holds indices of classes."""
    rows = np.arange(len(y))
    margin = Z - Z[rows, y][:, None]
    if name == "softmax":
        top = margin.max(axis=1)
        return top + np.log(np.exp(margin - top[:, None]).sum(axis=1))
    own = np.zeros_like(Z)
    own[rows, y] = 1.0
    slack = margin + 1.0 - own
    S = simplex_projection(own + slack / 0.5)
    return (S * slack).sum(axis=1) - 0.25 * ((S - own) ** 2).sum(axis=1)


def penalty_value(name, W):
    return {
        "l2": lambda: (W**2).sum() / 2,
        "l1": lambda: np.abs(W).sum(),
        "elastic-net": lambda: 0.6 * np.abs(W).sum() + 0.2 * (W**2).sum(),
        "nonnegative": lambda: (W**2).sum() / 2 if (W >= 0).all() else np.inf,
        "weighted": lambda: float(
            (np.resize(WEIGHTS, len(W)) @ (0.4 * np.abs(W) + 0.3 * W**2)).sum()
        ),
    }[name]()


def objective(loss, penalty, X, y, c, lam, W):
    """P(W) in extended precision."""
    dense = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.longdouble)
    W = np.asarray(W, dtype=np.longdouble)
    c = np.asarray(c, dtype=np.longdouble)
    return float(c @ loss_values(loss, dense @ W, y) + lam * penalty_value(penalty, W))


def cvxpy_optimum(loss, penalty, X, y, c, lam):
    """Coefficients from an interior-point solver."""
    dense = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)
    own = np.eye(y.max() + 1)[y]
    W = cp.Variable((dense.shape[1], own.shape[1]))
    Z = dense @ W
    at_y = cp.sum(cp.multiply(own, Z), axis=1)
    constraints = [W >= 0] if penalty == "nonnegative" else []
    if loss == "softmax":
        values = cp.log_sum_exp(Z, axis=1) - at_y
    else:
        # The Moreau envelope of max_k z_k, which is what rounds the kinks: the minimum over V of
        # max_k V_k + ‖Z' − V‖²/(2γ), less a constant that ‖s − e_y‖² has and ‖s‖² has not.
        V = cp.Variable(own.shape)
        values = cp.max(V, axis=1) + cp.sum(cp.square(Z + (1 - own) + 0.5 * own - V), axis=1)
        values = values - at_y - 0.25
    size = cp.abs(W)
    value = {
        "l1": lambda: cp.sum(size),
        "elastic-net": lambda: 0.6 * cp.sum(size) + 0.2 * cp.sum_squares(W),
        "weighted": lambda: cp.sum(
            np.resize(WEIGHTS, W.shape[0]) @ (0.4 * size + 0.3 * cp.square(W))
        ),
    }.get(penalty, lambda: cp.sum_squares(W) / 2)()
    problem = cp.Problem(cp.Minimize(c @ values + lam * value), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-12, tol_feas=1e-10)
    found = np.asarray(W.value)
    return np.maximum(found, 0.0) if penalty == "nonnegative" else found


def data(kind, n=40, d=4, K=3, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.argmax(X @ rng.standard_normal((d, K)) + 0.5 * rng.gumbel(size=(n, K)), axis=1)
    y[:K] = np.arange(K)
    s = rng.integers(1, 4, n).astype(float)
    if kind in ("csr", "csc"):
        import scipy.sparse as sp

        X[rng.random(X.shape) < 0.5] = 0.0
        X[7] = 0.0
        X = sp.csr_array(X) if kind == "csr" else sp.csc_array(X)
    return (X.astype(np.float32) if kind == "float32" else X), y, s
