"""The last steps s with the changes y of the gradient, and the direction −Hg that they imply.

    H = γH₀ + [S  γT] [[R⁻ᵀ(D + γYᵀT)R⁻¹, −R⁻ᵀ], [−R⁻¹, 0]] [S  γT]ᵀ        T = H₀Y
with R the upper triangle of SᵀY and D its diagonal (Byrd, Nocedal, Schnabel 1994). S and T are read
twice a step: once for their products with the new gradient, once for the direction. Products with y
are differences of those with gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from dualgap.linalg.validate import Floats
from dualgap.steps.quasi_newton.spaces import dot

_LEAST_COSINE = 1e-12  # between s and y; below, their product may be a rounding error


class Memory:
    """The last ``size`` pairs; ``order`` has their places, the oldest first."""

    def __init__(self, size: int, shape: tuple[int, int]) -> None:
        self.S, self.Y = np.zeros((2, size, *shape))
        self.T = self.Y  # until there is an H₀ other than the identity
        self.SY, self.YT = np.zeros((2, size, size))
        self.order: list[int] = []
        self.solve: Any = None
        self.gradient: Floats | None = None  # with which the products below were computed
        self.Sg = self.Tg = np.zeros(size)

    def forget(self) -> None:
        self.order, self.gradient = [], None

    def start_from(self, solve: Any) -> None:
        """Take another H₀."""
        self.solve, self.gradient = solve, None
        self.T = np.zeros_like(self.Y)
        for i in self.order:
            self.T[i] = solve(self.Y[i])
        self.YT[:] = self.T[:, 0] @ self.Y[:, -1].T

    def add(self, s: Floats, y: Floats, gradient: Floats) -> None:
        """Remember a step along the last direction, to a point with this gradient, unless rounding
        hides its curvature."""
        product = dot(s, y)
        if not product > _LEAST_COSINE * np.sqrt(dot(s, s) * dot(y, y)):
            return
        before = self.Sg, self.Tg
        self._multiply(gradient)
        full = len(self.order) == len(self.S)
        place = self.order.pop(0) if full else len(self.order)
        self.order.append(place)
        self.S[place], self.Y[place] = s, y
        if self.solve is not None:
            self.T[place] = self.solve(y)
        self.SY[:, place] = self.Sg - before[0]
        self.YT[:, place] = self.YT[place] = self.Tg - before[1]
        self.SY[place, place] = product
        self.YT[place, place] = dot(self.T[place], y)
        self.Sg[place], self.Tg[place] = dot(s, gradient), dot(self.T[place], gradient)

    def _multiply(self, gradient: Floats) -> None:
        self.Sg, self.Tg = self.S[:, 0] @ gradient[-1], self.T[:, 0] @ gradient[-1]
        self.gradient = gradient

    def direction(self, gradient: Floats) -> Floats:
        """−Hg."""
        first = gradient if self.solve is None else self.solve(gradient)
        if self.gradient is not gradient:
            self._multiply(gradient)
        if not self.order:
            return np.asarray(-first)
        order = np.array(self.order)
        SY, YT = self.SY[np.ix_(order, order)], self.YT[np.ix_(order, order)]
        gamma = SY[-1, -1] / YT[-1, -1]
        R = np.triu(SY)
        a = solve_triangular(R, self.Sg[order], check_finite=False)
        right = np.diag(SY) * a + gamma * (YT @ a - self.Tg[order])
        b = solve_triangular(R, right, trans=1, check_finite=False)
        found = -gamma * first
        weights = np.zeros((2, len(self.S)))
        weights[0, order], weights[1, order] = -b, gamma * a
        flat = len(self.S), -1
        found += (weights[0] @ self.S.reshape(flat)).reshape(found.shape)
        found += (weights[1] @ self.T.reshape(flat)).reshape(found.shape)
        return np.asarray(found)

    # --- checkpoints ------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        kept = {"S": self.S, "Y": self.Y, "T": self.T, "SY": self.SY, "YT": self.YT}
        return {**kept, "order": np.array(self.order, dtype=np.int64)}

    def restore(self, state: dict[str, Any], solve: Any) -> None:
        """``solve`` is the H₀ of the memory that was kept."""
        for name in ("S", "Y", "T", "SY", "YT"):
            found = np.array(state[name], dtype=np.float64).reshape(getattr(self, name).shape)
            setattr(self, name, found)
        if solve is None:
            self.T = self.Y
        self.order = [int(place) for place in state["order"]]
        self.solve, self.gradient = solve, None
