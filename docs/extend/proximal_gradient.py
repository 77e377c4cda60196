"""Gradient steps on the losses, the prox of the penalty: the simplest method for smooth losses."""

import numpy as np

from dualgap.extend import FullPass, FullPassRun, Pair, kernel, prox, slopes


class ProximalGradient(FullPass):
    """w⁺ = argmin λ g(w⁺) + (L/2)‖w⁺ − w + f'(w)/L‖², where f(w) = Σ c φ(Xw)."""

    usual = "afg"  # take the sampling of that method, which draws nothing

    def refusal(self, problem):
        if problem.loss.gamma == 0.0:
            return f"the slope of {type(problem.loss).__name__} is not Lipschitz"
        return super().refusal(problem)

    def describe(self, problem):
        return "proximal gradient steps"

    def start(self, problem, warm, setting=None):
        w = problem.features.origin if warm.coef is None else warm.coef
        return ProximalGradientRun(problem, w.copy())


class ProximalGradientRun(FullPassRun):
    """The state is w; z, the dual point −φ'(z) and its u follow from it."""

    def __init__(self, problem, w):
        super().__init__(problem)
        # f' is L-Lipschitz: no eigenvalue of XᵀCX exceeds its trace.
        self.L = float(problem.c @ problem.row_squares) / problem.loss.gamma
        self.move_to(w)

    def move_to(self, w):
        z, a = self.problem.decision(w), np.empty(self.problem.n)
        slopes(self.problem.loss, self.problem.y, z, a)  # a = −φ'(z)
        self.now = Pair(w, a, z, self.problem.average(a), z_anew=True, u_anew=True)

    def pair(self):
        return self.now

    def advance(self, order, offsets=None):
        """One step: whether it moved, its vector operations, and the updates it was worth."""
        w, lam = self.now.w, self.problem.lam
        new = np.empty_like(w)
        proxes(self.problem.penalty, w + lam * self.now.u / self.L, lam / self.L, new)
        moved = bool((new != w).any())
        self.move_to(new)
        return int(moved), *self.worth(products=2)


@kernel
def proxes(penalty, points, t, out):
    """out = argmin t g(w) + ½‖w − points‖², feature by feature."""
    for j in range(len(points)):
        out[j] = prox(penalty, points[j], t, j)
