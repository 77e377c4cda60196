"""Data for tests of distributed fits, and for the processes that they start."""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from dualgap import Problem, solve

N, P = 240, 30


def sparse_data(n=N, p=P, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, p, 0.2, format="csr", random_state=rng)
    y = X @ rng.standard_normal(p) + 0.1 * rng.standard_normal(n)
    return X, y


def blocks(X, y, count):
    cuts = np.linspace(0, X.shape[0], count + 1).astype(int)
    return [(X[a:b], y[a:b]) for a, b in pairwise(cuts)]


def problem(loss="smoothed-hinge", penalty="l2", lam=0.01, n=N):
    X, y = sparse_data(n)
    if loss in ("hinge", "smoothed-hinge", "squared-hinge", "logistic"):
        y = np.where(y > 0.0, 1.0, -1.0)
    return Problem(X, y, loss, penalty, lam)


def optimum(one):
    """A certificate with a tiny gap, from one machine."""
    return solve(one, "cd-gap-decay", tol=1e-8).certificate


def reaches(one, solution, tol):
    """The result agrees with the optimum of one machine, within its own certificate."""
    best = optimum(one)
    own = solution.certificate
    assert solution.converged, str(solution)
    assert own.gap <= tol * one.scale
    assert own.dual <= best.primal
    assert own.primal >= best.dual
    assert own.primal - best.dual <= own.gap + best.gap
