"""Every loss × penalty reaches the optimum of an independent solver, and the proof is true."""

import numpy as np
import pytest
import scipy.sparse as sp
from reference import LOSSES, PENALTIES, cvxpy_optimum, objective, targets

import dualgap as dg


def data(loss, kind):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 5))
    y = targets(loss, X @ np.array([1.0, -0.5, 0.0, 0.3, 0.0]), rng)
    s = rng.integers(1, 4, 40).astype(float)
    if kind == "csr":
        X[rng.random(X.shape) < 0.6] = 0.0
        X[7] = 0.0
        X = sp.csr_array(X)
    return X, y, s


def cases():
    """All pairs on dense data; on sparse data each loss, with one penalty after the other."""
    for i, loss in enumerate(LOSSES):
        for j, penalty in enumerate(PENALTIES):
            yield loss, penalty, "dense"
            if i % len(PENALTIES) == j:
                yield loss, penalty, "csr"


# Even then its coefficients cannot have a smaller objective than the minimum.
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize(("loss", "penalty", "kind"), list(cases()))
def test_agrees_with_cvxpy(loss, penalty, kind):
    X, y, s = data(LOSSES[loss], kind)
    lam, c = 0.05, s / s.sum()
    problem = dg.Problem(X, y, LOSSES[loss], PENALTIES[penalty], lam, sample_weight=s)
    solution = dg.solve(problem, tol=1e-9, max_epochs=20_000)
    assert solution.converged, str(solution)
    proof = solution.certificate
    ours = objective(loss, penalty, X, y, c, lam, solution.coef)
    assert proof.primal == pytest.approx(ours, rel=1e-12)
    reference = cvxpy_optimum(loss, penalty, X, y, c, lam)
    best = objective(loss, penalty, X, y, c, lam, reference)
    assert proof.dual <= best  # no coefficients beat the bound
    assert ours <= best + 1e-9 * problem.scale
    assert ours - best <= proof.gap
