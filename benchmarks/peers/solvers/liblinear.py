"""liblinear-official: LIBLINEAR with its own Python interface."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from benchmarks.peers.solvers import base
from benchmarks.peers.solvers.base import Fit, Solver, problem, tolerances
from benchmarks.peers.tasks import Instance


def start(kind: int) -> Callable[[Instance], Callable[[float], Fit]]:
    def begin(instance: Instance) -> Callable[[float], Fit]:
        from liblinear.liblinearutil import problem as liblinear_problem
        from liblinear.liblinearutil import train

        data = liblinear_problem(instance.y, sp.csr_matrix(instance.X))
        # Its squared hinge has no factor ½.
        C = instance.C / 2.0 if instance.loss == "squared-hinge" else instance.C

        def fit(tol: float) -> Fit:
            model = train(data, f"-s {kind} -c {C:.17g} -e {tol:.6g} -q")
            w = np.ctypeslib.as_array(model.w, (instance.d,)).copy()
            return Fit(w if model.get_labels()[0] == 1 else -w)

        return fit

    return begin


def solver(kind: int, accepted: tuple[str, float], loose: float, tight: float) -> Solver:
    name = f"liblinear-official-s{kind}"
    return Solver(name, "liblinear", problem(accepted), tolerances(loose, tight), start(kind))


SOLVERS = [
    solver(3, base.HINGE, 0, -9),
    solver(1, base.SQUARED_HINGE, 0, -9),
    solver(2, base.SQUARED_HINGE, 0, -9),
    solver(0, base.LOGISTIC, 0, -9),
    solver(7, base.LOGISTIC, 0, -9),
    solver(6, base.SPARSE_LOGISTIC, 0, -9),
]
