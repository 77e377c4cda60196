"""A small part of everything, quick enough to run without compilation too (NUMBA_DISABLE_JIT=1)."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap import samplings


@pytest.mark.parametrize("penalty", ["l2", "l1", "elastic-net", "nonnegative", "box"])
@pytest.mark.parametrize("loss", dg.losses.REGISTRY)
def test_small_fits_reach_their_target(loss, penalty):
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (12, 3)).astype(float)
    y = np.where(X[:, 0] + 0.1 * rng.standard_normal(12) > 0, 1.0, 0.0)
    data = sp.csr_array(X) if penalty == "l2" else X
    solution = dg.solve(dg.Problem(data, y, loss, penalty, 0.1), tol=1e-5)
    assert solution.converged, str(solution)


@pytest.mark.parametrize("name", [k for k, cls in samplings.REGISTRY.items() if not cls.sets])
def test_small_runs_of_every_sampling(name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 3))
    problem = dg.Problem(X, np.sign(X[:, 0]), "smoothed-hinge", lam=0.1)
    solution = dg.solve(problem, sampling=samplings.REGISTRY[name](), tol=1e-5)
    assert solution.converged, str(solution)
