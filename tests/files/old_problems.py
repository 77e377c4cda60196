"""The problems behind the files in ``fixtures/0.1``, which dualgap 0.1 has written.

Data are made of small fractions, so that they are the same on every machine.
"""

import numpy as np
import scipy.sparse as sp

import dualgap as dg
from dualgap.penalties import Box, ElasticNet, Weighted

TOL = 1e-6
WEIGHTED = Weighted("l2", [1.0, 2.0, 0.5, 1.0, 4.0, 1.0])


def fractions(rows, columns, seed):
    """A matrix of multiples of 1/8 between -2 and 2 (integers of one generator, exactly)."""
    state, out = seed, []
    for _ in range(rows * columns):
        state = (1103515245 * state + 12345) % 2**31
        out.append((state >> 16) % 33 / 8 - 2.0)
    return np.array(out).reshape(rows, columns)


def signs(X):
    return np.where(X[:, 0] - X[:, 1] + X[:, -1] * X[:, 2] > 0.0, 1.0, -1.0)


def thirds(X):
    return np.digitize(X[:, 0] + 0.5 * X[:, 1], [-1.0, 1.0]).astype(float)


def two_classes(loss="logistic", lam=1e-2, intercept=True):
    X = fractions(40, 5, 1)
    return dg.Problem(X, signs(X), loss, lam=lam, intercept=intercept)


def several_classes(lam=1e-2, intercept=True):
    X = fractions(30, 4, 2)
    return dg.Problem(X, thirds(X), "softmax", lam=lam, intercept=intercept)


def regression(penalty="l2", lam=1e-2, intercept=True):
    X = fractions(30, 6, 3)
    y = X[:, 0] - 2.0 * X[:, 3] + 0.25 * fractions(30, 1, 4)[:, 0]
    return dg.Problem(X, y, "squared", penalty, lam, intercept=intercept)


def sparse(lam=0.1):
    X = fractions(30, 40, 5)
    y = X[:, 3] - 0.5 * X[:, 17] + 0.125 * X[:, 30]
    return dg.Problem(sp.csr_array(np.where(np.abs(X) > 1.0, X, 0.0)), y, "squared", "l1", lam)


def sparse_classes():
    X = fractions(60, 150, 5)
    y = np.where(X[:, 3] - 0.5 * X[:, 17] + 0.5 * X[:, 30] * X[:, 4] > 0.0, 1.0, -1.0)
    X = sp.csr_array(np.where(np.abs(X) > 1.4, X, 0.0))
    return dg.Problem(X, y, "logistic", "l1", 0.01)


def new_rows(features):
    return fractions(7, features, 6)


def labels(problem):
    """The labels of two classes; else the targets."""
    return np.asarray(problem.y)


MODELS = {
    "two-classes": (two_classes, {"classes": ["no", "yes"], "settings": {"note": "of 0.1"}}),
    "hinge-penalised": (lambda: two_classes("hinge", intercept="penalised"), {}),
    "several-classes": (several_classes, {}),
    "regression": (regression, {"feature_names": [f"column {k}" for k in range(6)]}),
    "sparse-l1": (sparse, {}),
    "box": (lambda: regression(Box(-0.5, np.linspace(0.25, 1.5, 6))), {}),
    "weighted": (lambda: regression(WEIGHTED), {}),
    "elastic-net": (lambda: regression(ElasticNet(0.25), intercept=False), {}),
}

_FINE = {"tol": 1e-9, "max_epochs": 60}
CHECKPOINTS = {
    "sdca": ("sdca", lambda: two_classes("smoothed-hinge", intercept=False), _FINE),
    "gap-decay": ("cd-gap-decay", lambda: two_classes("squared-hinge", intercept=False), _FINE),
    "newton": ("newton", lambda: two_classes(lam=1e-4), _FINE),
    "sweeps": ("sweeps", lambda: two_classes("hinge", lam=1e-3, intercept=False), _FINE),
    "working-set": ("working-set", sparse_classes, {**_FINE, "tol": 1e-12}),
    "quartz": ("quartz", lambda: two_classes(intercept=False), _FINE),
    "spdc": ("spdc", lambda: two_classes(intercept=False), _FINE),
    "prox-point": ("prox-point", lambda: two_classes(lam=1e-4, intercept=False), _FINE),
    "gap-decay-softmax": ("cd-gap-decay", lambda: several_classes(intercept=False), _FINE),
    "newton-softmax": ("newton", lambda: several_classes(1e-4), _FINE),
    "box": (
        "cd-permutation",
        lambda: regression(
            Box(-0.5, 1.5, Weighted("l2", [1.0, 2.0, 0.5, 1.0, 4.0, 1.0])), 1e-3, False
        ),
        _FINE,
    ),
}

PROOFS = ("two-classes", "several-classes", "sparse-l1", "weighted")
