"""adelie: coordinate descent along a path, here of one λ."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from benchmarks.peers.solvers import base
from benchmarks.peers.solvers.base import Fit, Solver, problem, tolerances
from benchmarks.peers.tasks import Instance


def start(instance: Instance) -> Callable[[float], Fit]:
    import adelie

    X = instance.columns
    if sp.issparse(X):
        X = adelie.matrix.sparse(X, n_threads=2)
    fixed = {"lmda_path": [instance.lam], "alpha": instance.l1_ratio, "intercept": False}
    fixed |= {"adev_tol": 1.0, "early_exit": False, "progress_bar": False, "n_threads": 2}
    fixed |= {"max_iters": 10**7}

    def fit(tol: float) -> Fit:
        if instance.loss == "squared":
            glm = adelie.glm.gaussian(instance.y)
        else:
            glm = adelie.glm.binomial((instance.y > 0).astype(float))
        state = adelie.grpnet(X, glm, tol=tol, irls_tol=tol, **fixed)
        betas = state.betas
        return Fit(np.asarray(betas.todense() if sp.issparse(betas) else betas)[0])

    return fit


KINDS = (base.LASSO, base.ELASTIC_NET, base.SPARSE_LOGISTIC, base.RIDGE, base.LOGISTIC)
SOLVERS = [Solver("adelie", "adelie", problem(*KINDS), tolerances(-2, -16), start)]
