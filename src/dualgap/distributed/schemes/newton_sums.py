"""What samples add up to at given coefficients, as Newton steps ask: one exchange for each answer.

A partition computes decision values from the coefficients each time, so it keeps nothing from one
round to the next but its dual variables: the multipliers that round off kinks (``envelope.py``).
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.block import Block
from dualgap.distributed.driver.facts import DriverFacts
from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.messages import CompactVector, compact, sum_in_order
from dualgap.linalg.validate import Floats
from dualgap.steps.newton.envelope import BlockLosses, Response, SmoothLosses
from dualgap.steps.newton.first_width import Moments, moments, width_of
from dualgap.steps.newton.tuning import TUNING

# --- tasks ----------------------------------------------------------------------------------------


class Question(NamedTuple):
    """``at``: coefficients; ``move``: a direction whose slope is wanted; ``q``: the width of
    kinks; ``hessian``: whether it is wanted."""

    at: Floats
    move: Floats
    q: float
    hessian: bool


class SampleSums(NamedTuple):
    """The answer of a partition, and who gave it after how long.

    ``u``: (1/λ) Σ c b x; ``slope``: of Σ c e along the move; ``moved``: Σ c (b − a)²; ``value``:
    Σ c φ(z); ``hessian``: its upper triangle, or empty.
    """

    u: CompactVector
    slope: float
    moved: float
    value: float
    hessian: Floats
    seconds: float
    process: tuple[str, int]

    @property
    def nbytes(self) -> int:
        return self.u.nbytes + self.hessian.nbytes


def _at(block: Block, a: Floats, question: Question) -> tuple[Any, Response]:
    losses = SmoothLosses(block, a, question.q) if block.width == 1 else BlockLosses(block)
    z, along = block.decision(question.at), block.decision(question.move)
    with np.errstate(over="ignore", invalid="ignore"):
        return losses, losses.respond(z, along, 0.0)


def sample_sums(block: Block, a: Floats, k: int, question: Question) -> tuple[SampleSums, Floats]:
    """What the samples of a partition add up to (a task)."""
    began = time.perf_counter()
    losses, response = _at(block, a, question)
    matrix = losses.hessian(response) if question.hessian else np.empty((0, 0))
    moved = block.weighted(response.b - a) * (response.b - a)
    with np.errstate(over="ignore", invalid="ignore"):
        value = block.loss_value(response.z)
    process = (os.uname().nodename, os.getpid())
    answer = SampleSums(
        compact(block.average(response.b)),
        response.slope,
        float(np.sum(moved)),
        value,
        matrix[np.triu_indices(len(matrix))],
        time.perf_counter() - began,
        process,
    )
    return answer, a


def adopt_slopes(block: Block, a: Floats, k: int, question: Question) -> tuple[None, Floats]:
    """Make the slopes at these coefficients the dual variables (a task)."""
    return None, _at(block, a, question)[1].b


def target_moments(
    block: Block, a: Floats, k: int, mean: float | None
) -> tuple[Moments, Floats]:
    """Moments of the targets of a partition (a task)."""
    return moments(block, mean), a


# --- the driver's side ----------------------------------------------------------------------------


class TotalSums(NamedTuple):
    """The sums over all partitions, at the coefficients ``at``. They stand for the dual variables
    there, which stay where they are."""

    at: Floats
    u: Floats
    moved: float
    value: float
    hessian: Floats


class SampleSumsProblem:
    """The problem as Newton steps see it, without samples: decision values are stood for by the
    coefficients that they belong to, dual variables by ``TotalSums``."""

    def __init__(self, facts: DriverFacts) -> None:
        self._skeleton = facts.skeleton
        self.scale, self.n, self.entries = facts.scale, facts.skeleton.totals.n, facts.entries
        self._squares = facts.squares / self.n

    def __getattr__(self, name: str) -> Any:
        return getattr(self._skeleton, name)

    def decision(self, w: Floats) -> Floats:
        return w

    def average(self, b: TotalSums) -> Floats:
        return b.u

    def mean_squares(self) -> Floats:
        """Σ x²/n: damping needs no more than their size, so weights do not matter."""
        return self._squares


class PartitionedLosses(SmoothLosses):
    """The losses of all partitions, whose sums are the answers of an exchange."""

    def __init__(self, problem: Any, engine: Engine, width: float) -> None:
        self.problem, self.engine = problem, engine
        self.q = self.widest = width
        self.least = TUNING.least_width * width
        self.answers: list[SampleSums] = []  # since the driver has read them last
        self.exchanges = self.sent = 0

    def respond(self, z: Floats, move: Floats | None = None, length: float = 0.0) -> Response:
        at = z if move is None else z + length * move
        whole_step = move is None or length == 1.0  # most steps end there, and need the Hessian
        return self._ask(at, np.zeros_like(z) if move is None else move, whole_step)

    def _ask(self, at: Floats, move: Floats, hessian: bool) -> Response:
        answers = self.engine.ask(sample_sums, Question(at, move, self.q, hessian))
        self.answers += answers
        self.exchanges += 1
        self.sent += self.engine.size * (at.nbytes + move.nbytes)
        total = TotalSums(
            at,
            sum_in_order([each.u for each in answers]),
            float(sum(each.moved for each in answers)),
            float(sum(each.value for each in answers)),
            np.asarray(sum(each.hessian for each in answers)),
        )
        slope = float(sum(each.slope for each in answers))
        return Response(at, total, slope)  # type: ignore[arg-type]  # they stand for b

    def balanced(self, w: Floats, response: Response) -> Response:
        return response

    def systems(self, shape: Any) -> None:
        return None

    def hessian(self, at: Response) -> Floats:
        packed = at.b.hessian  # type: ignore[attr-defined]
        if not len(packed):
            packed = self._ask(at.z, np.zeros_like(at.z), True).b.hessian  # type: ignore[attr-defined]
        size = len(at.z)
        matrix = np.empty((size, size))
        upper = np.triu_indices(size)
        matrix[upper] = packed
        matrix.T[upper] = packed
        return matrix

    def multiplier_move(self, b: Any) -> float:
        return 0.5 * self.q * b.moved if self.q > 0.0 else 0.0

    def adopt(self, b: Any) -> None:
        """Make the slopes at a point the dual variables of the partitions."""
        self.engine.run(adopt_slopes, Question(b.at, np.zeros_like(b.at), self.q, False))
        self.exchanges += 1
        self.sent += self.engine.size * b.at.nbytes

    def narrow(self, b: Any, factor: float, least: float) -> None:
        self.adopt(b)
        self.least = min(max(self.least, least), self.q)
        self.q = max(self.q * factor, self.least)

    def widen(self, b: Any) -> bool:
        wider = min(TUNING.widening * self.q, self.widest)
        possible = wider > self.q
        self.adopt(b)
        self.q = self.least = wider
        return possible

    def state(self) -> dict[str, Any]:
        return {"q": self.q, "least": self.least, "widest": self.widest}

    def restore(self, state: dict[str, Any]) -> None:
        self.q, self.least, self.widest = state["q"], state["least"], state["widest"]


def first_width_of(engine: Engine, facts: DriverFacts) -> float:
    """The width at which kinks are rounded off first."""
    skeleton = facts.skeleton
    if skeleton.width > 1 or skeleton.loss.differentiable:
        return 0.0
    if not skeleton.targets.on_scale_of_y:
        return 1.0
    mean = float(sum(each.mean for each in engine.ask(target_moments, None)))
    found = engine.ask(target_moments, mean)
    size, square = (float(sum(each)) for each in list(zip(*found))[1:])
    return width_of(Moments(mean, size, square))
