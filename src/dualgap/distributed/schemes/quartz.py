"""Distributed Quartz: τ samples of each partition all step from the same u.

The curvatures come from the ESO of the (c,τ)-distributed sampling (Qu et al. 2014, Lemma 8,
Algorithm 1, option I). The coefficients are an average, w ← (1 − θ)w + θ∇g*(u), which only the
driver needs to know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap.compile.powers import decay_of
from dualgap.distributed.data.block import Block, ProximalTerm
from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.schemes.base import BatchScheme, coefficients, draw_batch
from dualgap.linalg.validate import Floats
from dualgap.samplings.base import metric_squares
from dualgap.samplings.eso import distributed_factors
from dualgap.steps.coordinate.views import refuse_overflow
from dualgap.steps.sets import batch_kernels, block_batch
from dualgap.steps.sets.batch import DualSteps
from dualgap.steps.sets.quartz import WIDTH, Averages, U, rate_refusal

_NO_DECAY = decay_of(1.0, 1)  # the kernel's own average is not used: the driver averages


def simultaneous_steps(
    block: Block, a: Floats, u: Floats, tau: int, rng: np.random.Generator
) -> tuple[Floats, int, int]:
    """Steps on τ samples, all from the same u."""
    order = draw_batch(block, tau, rng)
    cells = np.zeros(WIDTH * block.coef_size)
    cells[U::WIDTH] = u
    features = Averages(block.penalty, cells, _NO_DECAY, 0, True)
    samples = DualSteps(block.loss, block.y, _curvatures(block, tau), block.c / block.lam, a)
    scalars = block.width == 1
    amounts = np.empty(len(order) if scalars else (len(order), block.width))
    moved = (batch_kernels if scalars else block_batch).visit(
        block.rows, block.d, features, samples, order, np.array([0, len(order)]), 0, amounts
    )
    return cells[U::WIDTH] - u, len(order), moved


def _curvatures(block: Block, tau: int) -> Floats:
    """q_i = c_i v_i/λ with v of Lemma 8, in the metric of the penalty."""
    key = ("eso", tau)
    if key not in block.tables:
        samples, partitions = block.occurrences
        factors = distributed_factors(samples, partitions, block.totals.largest, tau)
        with np.errstate(over="ignore"):
            q = np.asarray(block.c / block.lam * metric_squares(block, factors))
        refuse_overflow(q)
        block.tables[key] = q
    found: Floats = block.tables[key]
    return found


def least_rate(
    block: Block, a: Floats, k: int, message: tuple[int, ProximalTerm | None]
) -> tuple[float, Floats]:
    """min_i p_i γ/(γ + q_i) over the samples of a partition with a positive weight (a task)."""
    tau, proximal = message
    block = block.with_proximal(proximal)
    gamma = block.loss.gamma
    rates = tau / block.totals.largest * gamma / (gamma + _curvatures(block, tau))
    return float(rates[block.c > 0.0].min(initial=np.inf)), a


@dataclass
class DistributedQuartz(BatchScheme):
    """τ simultaneous steps in each partition, and averaged coefficients ``w``."""

    rates: dict[Any, float] = field(default_factory=dict)
    w: Floats = field(default_factory=lambda: np.empty(0))

    steps = staticmethod(simultaneous_steps)

    def refusal(self, skeleton: Block) -> str | None:
        return rate_refusal(skeleton)

    def before_round(
        self, engine: Engine, skeleton: Block, u: Floats, work: int, proximal: ProximalTerm | None
    ) -> None:
        key = (work, None if proximal is None else proximal.rho)
        if key not in self.rates:
            self.rates[key] = min(engine.ask(least_rate, (work, proximal)))
        last = coefficients(skeleton, u)
        self.w = self.w + self.rates[key] * (last - self.w) if self.w.size else last

    def points(self, skeleton: Block, u: Floats) -> tuple[Floats, ...]:
        last = coefficients(skeleton, u)
        return (self.w, last) if self.w.size else (last,)

    def state(self) -> dict[str, Any]:
        return {"w": self.w}

    def restore(self, state: dict[str, Any]) -> None:
        self.w = state["w"]
