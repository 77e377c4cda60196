"""What samples add up to at given coefficients, as Newton steps ask: one exchange for each answer.

These are the losses and the products of ``steps/newton/`` for samples that are in partitions
(``newton_tasks.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.driver.facts import DriverFacts
from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.messages import PartitionSums, compact
from dualgap.distributed.schemes.exchanges import Exchanges
from dualgap.distributed.schemes.feature_sets import FeatureSets
from dualgap.distributed.schemes.newton_tasks import (
    CURVATURE,
    MOVED,
    SLOPES,
    VALUE,
    ProductQuestion,
    Question,
    adopt_slopes,
    hessian_product,
    sample_sums,
    symmetric,
    target_moments,
)
from dualgap.distributed.tuning import TUNING as ROUNDS
from dualgap.linalg.validate import Floats
from dualgap.steps.newton.envelope import Response, SmoothLosses
from dualgap.steps.newton.first_width import TargetMoments, width_of
from dualgap.steps.newton.systems import Systems
from dualgap.steps.newton.tuning import TUNING

# Lengths of a step at which slopes are wanted besides: these cost no product with X, and save the
# line search its exchanges.
_LENGTHS = (4.0, 0.8, 0.6, 0.4, 0.25, 0.125, 2.0**-4, 2.0**-5, 2.0**-6, 2.0**-7, 2.0**-9)


class TotalSums(NamedTuple):
    """The sums over all partitions."""

    u: Floats
    moved: float
    value: float
    curvature: float
    hessian: Any


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
    """The losses of all partitions, whose sums are the answers of an exchange.

    Of many features no Hessians are asked for: systems are solved by products, an exchange each.
    """

    def __init__(
        self, problem: SampleSumsProblem, exchanges: Exchanges, width: float, *, by_products: bool
    ) -> None:
        self.by_products = by_products
        self.problem, self.exchanges = problem, exchanges  # type: ignore[assignment]
        problem.losses = self
        self.q = self.widest = width
        self.least = TUNING.least_width * width
        self.forget()

    def forget(self) -> None:
        """What is known belongs to dual variables that partitions no longer have."""
        self.searched = np.empty(0), np.empty(0)  # base and move of the last search
        self.slopes: dict[float, float] = {}  # along it, by length
        self.adopted: Slopes | None = None  # where the last dual variables came from

    def respond(self, z: Floats, move: Floats | None = None, length: float = 0.0) -> Response:
        """The losses at z + length·move; those of known slope are asked for when they are needed"""
        if move is None:
            if self.adopted is None or not np.array_equal(self.adopted.base, z):
                self.adopted = Slopes(z, np.zeros_like(z), 0.0)
            return self.response(self.adopted)
        if not all(map(np.array_equal, self.searched, (z, move))):
            self.searched, self.slopes, self.adopted = (z.copy(), move.copy()), {}, None
        b = Slopes(*self.searched, length)  # copies: the arguments may change in place
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

    def _question(self, b: Slopes, lengths: tuple[float, ...] = ()) -> Question:
        at = compact(b.base), compact(b.move)
        return Question(*at, b.length, self.q, not self.by_products, lengths)

    def _ask(self, b: Slopes, lengths: tuple[float, ...] = ()) -> list[float]:
        """Ask for the sums at b; returns slopes there and at the other lengths."""
        question = self._question(b, lengths)
        found = self.exchanges.ask(sample_sums, question, question.nbytes)
        b.sums = _totals(found)
        slopes: list[float] = found.numbers[SLOPES:].tolist()
        return slopes

    def balanced(self, w: Floats, response: Response) -> Response:
        return response

    def systems(self, shape: Any) -> Systems | None:
        if not self.by_products:
            return None
        if shape.kinked:
            return FeatureSets(self.problem, shape, self.exchanges)  # type: ignore[return-value]
        return Systems(self.problem, shape, PartitionedProducts(self))

    def total_curvature(self, at: Response) -> float:
        return self.sums(at.b).curvature

    def total_slope(self, at: Response) -> float:
        return float(self.sums(at.b).u[-1]) * self.problem.lam / self.problem.constant

    def along_intercept(self) -> Floats:
        move = np.zeros(self.problem.coef_size)
        move[-1] = 1.0 / self.problem.constant
        return move

    def curvatures(self, z: Floats) -> Floats:
        """They stay where the samples are; the coefficients stand for them."""
        return z

    def hessian(self, at: Response) -> Floats:
        return symmetric(self.sums(at.b).hessian, len(at.z))

    def multiplier_move(self, b: Any) -> float:
        return 0.5 * self.q * self.sums(b).moved if self.q > 0.0 else 0.0

    def adopt(self, b: Any, q: float) -> None:
        """Make the slopes at a point the dual variables of the partitions, and go on at width q."""
        question = self._question(b)
        at = b.base + b.length * b.move
        self.forget()
        found = self.exchanges.run(adopt_slopes, (question, q), question.nbytes)
        self.adopted = Slopes(at, np.zeros_like(at), 0.0, _totals(found))
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


def _totals(found: PartitionSums) -> TotalSums:
    numbers = found.numbers.tolist()
    u, hessian = found.vectors
    return TotalSums(u.full(), numbers[MOVED], numbers[VALUE], numbers[CURVATURE], hessian)


class PartitionedProducts:
    """Products with the Hessian of all samples, each of them an exchange."""

    def __init__(self, losses: PartitionedLosses) -> None:
        self.losses, self.data = losses, losses.problem

    def no_image(self) -> Floats:
        return np.zeros(self.data.coef_size)

    def times(self, weights: Floats, v: Floats) -> tuple[Floats, Floats]:
        """v, which stands for X v, and Xᵀ diag(curvatures) X v."""
        return v, self._ask(weights, v)[0]

    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        """Σ curvature x and Σ curvature x² of each feature."""
        sums, squares = self._ask(weights, None)
        return sums, squares

    def _ask(self, at: Floats, v: Any) -> list[Floats]:
        question = ProductQuestion(compact(at), None if v is None else compact(v))
        size = question.at.nbytes + (0 if question.v is None else question.v.nbytes)
        found = self.losses.exchanges.ask(hessian_product, question, size)
        return [each.full() for each in found.vectors]


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
