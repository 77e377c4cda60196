"""Ridge regression on few samples: one system with as many unknowns as there are samples.

With φ(z) = (y − z)²/2γ and an L2 penalty, the dual point solves
    (γ I + K C/λ) a = y,    K = X Xᵀ.
The Cholesky factor of this matrix, made symmetric by √C, serves all rounds. Each round adds the
solution for the residual y − Xw − γa, computed from the data, so that rounding errors of K do not
stay. Cost: n²d/2 multiplications by BLAS and n³/6, then two passes over X for each round.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from dualgap.linalg import storage
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.losses.squared import Squared
from dualgap.penalties.structure import is_half_square, is_uniform
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Pair
from dualgap.steps.base import FullPassRun, Start, dual_start, vector
from dualgap.steps.sweeps.tuning import TUNING


def has_few_samples(problem: Problem) -> bool:
    """Whether this is ridge regression on dense data with few samples."""
    # A subclass of L2 may override rules, and is not declared uniform.
    l2 = is_half_square(problem.penalty) and is_uniform(problem.penalty)
    ridge = type(problem.loss) is Squared and l2
    few = problem.n <= min(TUNING.kernel_samples, problem.d)
    return ridge and few and not storage.is_sparse(problem.X)


class KernelRun(FullPassRun):
    """A run; its state is a dual point."""

    def __init__(self, problem: Problem, warm: Start) -> None:
        super().__init__(problem)
        self.a = dual_start(problem, warm.dual)
        self.roots = np.sqrt(problem.c)
        self.factor: Any = None

    def pair(self) -> Pair:
        problem = self.problem
        u = problem.average(self.a)
        w = np.empty(problem.d)
        terms.conj_slopes(problem.penalty, u, w)
        return Pair(w, self.a, problem.decision(w), u, z_anew=True, u_anew=True)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """Solve for the residual."""
        products = 2
        with single_threaded_blas():
            if self.factor is None:
                self.factor, products = self._factor(), products + self.size
            change = self._solution(self.pair())
        before, self.a = self.a, self.a + change
        return int((self.a != before).any()), *self.worth(products)

    def _factor(self) -> Any:
        X = self.problem.X.astype(np.float64, copy=False)
        matrix = X @ X.T + self.problem.constant**2
        matrix *= np.outer(self.roots, self.roots / self.problem.lam)
        matrix.flat[:: self.size + 1] += self.problem.loss.gamma
        for ridge in TUNING.kernel_ridges:
            try:
                return scipy.linalg.cho_factor(matrix, check_finite=False)
            except scipy.linalg.LinAlgError:
                matrix.flat[:: self.size + 1] += ridge * matrix.max()
        return scipy.linalg.cho_factor(matrix, check_finite=False)

    def _solution(self, pair: Pair) -> Floats:
        problem = self.problem
        residual = problem.y - pair.z - problem.loss.gamma * pair.a
        found = scipy.linalg.cho_solve(self.factor, self.roots * residual, check_finite=False)
        heavy = self.roots > 0.0  # samples without weight keep their dual variables
        return np.asarray(np.divide(found, self.roots, out=np.zeros(self.size), where=heavy))

    def state(self) -> dict[str, Any]:
        return {"a": self.a, "factored": self.factor is not None}

    def restore(self, state: dict[str, Any]) -> None:
        self.a = vector(state, "a", self.size)
        if state["factored"]:
            with single_threaded_blas():
                self.factor = self._factor()
