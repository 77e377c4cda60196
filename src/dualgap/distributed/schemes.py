"""Schemes: what the K partitions do between two exchanges of u, and why that is safe.

cocoa+   Local epochs of dual coordinate steps. Partitions may all add what they find if each takes
         its own moves for K times as large as they are (Ma et al. 2015: γ = 1, σ' = K), those of a
         rare feature for as many times as partitions have it (``steps/shared.py``). D(a) never
         falls.
disdca   The same steps on τ samples of each partition (Yang 2013, the practical variant).
quartz   τ samples of each partition all look at the same u, with curvatures from the ESO of the
         (c,τ)-distributed sampling (Qu et al. 2014, Lemma 8, Algorithm 1, option I); the
         coefficients are an average, w ← (1 − θ)w + θ∇g*(u), which only the driver needs to know.

A scheme here is a function for partitions, which makes steps, and what the driver has to do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dualgap.compile.powers import decay_of
from dualgap.distributed.block import Block
from dualgap.distributed.engine import Crew
from dualgap.distributed.local import Occurrences, count, informed
from dualgap.distributed.proximal import Held, under
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, unknown
from dualgap.proof import terms
from dualgap.samplings.base import metric_squares
from dualgap.samplings.eso import distributed_factors
from dualgap.samplings.floyd import draw_subsets
from dualgap.steps.coordinate.block_epoch import block_epoch
from dualgap.steps.coordinate.epoch import NOBODY, epoch
from dualgap.steps.coordinate.views import LossConjugate, PenaltyConjugate, refuse_overflow
from dualgap.steps.requirements import lacks_for_dual
from dualgap.steps.sets import batch_kernels, block_batch
from dualgap.steps.sets.batch import DualSteps
from dualgap.steps.sets.quartz import WIDTH, Averages, U, lacks_for_rate
from dualgap.steps.sets.shared import SharedConjugate

_DONE_AT_ONCE = decay_of(1.0, 1)  # the pace of coefficients that nobody looks at
Steps = tuple[Floats, int, int]  # what u changes by, samples visited, samples that moved


# --- what partitions do --------------------------------------------------------------------------


def local_epochs(
    block: Block, a: Floats, u: Floats, epochs: int, rng: np.random.Generator
) -> Steps:
    """Passes over all samples, each in a new order."""
    orders = [rng.permutation(block.n) for _ in range(epochs)]
    return _moves(block, a, u, orders)


def local_batch(block: Block, a: Floats, u: Floats, tau: int, rng: np.random.Generator) -> Steps:
    """Steps on τ samples, one after the other."""
    return _moves(block, a, u, [_subset(block, tau, rng)])


def _moves(block: Block, a: Floats, u: Floats, orders: list[Any]) -> Steps:
    found = block.spread.parts
    shares = np.where(found > 0.0, found, found.max(initial=1.0))  # without entries, any would do
    even = bool((shares == shares[0]).all())
    if "moves" not in block.tables:
        scale = storage.divided(block.c, block.lam / shares[0] if even else block.lam)
        squares = metric_squares(block, np.ones(len(shares)) if even else shares)
        with np.errstate(over="ignore"):
            refuse_overflow(scale * squares)
        block.tables["moves"] = (scale, squares)
    smooth: Any
    if even:  # then u and the moves, times their share, are one vector: faster to read
        smooth, v = PenaltyConjugate(block.penalty), u.copy()
    else:
        each = np.repeat(shares, block.width)
        smooth, v = SharedConjugate(block.penalty, storage.read_only(u), each), np.zeros(len(u))
    scale, squares = block.tables["moves"]
    fixed = block.rows, smooth, LossConjugate(block.loss, block.y), scale, squares
    moved = 0
    for order in orders:
        state = order, a, v
        if block.width == 1:
            moved += epoch(*fixed, *state, NOBODY)[0]
        else:
            moved += block_epoch(*fixed, *state)[0]
    return (v - u) / shares[0] if even else v, sum(map(len, orders)), moved


def _subset(block: Block, tau: int, rng: np.random.Generator) -> Any:
    """τ samples of the partition, all sets equally likely; samples that it lacks to be as large as
    the largest one may be among them, and are left out."""
    return draw_subsets(block.n, block.shape.largest, rng.random((1, 1, tau)))[0]


def same_look(block: Block, a: Floats, u: Floats, tau: int, rng: np.random.Generator) -> Steps:
    """Steps on τ samples that all look at the same u."""
    order = _subset(block, tau, rng)
    cells = np.zeros(WIDTH * block.coef_size)
    cells[U::WIDTH] = u
    features = Averages(block.penalty, cells, _DONE_AT_ONCE, 0, True)
    samples = DualSteps(block.loss, block.y, _curvatures(block, tau), block.c / block.lam, a)
    scalars = block.width == 1
    amounts = np.empty(len(order) if scalars else (len(order), block.width))
    moved = (batch_kernels if scalars else block_batch).visit(
        block.rows, block.d, features, samples, order, np.array([0, len(order)]), 0, amounts
    )
    return cells[U::WIDTH] - u, len(order), moved


def _curvatures(block: Block, tau: int) -> Floats:
    """q_i = c_i v_i/λ with v of Lemma 8."""
    key = ("eso", tau)
    if key not in block.tables:
        spread: Occurrences = block.spread
        factors = distributed_factors(spread.samples, spread.parts, block.shape.largest, tau)
        block.tables[key] = block.curvatures(factors)
    q: Floats = block.tables[key]
    return q


def least_rate(
    block: Block, a: Floats, k: int, told: tuple[int, Held | None]
) -> tuple[float, Floats]:
    """min_i p_i γ/(γ + q_i) over the samples of a partition; those of weight 0 do not count."""
    tau, held = told
    block = under(block, held)
    gamma = block.loss.gamma
    rates = tau / block.shape.largest * gamma / (gamma + _curvatures(block, tau))
    return float(rates[block.c > 0.0].min(initial=np.inf)), a


# --- what the driver does ------------------------------------------------------------------------


class Mean:
    """The mean of coefficients over the later rounds. At kinks of the loss the last ones jump from
    side to side, and the objective of their mean is a few times closer to the optimum."""

    def __init__(self, size: int) -> None:
        self.sums, self.counts = np.zeros((2, size)), [0, 0]

    def add(self, w: Floats) -> None:
        if self.counts[1] >= max(1, 2 * self.counts[0]):
            self.sums[0], self.counts[0] = self.sums[1], self.counts[1]
            self.sums[1], self.counts[1] = 0.0, 0
        self.sums[1] += w
        self.counts[1] += 1

    @property
    def value(self) -> Floats:
        return np.asarray(self.sums.sum(axis=0) / sum(self.counts))


@dataclass
class Scheme:
    """Local epochs, and coefficients ∇g*(u)."""

    # Work for each second of an exchange: more local epochs hardly save rounds.
    hidden: ClassVar[float] = 1.0
    name: str = "cocoa+"
    steps: Any = local_epochs
    mean: Mean | None = None

    def refusal(self, frame: Block) -> str | None:
        return lacks_for_dual(frame)

    def first_work(self, frame: Block) -> int:
        """What to begin with if nobody says how much work a round should have."""
        return 1

    def most_work(self, frame: Block) -> int:
        return 32

    def visits(self, frame: Block, work: int) -> float:
        """How many samples a round visits."""
        return float(work * frame.shape.n)

    def start(self, crew: Crew) -> None:
        """Before the first round."""
        total = (sum(part) for part in zip(*crew.ask(count, None)))
        crew.transform(informed, Occurrences(*total))

    def before_round(
        self, crew: Crew, frame: Block, u: Floats, work: int, held: Held | None
    ) -> None:
        """What the coefficients do before partitions move; ``frame`` is under what is held."""
        if frame.loss.gamma == 0.0:
            self.mean = self.mean or Mean(frame.coef_size)
            self.mean.add(coefficients(frame, u))

    def points(self, frame: Block, u: Floats) -> tuple[Floats, ...]:
        """Coefficients worth judging, ∇g*(u) the last of them."""
        own = coefficients(frame, u)
        return (own,) if self.mean is None else (self.mean.value, own)

    def state(self) -> dict[str, Any]:
        """What a checkpoint has to keep besides u."""
        if self.mean is None:
            return {}
        return {"sums": self.mean.sums, "counts": tuple(self.mean.counts)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on with what a checkpoint has kept."""
        if state:
            self.mean = Mean(state["sums"].shape[1])
            self.mean.sums, self.mean.counts = state["sums"], list(state["counts"])


@dataclass
class Batches(Scheme):
    """τ samples of each partition."""

    hidden: ClassVar[float] = 5.0  # a larger τ does save rounds
    name: str = "disdca"
    steps: Any = local_batch

    def first_work(self, frame: Block) -> int:
        return max(1, frame.shape.largest // 64)

    def most_work(self, frame: Block) -> int:
        return frame.shape.largest

    def visits(self, frame: Block, work: int) -> float:
        return float(work * frame.shape.n / frame.shape.largest)


@dataclass
class QuartzScheme(Batches):
    """The same, with averaged coefficients."""

    name: str = "quartz"
    steps: Any = same_look
    rates: dict[Any, float] = field(default_factory=dict)
    w: Floats = field(default_factory=lambda: np.empty(0))

    def refusal(self, frame: Block) -> str | None:
        return lacks_for_rate(frame)

    def before_round(
        self, crew: Crew, frame: Block, u: Floats, work: int, held: Held | None
    ) -> None:
        key = (work, None if held is None else held.rho)
        if key not in self.rates:
            self.rates[key] = min(crew.ask(least_rate, (work, held)))
        own = coefficients(frame, u)
        self.w = self.w + self.rates[key] * (own - self.w) if self.w.size else own

    def points(self, frame: Block, u: Floats) -> tuple[Floats, ...]:
        own = coefficients(frame, u)
        return (self.w, own) if self.w.size else (own,)

    def state(self) -> dict[str, Any]:
        return {"w": self.w}

    def restore(self, state: dict[str, Any]) -> None:
        self.w = state["w"]


SCHEMES = {"cocoa+": Scheme, "disdca": Batches, "quartz": QuartzScheme}


def scheme_of(name: Any) -> Scheme:
    """The scheme of a name."""
    if not isinstance(name, str) or name not in SCHEMES:
        raise ValueError(unknown("scheme", str(name), SCHEMES))
    return SCHEMES[name]()


def coefficients(frame: Block, u: Floats) -> Floats:
    """∇g*(u)."""
    w = np.empty(len(u))
    terms.conj_slopes(frame.penalty, u, w)
    return w
