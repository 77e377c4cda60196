"""An intercept without a penalty, held by a proximal term (``steps/proximal_point.py``).

Each outer step adds (λρ/2)(b − centre)² to the objective, so that partitions see a penalty that is
strongly convex; after each look the centre moves to where the intercept is. The certificate is that
of the problem itself, whose dual points satisfy Σ c a = 0: it rests on the points a − t, brought
back into the domain of the loss, with the one t for which they do. Their sum falls as t grows, so
that a few exchanges of sums for many t at once find it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap import terms
from dualgap._validate import Floats
from dualgap.distributed.block import Block
from dualgap.linalg import storage
from dualgap.penalties.proximal import Proximal

# ρ, relative to what makes the intercept add to the curvature of a sample as much as all else does.
# At 1 partitions, which all share the intercept, take many rounds to agree on it.
_FIRM = 16.0
_EASY, _HARD = 0.1, 1.0  # gap of a step, over its proximal term, to make ρ smaller or larger
_CHANGE = 4.0
_PROMISE, _MARGIN = 0.3, 0.9  # what a gap must fall to, of the last one, to be worth a proof
_TRIALS, _POINTS = 40, 16
_DOUBLINGS = 60


class Held(NamedTuple):
    """Where the intercept is held, and how firmly."""

    rho: float
    centre: float


def under(block: Block, held: Held | None) -> Block:
    """The block with the penalty of an outer step."""
    if held is None:
        return block
    rho, centre = np.zeros((2, block.coef_size))
    rho[-1], centre[-1] = held
    penalty = Proximal(block.penalty, storage.read_only(rho), storage.read_only(centre))
    inner = block.with_penalty(penalty)
    assert isinstance(inner, Block)
    inner.__dict__["tables"] = block.tables.setdefault(held.rho, {})
    return inner


def firmness(squares: Floats, strength: Floats) -> float:
    """ρ with which the intercept adds to the curvature of a sample as much as all else does."""
    rest = float(np.sum(squares[:-1] / strength[:-1]))
    return float(squares[-1]) / rest if rest > 0.0 else 1.0


class Outer:
    """Outer steps: each look ends one, however well it is solved.

    Exact steps would take many rounds each, where loss and penalty are not what makes them hard.
    The gap of a step is, to first order, that of the problem once its dual variables are balanced:
    a proof, which takes several exchanges, waits until it is a third of the last one, or seems
    enough.
    """

    def __init__(self, rho: float, centre: float) -> None:
        self.held, self.most = Held(_FIRM * rho, centre), _FIRM * rho
        self.gap = self.proximal = self.due = np.inf
        self.still = False  # whether the centre is where it was

    def saw(self, lam: float, gap: float, intercept: float) -> None:
        """The gap and the intercept of this step, at a look."""
        away = intercept - self.held.centre
        self.gap, self.proximal = gap, 0.5 * lam * self.held.rho * away * away

    @property
    def _promise(self) -> float:
        return self.gap + 2.0 * self.proximal

    @property
    def is_due(self) -> bool:
        """Whether a proof is worth its time."""
        return self._promise <= self.due

    def proven(self, gap: float, target: float) -> None:
        """What a proof has found."""
        enough = _MARGIN * target / gap if gap > target else _MARGIN
        self.due = self._promise * max(_PROMISE, enough)

    def move(self, intercept: float) -> None:
        """On to the next step."""
        rho, centre = self.held
        if self.gap < _EASY * self.proximal:
            rho = rho / _CHANGE
        elif self.gap > _HARD * self.proximal:
            rho = min(_CHANGE * rho, self.most)
        self.still = intercept == centre
        self.held = Held(rho, intercept)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        seen = {"gap": self.gap, "proximal": self.proximal, "due": self.due, "still": self.still}
        return {**self.held._asdict(), **seen}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.held = Held(state["rho"], state["centre"])
        self.gap, self.proximal = state["gap"], state["proximal"]
        self.due, self.still = state["due"], state["still"]


# --- what partitions do -------------------------------------------------------------------------


def shifted(block: Block, a: Floats, t: float) -> Floats:
    """a − t, in the domain of the loss."""
    out = np.empty(len(a))
    terms.projections(block.loss, block.y, a - t, out)
    return out


def imbalances(block: Block, a: Floats, k: int, ts: Floats) -> tuple[Floats, Floats]:
    """Σ c (a − t) for each t."""
    return np.array([np.sum(block.c * shifted(block, a, t)) for t in ts]), a


def shift(block: Block, a: Floats, k: int, t: float) -> tuple[None, Floats]:
    """Make the shifted dual variables those of the partition."""
    return None, shifted(block, a, t)


def pulls(block: Block, a: Floats, k: int, bs: Floats) -> tuple[Floats, Floats]:
    """−Σ c φ'(b) for each b: where it is 0, b is the best intercept of a model without features."""
    out = np.empty(block.n)
    found = []
    for b in bs:
        terms.slopes(block.loss, block.y, np.full(block.n, b), out)
        found.append(np.sum(block.c * out))
    return np.array(found), a


def constants(block: Block, a: Floats, k: int, b: float) -> tuple[float, Floats]:
    """Σ c φ(b)."""
    return block.loss_value(np.full(block.n, b)), a


# --- what the driver does -------------------------------------------------------------------------


def falling_root(values: Callable[[Floats], Floats], stride: float, close: float) -> float:
    """Where a function that never rises is 0, up to ``close`` or as near as floats come."""
    at = float(values(np.zeros(1))[0])
    if abs(at) <= close:
        return 0.0
    direction = np.sign(at)
    far = direction * stride * 2.0 ** np.arange(_DOUBLINGS)
    beyond = np.flatnonzero(direction * values(far) <= 0.0)
    last = int(beyond[0]) if beyond.size else _DOUBLINGS - 1
    near, end = (far[last - 1] if last else 0.0), far[last]
    best = end
    for _ in range(_TRIALS):
        low, high = min(near, end), max(near, end)
        points = np.unique(np.concatenate([np.linspace(low, high, _POINTS), [best]]))
        found = values(points)
        if abs(found).min() <= close:
            return float(points[np.argmin(abs(found))])
        above = np.flatnonzero(found > 0.0)
        left = points[above[-1]] if above.size else low
        right = points[above[-1] + 1] if above.size and above[-1] + 1 < len(points) else high
        if not above.size or (left, right) == (low, high):
            return float(points[np.argmin(abs(found))])
        rise = found[above[-1]] - found[above[-1] + 1]
        best = left + (right - left) * (found[above[-1]] / rise if rise > 0.0 else 0.5)
        near, end = left, right
    return float(best)
