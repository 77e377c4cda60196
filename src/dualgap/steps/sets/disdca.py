"""DisDCA: dual steps by several workers, each on its own partition (Yang 2013).

In a round each of c workers visits τ of its samples and sends the sum of their Δ_i x_i.
    basic      all see the u of the round's start, with curvatures cτ·q_i
    practical  a worker sees its own moves at once, c times as large as they are, with c·q_i: as if
               all others did the same
Rate of the basic variant: n/(cτ) + R²/(λγ) rounds per digit. The practical one has no proof of its
rate, but is safe: it is the average of c exact steps on bounds of the dual objective.
Cost of a round: O(entries of its rows). Here one process plays all workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from dualgap.compile.prefetch import prefetch
from dualgap.compile.rules import conj_slope
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Pair
from dualgap.samplings import Distributed
from dualgap.samplings.base import metric_squares
from dualgap.steps.base import Setting, Start, Step, dual_refusal, dual_start, multiclass_refusal
from dualgap.steps.sets.batch import BatchRun, DualSteps
from dualgap.steps.sets.batch_kernels import wake_all
from dualgap.steps.sets.sampling_facts import sampling_facts

SHARED, ROUND, OWN = 0, 1, 2  # a feature's cells: u, its round, and what each worker adds to it


class MachineFeatures(NamedTuple):
    """Features of which each worker has its own copy until the round ends."""

    penalty: Any
    cells: Any
    machines: int
    worker: Any  # of each sample
    own: bool  # whether workers see their own moves at once
    clock: Any

    def wake(self, j, t):
        at = (OWN + self.machines) * j
        if self.cells[at + ROUND] < self.clock[0]:
            self.cells[at + ROUND] = self.clock[0]
            for machine in range(self.machines):
                self.cells[at + SHARED] += self.cells[at + OWN + machine]
                self.cells[at + OWN + machine] = 0.0

    def read(self, j, i, t):
        at = (OWN + self.machines) * j
        u = self.cells[at + SHARED]
        if self.own:
            u += self.machines * self.cells[at + OWN + self.worker[i]]
        return conj_slope(self.penalty, u, 0.0, j)

    def touch(self, j, amount, i, t):
        self.cells[(OWN + self.machines) * j + OWN + self.worker[i]] += amount

    def expect(self, j):
        prefetch(self.cells, (OWN + self.machines) * j)


@dataclass(frozen=True)
class DisDCA(Step):
    """``variant`` "practical" or "basic"; workers and batches are those of ``Distributed``."""

    variant: Literal["practical", "basic"] = "practical"

    usual = "disdca"

    def __post_init__(self) -> None:
        if self.variant not in ("practical", "basic"):
            raise ValueError(f'variant must be "practical" or "basic", not {self.variant!r}')

    def refusal(self, problem: Problem) -> str | None:
        return multiclass_refusal(problem) or dual_refusal(problem)

    def sampling_refusal(self, sampling: Any) -> str | None:
        if isinstance(sampling, Distributed):
            return None
        name = type(sampling).__name__
        return f"its workers hold the partitions of Distributed(c, tau), and {name} has none"

    def describe(self, problem: Problem) -> str:
        return f"{self.variant} dual steps by several workers"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> MachineRun:
        return MachineRun(problem, warm, self, setting)


class MachineRun(BatchRun):
    """A run of rounds."""

    def __init__(self, problem: Problem, warm: Start, step: DisDCA, setting: Setting) -> None:
        known = sampling_facts(problem, setting.sampling)
        super().__init__(problem, known.scores, n_threads=1)
        worker, tau = setting.sampling.labels(problem.n), setting.sampling.tau
        machines = setting.sampling.c
        alone = problem.c / problem.lam * metric_squares(problem, np.ones(problem.d))
        own = step.variant == "practical"
        q = alone * (machines if own else machines * tau)
        self.width = OWN + machines
        self.a = dual_start(problem, warm.dual)
        self.clock = np.zeros(1)
        self.cells = np.zeros(self.width * problem.d)
        self.features = MachineFeatures(
            problem.penalty, self.cells, machines, worker, own, self.clock
        )
        self.samples = DualSteps(problem.loss, problem.y, q, problem.c / problem.lam, self.a)
        self.refresh()

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int]:
        if offsets is None:
            offsets = np.arange(len(order) + 1)
        moved = operations = 0
        for begin, end in pairwise(offsets):
            self.clock[0] += 1
            more = super().advance(order[begin:end])  # one by one: a worker's moves are in order
            moved, operations = moved + more[0], operations + more[1]
        return moved, operations

    def _end_round(self) -> None:
        self.clock[0] += 1
        wake_all(self.features, self.problem.d, self.time)

    def pair(self) -> Pair:
        self._end_round()
        w, u = np.empty(self.problem.d), self.cells[SHARED :: self.width].copy()
        terms.conj_slopes(self.problem.penalty, u, w)
        return Pair(w, self.a.copy(), self.problem.decision(w), u, z_anew=True)

    def refresh(self) -> None:
        self._end_round()
        self.cells[SHARED :: self.width] = self.problem.average(self.a)

    def state(self) -> dict[str, Any]:
        return {"a": self.a, "cells": self.cells, "clock": self.clock, "time": self.time}

    def restore(self, state: dict[str, Any]) -> None:
        for name in ("a", "cells", "clock"):
            getattr(self, name)[:] = state[name]
        self.time = state["time"]
