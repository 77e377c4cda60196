"""Threads share the work of a set; the result does not depend on how many there are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualgap import Problem, solve
from dualgap.samplings import TauNice


def data(*, sparse: bool):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 150))
    if sparse:
        X = sp.random(3000, 2000, density=0.04, format="csr", random_state=rng)
    return X, np.where(X @ rng.standard_normal(X.shape[1]) > 0.0, 1.0, -1.0)


@pytest.mark.parametrize("method", ["quartz-u", "spdc", "asdca"])
@pytest.mark.parametrize("sparse", [False, True])
def test_any_number_of_threads_gives_the_same_bits(method, sparse):
    problem = Problem(*data(sparse=sparse), "smoothed-hinge", "l2", 1e-3)
    one, *others = (
        solve(
            problem,
            method,
            sampling=TauNice(1000),
            tol=0.0,
            max_epochs=6,
            random_state=0,
            n_threads=threads,
        )
        for threads in (1, 2, 3)
    )
    for other in others:
        np.testing.assert_array_equal(other.coef, one.coef)
        np.testing.assert_array_equal(other.dual, one.dual)
