"""What samples add up to at given coefficients, as Newton steps ask: one exchange for each answer.

A partition computes decision values from the coefficients each time, so it keeps nothing from one
round to the next but its dual variables: the multipliers that round off kinks (``envelope.py``).
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.data.block import Block
from dualgap.distributed.driver.facts import DriverFacts
from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.messages import CompactVector, compact, sum_in_order
from dualgap.distributed.tuning import TUNING as ROUNDS
from dualgap.linalg.validate import Floats
from dualgap.steps.newton.envelope import BlockLosses, Response, SmoothLosses
from dualgap.steps.newton.first_width import TargetMoments, moments, width_of
from dualgap.steps.newton.tuning import TUNING

# Lengths of a step at which slopes are wanted besides: these cost no product with X, and save the
# line search its exchanges.
_LENGTHS = (4.0, 0.8, 0.6, 0.4, 0.25, 0.125, 2.0**-4, 2.0**-5, 2.0**-6, 2.0**-7, 2.0**-9)

# --- tasks ----------------------------------------------------------------------------------------


class Question(NamedTuple):
    """Coefficients ``base + length·move``.

    ``q``: the width of kinks; ``hessian``: whether it is wanted; ``lengths``: others at which the
    slope along the move is.
    """

    base: Floats
    move: Floats
    length: float
    q: float
    hessian: bool = False
    lengths: tuple[float, ...] = ()


class SampleSums(NamedTuple):
    """The answer of a partition, and who gave it after how long.

    ``u``: (1/λ) Σ c b x; ``slopes``: of Σ c e along the move, at the length in question and at the
    others; ``moved``: Σ c (b − a)²; ``value``: Σ c φ(z); ``hessian``: its upper triangle, or empty.
    """

    u: CompactVector
    slopes: Floats
    moved: float
    value: float
    hessian: Floats
    seconds: float
    process: tuple[str, int]

    @property
    def nbytes(self) -> int:
        return self.u.nbytes + self.slopes.nbytes + self.hessian.nbytes


def _responder(block: Block, a: Floats, question: Question) -> tuple[Any, Any]:
    """The losses of the samples, and a function from a length to their response there."""
    losses = SmoothLosses(block, a, question.q) if block.width == 1 else BlockLosses(block)
    z, along = block.decision(question.base), block.decision(question.move)

    def at(length: float) -> Response:
        with np.errstate(over="ignore", invalid="ignore"):
            return losses.respond(z, along, length)

    return losses, at


def sample_sums(block: Block, a: Floats, k: int, question: Question) -> tuple[SampleSums, Floats]:
    """What the samples of a partition add up to (a task)."""
    began = time.perf_counter()
    losses, at = _responder(block, a, question)
    slopes = [at(length).slope for length in question.lengths]
    response = at(question.length)
    matrix = losses.hessian(response) if question.hessian else np.empty((0, 0))
    away = response.b - a
    with np.errstate(over="ignore", invalid="ignore"):
        value = block.loss_value(response.z)
    answer = SampleSums(
        compact(block.average(response.b)),
        np.array([response.slope, *slopes]),
        float(np.sum(block.weighted(away) * away)),
        value,
        matrix[np.triu_indices(len(matrix))],
        time.perf_counter() - began,
        (os.uname().nodename, os.getpid()),
    )
    return answer, a


def adopt_slopes(
    block: Block, a: Floats, k: int, message: tuple[Question, float]
) -> tuple[SampleSums, Floats]:
    """Make the slopes at these coefficients the dual variables, and sum up what follows from them
    at another width (a task)."""
    question, q = message
    b = _responder(block, a, question)[1](question.length).b
    return sample_sums(block, b, k, question._replace(q=q, lengths=()))[0], b


def target_moments(
    block: Block, a: Floats, k: int, mean: float | None
) -> tuple[TargetMoments, Floats]:
    """TargetMoments of the targets of a partition (a task)."""
    return moments(block, mean), a


# --- the driver's side ----------------------------------------------------------------------------


class TotalSums(NamedTuple):
    """The sums over all partitions."""

    u: Floats
    moved: float
    value: float
    hessian: Floats


@dataclass
class Slopes:
    """The slopes b of all samples, which stay where they are: this names them by coefficients.

    ``sums`` over them are None until they are needed, since a line search looks at more lengths
    than it takes.
    """

    base: Floats
    move: Floats
    length: float
    sums: TotalSums | None = None


class SampleSumsProblem:
    """The problem as Newton steps see it, without samples: decision values are named by the
    coefficients that they belong to, dual variables by ``Slopes``."""

    losses: PartitionedLosses

    def __init__(self, facts: DriverFacts) -> None:
        self._skeleton = facts.skeleton
        self.scale, self.n, self.entries = facts.scale, facts.skeleton.totals.n, facts.entries
        self._squares = facts.squares / self.n

    def __getattr__(self, name: str) -> Any:
        return getattr(self._skeleton, name)

    def decision(self, w: Floats) -> Floats:
        return w

    def average(self, b: Any) -> Floats:
        return self.losses.sums(b).u

    def mean_squares(self) -> Floats:
        """Σ x²/n: damping needs no more than their size, so weights do not matter."""
        return self._squares


class PartitionedLosses(SmoothLosses):
    """The losses of all partitions, whose sums are the answers of an exchange."""

    def __init__(self, problem: SampleSumsProblem, engine: Engine, width: float) -> None:
        self.problem, self.engine = problem, engine  # type: ignore[assignment]
        problem.losses = self
        self.q = self.widest = width
        self.least = TUNING.least_width * width
        self.answers: list[SampleSums] = []  # since the driver has read them last
        self.exchanges = self.sent = 0
        self.searched: tuple[Any, Any] = (None, None)  # base and move of the last whole step
        self.slopes: dict[float, float] = {}  # along it, by length
        self.adopted: Slopes | None = None  # where the last dual variables came from

    def respond(self, z: Floats, move: Floats | None = None, length: float = 0.0) -> Response:
        """The losses at z + length·move; those of known slope are asked for when they are needed"""
        if move is None:
            if self.adopted is None or not np.array_equal(self.adopted.base, z):
                self.adopted = Slopes(z, np.zeros_like(z), 0.0)
            return self.response(self.adopted)
        b = Slopes(z, move, length)
        if self.searched[0] is not z or self.searched[1] is not move:
            self.searched, self.slopes, self.adopted = (z, move), {}, None
        if length not in self.slopes:
            lengths = tuple(length * share for share in _LENGTHS)
            self.slopes.update(zip((length, *lengths), self._ask(b, lengths)))
        return self.response(b, self.slopes[length])

    def response(self, b: Slopes, slope: float = 0.0) -> Response:
        """The response that b belongs to."""
        return Response(b.base + b.length * b.move, b, slope)  # type: ignore[arg-type]

    def known_slopes(self) -> dict[float, float]:
        return self.slopes

    def sums(self, b: Any) -> TotalSums:
        """The sums at a point, by an exchange if they are not known."""
        if b.sums is None:
            self._ask(b)
        found: TotalSums = b.sums
        return found

    def _ask(self, b: Slopes, lengths: tuple[float, ...] = ()) -> Any:
        question = Question(b.base, b.move, b.length, self.q, True, lengths)
        answers = self.engine.ask(sample_sums, question)
        self._take_in(b, answers)
        return np.sum([each.slopes for each in answers], axis=0)

    def _take_in(self, b: Slopes, answers: list[SampleSums]) -> None:
        """Add up what partitions have answered about b."""
        self.exchanges += 1
        self.sent += self.engine.size * (b.base.nbytes + b.move.nbytes)
        self.answers += answers
        b.sums = TotalSums(
            sum_in_order([each.u for each in answers]),
            float(sum(each.moved for each in answers)),
            float(sum(each.value for each in answers)),
            np.asarray(sum(each.hessian for each in answers)),
        )

    def balanced(self, w: Floats, response: Response) -> Response:
        return response

    def systems(self, shape: Any) -> None:
        return None

    def hessian(self, at: Response) -> Floats:
        size = len(at.z)
        matrix, upper = np.empty((size, size)), np.triu_indices(size)
        matrix[upper] = matrix.T[upper] = self.sums(at.b).hessian
        return matrix

    def multiplier_move(self, b: Any) -> float:
        return 0.5 * self.q * self.sums(b).moved if self.q > 0.0 else 0.0

    def adopt(self, b: Any, q: float) -> None:
        """Make the slopes at a point the dual variables of the partitions, and go on at width q."""
        question = Question(b.base, b.move, b.length, self.q, True)
        at = b.base + b.length * b.move
        self.adopted = Slopes(at, np.zeros_like(at), 0.0)
        self._take_in(self.adopted, self.engine.run(adopt_slopes, (question, q)))
        self.q = q

    def narrow(self, b: Any, factor: float, least: float) -> None:
        self.least = min(max(self.least, least), self.q)
        factor = factor if factor == 1.0 else ROUNDS.narrowing  # 1.0: the stage was a slow one
        self.adopt(b, max(self.q * factor, self.least))

    def widen(self, b: Any) -> bool:
        wider = min(TUNING.widening * self.q, self.widest)
        possible = wider > self.q
        self.least = wider
        self.adopt(b, wider)
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
    return width_of(TargetMoments(mean, size, square))
