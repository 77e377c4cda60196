"""Accelerated full gradient with adaptive line search: Nesterov 2013, "Gradient methods for
minimizing composite functions", accelerated method (4.9).

f(w) = Σ c φ(Xw) is known through gradients, Ψ = λg, μ-strongly convex, through its prox:

    a from a²/(A + a) = 2(1 + μA)/L;  y = (A·x + a·v)/(A + a)
    x⁺ = argmin f'(y)·w + (L/2)‖w − y‖² + Ψ(w)
    until ⟨f'(y) − f'(x⁺), y − x⁺⟩ ≥ ‖f'(y) − f'(x⁺)‖²/L;  each failure multiplies L by ``up``
    A += a;  s += a·f'(x⁺);  v = argmin ½‖w − x₀‖² + s·w + A·Ψ(w);  L is divided by ``down``

The test is the publication's, written without the terms that cancel: it takes no values of f, so it
also works close to the optimum. L never exceeds ``up`` times the Lipschitz constant of f'.

Products: an iteration takes one with X for z of v, and each trial one with X (z of x⁺) and two with
Xᵀ (f' at y and at x⁺): four without a failed trial. z of y is a combination of those of x and v;
certificates cost none, since f'(x⁺) is at hand; at a start y = v = x, and x⁺ alone costs two.
Rate: P(w_k) − min P ≤ ‖w₀ − w*‖²/(2A_k), with A_k ≥ k²/(2·up·L) and
A_k ≥ (2/(up·L))·(1 + √(μ/(2·up·L)))^(2(k−1)), L the Lipschitz constant (its theorem 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import prox
from dualgap.compile.scalar import EPS
from dualgap.linalg.products import norm
from dualgap.linalg.validate import LARGEST, Floats, number
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Pair
from dualgap.steps.base import FullPass, FullPassRun, Setting, Start, vector

_FORGETFUL = 1e30  # A·L at which the start no longer matters, and A is kept from overflowing


@dataclass(frozen=True)
class FullGradient(FullPass):
    """Accelerated full gradient. ``up`` and ``down``: factors of the line search.

    ``restart``: begin a new estimate sequence whenever the last step turns against the momentum
    (O'Donoghue, Candès 2015, gradient scheme). It finds the strong convexity that the penalty does
    not have but the data may; without it this is the published method.
    """

    up: float = 2.0
    down: float = 1.1
    restart: bool = True

    usual = "afg"

    def __post_init__(self) -> None:
        number(self.up, "up", 1.0, LARGEST, open_low=True)
        number(self.down, "down", 1.0, LARGEST)

    def describe(self, problem: Problem) -> str:
        return "accelerated full gradient with line search"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> FullGradientRun:
        x = problem.features.origin if warm.coef is None else warm.coef
        return FullGradientRun(problem, self, x.copy())


class GradientPoint:
    """Coefficients with z = Xw, the dual point −φ'(z) with its u, and the gradient of f."""

    def __init__(self, problem: Problem, w: Floats, z: Floats) -> None:
        self.w, self.z = w, z
        self.a = np.empty(problem.n)
        terms.slopes(problem.loss, problem.y, z, self.a)
        with np.errstate(over="ignore", invalid="ignore"):
            self.u = problem.average(self.a)
            self.gradient = -problem.lam * self.u


class FullGradientRun(FullPassRun):
    """A run; ``x`` is the point, (``total`` = A, ``slopes`` = s, ``v``, ``zv``) the sequence."""

    def __init__(self, problem: Problem, step: FullGradient, w: Floats) -> None:
        super().__init__(problem)
        self.step = step
        finite = problem.features.strength[np.isfinite(problem.features.strength)]
        self.mu = problem.lam * float(finite.min()) if finite.size else 0.0
        self.products = 0
        self.x = self._at(w, self._image(w))
        self._begin()
        self.L = self._first_estimate()

    def pair(self) -> Pair:
        return Pair(self.x.w, self.x.a, self.x.z, self.x.u)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """One iteration: whether it moved, vector operations, and updates that it was worth."""
        moved = self._iterate()
        operations, updates = self.worth(self.products)
        self.products = 0
        return int(moved), operations, updates

    def _iterate(self) -> bool:
        x = self.x
        if self.total > 0.0:
            self.v = self._prox(self.origin - self.slopes, self.total)
            self.zv = self._image(self.v)
        while True:
            if not self.L < LARGEST:
                return False  # no step is short enough
            a = self._weight()
            y = self._between(a)
            new, accepted = self._trial(y)
            if accepted:
                break
            self.L *= self.step.up
        self.x = new
        # What is left of the step when rounding errors of the gradient and of y are taken off.
        moved = self.L * norm(y.w - new.w) > self._noise(y) + self.L * EPS * norm(y.w)
        against = float((y.w - new.w) @ (new.w - x.w)) > 0.0
        self.total += a
        self.slopes += a * new.gradient
        if (self.step.restart and against) or self.total * self.L > _FORGETFUL:
            self._begin()
        self.L /= self.step.down
        return moved

    # --- the pieces of an iteration -----------------------------------------------------------

    def _begin(self) -> None:
        """A new estimate sequence at x."""
        self.origin = self.x.w
        self.total = 0.0
        self.slopes = np.zeros(self.problem.d)
        self.v, self.zv = self.x.w, self.x.z

    def _weight(self) -> float:
        """The positive root a of a² = t(A + a)."""
        t = 2.0 * (1.0 + self.mu * self.total) / self.L
        return 0.5 * (t + float(np.sqrt(t * t + 4.0 * t * self.total)))

    def _between(self, a: float) -> GradientPoint:
        if self.total == 0.0:
            return self.x
        share = a / (self.total + a)
        w = self.x.w + share * (self.v - self.x.w)
        return self._at(w, self.x.z + share * (self.zv - self.x.z))

    def _trial(self, y: GradientPoint) -> tuple[GradientPoint, bool]:
        if not np.isfinite(y.gradient).all():
            return y, False  # too far out, as can be where e^z overflows
        w = self._prox(y.w - y.gradient / self.L, 1.0 / self.L)
        new = self._at(w, self._image(w))
        if not np.isfinite(new.gradient).all():
            return new, False
        bend, way = y.gradient - new.gradient, y.w - w
        if norm(bend) <= self._noise(y):
            return new, True  # f is flat here, as far as can be seen
        return new, float(bend @ way) >= float(bend @ bend) / self.L

    def _at(self, w: Floats, z: Floats) -> GradientPoint:
        self.products += 1
        return GradientPoint(self.problem, w, z)

    def _image(self, w: Floats) -> Floats:
        self.products += 1
        return self.problem.decision(w)

    def _prox(self, u: Floats, t: float) -> Floats:
        out = np.empty(self.problem.d)
        _proxes(self.problem.penalty, u, t * self.problem.lam, out)
        return out

    def _noise(self, point: GradientPoint) -> float:
        """About the rounding error of the gradient at a point: of its sum, and of z, which a loss
        that is hardly smooth makes much larger."""
        problem = self.problem
        error = np.abs(point.a)
        if problem.loss.gamma > 0.0:
            length = np.sqrt(problem.row_squares) * norm(point.w)
            error = error + (np.abs(point.z) + length) / problem.loss.gamma
        return EPS * norm(problem.c * error) * float(np.sqrt(problem.column_squares.sum()))

    def _first_estimate(self) -> float:
        """The curvature of f along its gradient: at most the Lipschitz constant of f'."""
        g = self.x.gradient
        largest = float(np.abs(g).max())
        if not 0.0 < largest < np.inf:
            return 1.0
        along = self._image(g / largest)
        curvatures = np.empty(self.problem.n)
        terms.curvatures(self.problem.loss, self.problem.y, self.x.z, curvatures)
        square = float(np.sum((g / largest) ** 2))
        estimate = float(np.sum(self.problem.c * curvatures * along**2)) / square
        return estimate if 0.0 < estimate < LARGEST else 1.0

    def state(self) -> dict[str, Any]:
        names = ("origin", "slopes", "v", "zv", "total", "L", "products")
        return {"w": self.x.w, "z": self.x.z, **{name: getattr(self, name) for name in names}}

    def restore(self, state: dict[str, Any]) -> None:
        d, n = self.problem.d, self.size
        self.x = GradientPoint(self.problem, vector(state, "w", d), vector(state, "z", n))
        self.origin, self.slopes = vector(state, "origin", d), vector(state, "slopes", d)
        self.v, self.zv = vector(state, "v", d), vector(state, "zv", n)
        self.total, self.L, self.products = (state[name] for name in ("total", "L", "products"))


@kernel
def _proxes(penalty: Any, u: Any, t: float, out: Any) -> None:
    """out = argmin t·g(w) + ½‖w − u‖²."""
    for j in range(len(u)):
        out[j] = prox(penalty, u[j], t, j)
