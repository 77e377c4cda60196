"""Quartz: dual steps on random sets of samples, and a primal average (Qu, Richtárik, Zhang 2014).

Algorithm 1, iteration t, with p_i = P(i in S) and an ESO vector v of the sampling:
    w ← (1 − θ)w + θ∇g*(u);   for i in S, with Δ added to a_i:
    option I    Δ maximises −φ*(−(a_i + Δ)) − x_i·∇g*(u)Δ − (q_i/2)Δ²,   q_i = c_i v_i/λ
    option II   Δ = −(θ/p_i)(a_i + φ'(x_i·w))
Theorem 9: E[P(w) − D(a)] falls by 1 − θ, θ = min_i p_i γ/(γ + q_i), in every iteration. The primal
step may be multiplied (section 8.2: 10θ, 100θ), which theory does not cover but practice likes.
Cost of an iteration: O(entries of the rows in S), for between touches u_j stays, and k averaging
steps are one: w_j ← ρᵏw_j + (1 − ρᵏ)∇g*(u)_j, ρ = 1 − θ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from dualgap.compile.kernels import helper, kernel
from dualgap.compile.powers import decay_of, decayed
from dualgap.compile.prefetch import aligned_zeros, prefetch
from dualgap.compile.rules import conj_slope
from dualgap.linalg.validate import Floats, number
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Pair
from dualgap.steps.base import Setting, Start, Step, dual_refusal, dual_start
from dualgap.steps.sets.batch import BatchRun, DualAverages, DualSteps
from dualgap.steps.sets.sampling_facts import probability_refusal, quartz_rate, sampling_facts

# A feature's cells: coefficient, u, and the iteration up to which the coefficient is averaged.
W, U, LAST, WIDTH = 0, 1, 2, 4


class Averages(NamedTuple):
    """Features whose coefficient follows ∇g*(u), at the pace ``decay.loss``.

    ``lag`` 0: iteration t averages before samples read (Quartz). 1: after they have moved (ASDCA);
    what they see then is what averaging with the old u would give. ``current``: samples see ∇g*(u).
    """

    penalty: Any
    cells: Any
    decay: Any
    lag: int
    current: bool

    def wake(self, j, t):
        if not self.current:
            follow(self, j, t)

    def read(self, j, i, t):
        at = WIDTH * j
        if self.current:
            return conj_slope(self.penalty, self.cells[at + U], 0.0, j)
        w = self.cells[at + W]
        if self.lag == 0:
            return w
        goal = conj_slope(self.penalty, self.cells[at + U], 0.0, j)
        return w + self.decay.loss * (goal - w)

    def touch(self, j, amount, i, t):
        if self.current:  # only now: until then nothing reads the coefficient
            follow(self, j, t)
        self.cells[WIDTH * j + U] += amount

    def expect(self, j):
        prefetch(self.cells, WIDTH * j)


@helper
def follow(features: Any, j: int, t: int) -> None:
    """Average coefficient ``j`` up to iteration ``t``."""
    at = WIDTH * j
    k = t - features.lag - int(features.cells[at + LAST])
    if k > 0:
        w = features.cells[at + W]
        goal = conj_slope(features.penalty, features.cells[at + U], 0.0, j)
        features.cells[at + W] = w - decayed(features.decay, k) * (goal - w)
        features.cells[at + LAST] = t - features.lag


@kernel
def follow_all(features: Any, size: int, t: int) -> None:
    for j in range(size):
        follow(features, j, t)


def rate_refusal(problem: Problem) -> str | None:
    """Why theory knows no linear rate in the dual for a problem, in words; None if it does."""
    refusal = dual_refusal(problem)
    if refusal is None and problem.loss.gamma == 0.0:
        name = type(problem.given_loss).__name__
        return f"the {name} loss is not smooth (its slope is not Lipschitz), so its rate would be 0"
    return refusal


@dataclass(frozen=True)
class Quartz(Step):
    """``option`` "I" or "II"; ``multiplier`` of the primal step θ."""

    option: Literal["I", "II"] = "I"
    multiplier: float = 1.0

    usual = "quartz-u"

    def __post_init__(self) -> None:
        if self.option not in ("I", "II"):
            raise ValueError(f'option must be "I" or "II", not {self.option!r}')
        number(self.multiplier, "multiplier", 0.0, open_low=True)

    def refusal(self, problem: Problem) -> str | None:
        return rate_refusal(problem)

    def sampling_refusal(self, sampling: Any) -> str | None:
        return probability_refusal(sampling)

    def describe(self, problem: Problem) -> str:
        pace = "" if self.multiplier == 1.0 else f", primal step {self.multiplier:g}θ"
        return f"Quartz steps (option {self.option}{pace}) on sets of samples"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> AverageRun:
        known = sampling_facts(problem, setting.sampling)
        rate = quartz_rate(problem, known)
        run = AverageRun(problem, known.scores, setting.n_threads, warm)
        scale = problem.c / problem.lam
        if self.option == "I":
            run.samples = DualSteps(problem.loss, problem.y, known.q, scale, run.a)
        else:
            pace = rate / np.where(known.p > 0.0, known.p, 1.0)
            run.samples = DualAverages(problem.loss, problem.y, pace, scale, run.a)
        run.average(min(self.multiplier * rate, 1.0), lag=0, current=self.option == "I")
        return run


class AverageRun(BatchRun):
    """A run whose features are ``Averages``."""

    def __init__(self, problem: Problem, scores: Any, n_threads: int, warm: Start) -> None:
        super().__init__(problem, scores, n_threads)
        self.a = dual_start(problem, warm.dual)
        self.cells = aligned_zeros(WIDTH * problem.coef_size)
        self.refresh()
        self.cells[W::WIDTH] = self._coefficients() if warm.coef is None else warm.coef

    def average(self, pace: float, *, lag: int, current: bool) -> None:
        """Let the coefficients follow at this pace."""
        decay = decay_of(pace, self.longest)
        self.features = Averages(self.problem.penalty, self.cells, decay, lag, current)

    def _coefficients(self) -> Floats:
        """∇g*(u)."""
        w = np.empty(self.problem.coef_size)
        terms.conj_slopes(self.problem.penalty, self.cells[U::WIDTH].copy(), w)
        return w

    def pair(self) -> Pair:
        follow_all(self.features, self.problem.coef_size, self.time + self.features.lag)
        w, u = self.cells[W::WIDTH].copy(), self.cells[U::WIDTH].copy()
        return Pair(w, self.a.copy(), self.problem.decision(w), u, z_anew=True)

    def resting(self) -> bool:
        follow_all(self.features, self.problem.coef_size, self.time + self.features.lag)
        return np.allclose(self.cells[W::WIDTH], self._coefficients(), rtol=1e-13, atol=0.0)

    def refresh(self) -> None:
        self.cells[U::WIDTH] = self.problem.average(self.a)

    def state(self) -> dict[str, Any]:
        return {"a": self.a, "cells": self.cells, "time": self.time}

    def restore(self, state: dict[str, Any]) -> None:
        self.a[:], self.cells[:], self.time = state["a"], state["cells"], state["time"]
