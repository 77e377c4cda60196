"""APCG: accelerated proximal coordinate gradient on the dual (Lin, Lu, Xiao 2014).

The dual objective is split into a smooth part, λg*(u) + γ/2·Σc_i a_i², and Σc_i(φ* − γ/2 a²), which
is still convex. With q = max q_i, μ = γ/(γ + q), α = √μ/n and ρ = (1 − α)/(1 + α), the method in
its form for sparse data (their Algorithm 3) keeps a in two parts, y = ρᵗf + s and ζ = s − ρᵗf:
    h minimises (√μ(γ + q)/2)h² + (x_i·∇g*(u_y) + γy_i)h + (φ* − γ/2·²)(ζ_i + h)
    f_i ← f_i − (1 − √μ)/(2ρᵗ)·h,   s_i ← s_i + (1 + √μ)/2·h
Rate: the expected dual error falls by 1 − √μ/n, that is √(n + R²/(λγ)) in the place of SDCA's
n + R²/(λγ) for every n iterations. Cost of an iteration: O(entries of the row).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.prefetch import aligned_zeros, prefetch
from dualgap.compile.rules import conj_slope, dual_step
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Pair
from dualgap.samplings import Uniform
from dualgap.steps.base import Setting, Start, Step, dual_start, multiclass_refusal
from dualgap.steps.sets.batch import BatchRun
from dualgap.steps.sets.quartz import rate_refusal
from dualgap.steps.sets.sampling_facts import sampling_facts

FADING, STEADY, WIDTH = 0, 1, 2  # a feature's cells: what f and s add to u
_LEAST = 1e-6  # q/γ: a larger q always serves, and with 0 a single sample would have ρ = 0


class SplitFeatures(NamedTuple):
    """Features that see ∇g* of ρᵗ·(part of f) + (part of s)."""

    penalty: Any
    cells: Any
    powers: Any
    root: float

    def wake(self, j, t):
        pass

    def read(self, j, i, t):
        u = self.powers[t] * self.cells[WIDTH * j + FADING] + self.cells[WIDTH * j + STEADY]
        return conj_slope(self.penalty, u, 0.0, j)

    def touch(self, j, amount, i, t):
        self.cells[WIDTH * j + FADING] -= 0.5 * (1.0 - self.root) / self.powers[t] * amount
        self.cells[WIDTH * j + STEADY] += 0.5 * (1.0 + self.root) * amount

    def expect(self, j):
        prefetch(self.cells, WIDTH * j)


class SplitSamples(NamedTuple):
    """Samples that hold their dual variable in the two parts."""

    loss: Any
    gamma: float
    y: Any
    scale: Any
    fading: Any
    steady: Any
    powers: Any
    root: float

    def respond(self, i, z, t):
        power = self.powers[t]
        ahead = self.steady[i] + power * self.fading[i]
        behind = self.steady[i] - power * self.fading[i]
        # √μ(γ + q) = γ/√μ; the −γ/2·b² of the other part is taken off it.
        q = self.gamma / self.root - self.gamma
        new = dual_step(self.loss, behind, z + self.gamma * (ahead - behind), q, self.y[i])
        h = new - behind
        self.fading[i] -= 0.5 * (1.0 - self.root) / power * h
        self.steady[i] += 0.5 * (1.0 + self.root) * h
        return self.scale[i] * h

    def expect(self, i):
        prefetch(self.fading, i)
        prefetch(self.steady, i)
        prefetch(self.y, i)


@dataclass(frozen=True)
class APCG(Step):
    """Accelerated proximal coordinate gradient steps on the dual."""

    usual = "apcg"

    def refusal(self, problem: Problem) -> str | None:
        return multiclass_refusal(problem) or rate_refusal(problem)

    def sampling_refusal(self, sampling: Any) -> str | None:
        if isinstance(sampling, Uniform):
            return None
        return f"it is known for Uniform sampling only, not for {type(sampling).__name__}"

    def describe(self, problem: Problem) -> str:
        return "accelerated proximal coordinate steps over samples"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> SplitRun:
        return SplitRun(problem, warm, setting)


class SplitRun(BatchRun):
    """A run that keeps the dual variables in two parts."""

    def __init__(self, problem: Problem, warm: Start, setting: Setting) -> None:
        known = sampling_facts(problem, setting.sampling)
        super().__init__(problem, known.scores, setting.n_threads)
        gamma = problem.loss.gamma
        q = max(float(known.q.max()), _LEAST * gamma)
        self.root = float(np.sqrt(gamma / (gamma + q)))
        alpha = self.root / problem.n
        self.log_power = float(np.log1p(-alpha) - np.log1p(alpha))
        self.fading = np.zeros(problem.n)
        self.steady = dual_start(problem, warm.dual)
        self.cells = aligned_zeros(WIDTH * problem.d)
        self._prepare(0)
        self.refresh()

    def _prepare(self, iterations: int) -> None:
        """Count iterations from here on, so that the powers of ρ stay away from 0."""
        problem = self.problem
        if self.time:
            fade = np.exp(self.time * self.log_power)
            self.fading *= fade
            self.cells[FADING::WIDTH] *= fade
            self.time = 0
        powers = np.exp(np.arange(1, iterations + 1) * self.log_power)
        powers = np.concatenate([[1.0], powers])
        self.features = SplitFeatures(problem.penalty, self.cells, powers, self.root)
        self.samples = SplitSamples(
            problem.loss,
            problem.loss.gamma,
            problem.y,
            problem.c / problem.lam,
            self.fading,
            self.steady,
            powers,
            self.root,
        )

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int]:
        self._prepare(len(order))
        return super().advance(order, offsets)

    def _dual(self) -> Floats:
        self._prepare(0)
        a = np.empty(self.problem.n)
        terms.projections(self.problem.loss, self.problem.y, self.fading + self.steady, a)
        return a

    def pair(self) -> Pair:
        a = self._dual()
        u = self.cells[FADING::WIDTH] + self.cells[STEADY::WIDTH]
        w = np.empty(self.problem.d)
        terms.conj_slopes(self.problem.penalty, u, w)
        return Pair(w, a, self.problem.decision(w), u, z_anew=True)

    def refresh(self) -> None:
        self._prepare(0)
        self.cells[FADING::WIDTH] = self.problem.average(self.fading)
        self.cells[STEADY::WIDTH] = self.problem.average(self.steady)

    def state(self) -> dict[str, Any]:
        self._prepare(0)
        return {"fading": self.fading, "steady": self.steady, "cells": self.cells}

    def restore(self, state: dict[str, Any]) -> None:
        for name in ("fading", "steady", "cells"):
            getattr(self, name)[:] = state[name]
