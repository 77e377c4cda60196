"""Coefficients held by a proximal term (``steps/proximal_point.py``).

Partitions need a penalty that is strongly convex. Where it is not, each outer step adds
(λρ/2)‖w − centre‖² to the objective: of an intercept without a penalty alone, if all else is
strongly convex, or of all coefficients, under L1. After each look the centre moves to where the
coefficients are. The certificate is that of the problem itself (``dual_change.py``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.distributed.block import Block
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.penalties.proximal import Proximal
from dualgap.steps.base import vector

# ρ of an intercept, relative to what makes it add to the curvature of a sample as much as all else
# does. At 1 partitions, which all share the intercept, take many rounds to agree on it.
_FIRM = 16.0
_EASY, _HARD = 0.1, 1.0  # gap of a step, over its proximal term, to make ρ smaller or larger
_CHANGE = 4.0
_PROMISE, _MARGIN = 0.3, 0.9  # what a gap must fall to, of the last one, to be worth a proof


class Held(NamedTuple):
    """How firmly, and where the last so many coefficients are held; ``firm``: how many times as
    firmly an intercept is, or one for each class."""

    rho: float
    centre: Floats
    firm: float = 1.0

    def each(self, width: int) -> Floats:
        """ρ of each of them."""
        rho = np.full(len(self.centre), self.rho)
        rho[-width:] *= self.firm
        return rho


def under(block: Block, held: Held | None) -> Block:
    """The block with the penalty of an outer step."""
    if held is None:
        return block
    rho, centre = np.zeros((2, block.coef_size))
    rho[-len(held.centre) :] = held.each(block.width)
    centre[-len(held.centre) :] = held.centre
    penalty = Proximal(block.penalty, storage.read_only(rho), storage.read_only(centre))
    inner = block.with_penalty(penalty)
    assert isinstance(inner, Block)
    inner.__dict__["tables"] = block.tables.setdefault(held.rho, {})
    return inner


def count_held(frame: Block) -> int:
    """How many of the last coefficients have to be held: none, intercepts, or all."""
    if frame.least_strength > 0.0:
        return 0
    others = frame.features.strength[: -frame.width]
    few = frame.intercept is True and others.min(initial=np.inf) > 0.0
    return frame.width if few else frame.coef_size


class Outer:
    """Outer steps: each look ends one, however well it is solved.

    Exact steps would take many rounds each, where loss and penalty are not what makes them hard.
    The gap of a step is, to first order, that of the problem once its dual variables are feasible:
    a proof, which takes several exchanges, waits until it is a third of the last one, or seems
    enough.
    """

    def __init__(self, held: Held, most: float, width: int) -> None:
        self.held, self.most, self.width = held, most, width
        self.gap = self.proximal = self.due = np.inf
        self.still = False  # whether the centre is where it was

    def own(self, w: Floats) -> Floats:
        """What is held of coefficients."""
        return w[-len(self.held.centre) :]

    def saw(self, lam: float, gap: float, w: Floats) -> None:
        """The gap and the coefficients of this step, at a look."""
        away = self.own(w) - self.held.centre
        self.gap = gap
        self.proximal = 0.5 * lam * float(np.sum(self.held.each(self.width) * away * away))

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

    def move(self, w: Floats) -> None:
        """On to the next step."""
        rho, centre, _ = self.held
        if self.gap < _EASY * self.proximal:
            rho = rho / _CHANGE
        elif self.gap > _HARD * self.proximal:
            rho = min(_CHANGE * rho, self.most)
        own = self.own(w).copy()
        self.still = np.array_equal(own, centre)
        self.held = self.held._replace(rho=rho, centre=own)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        seen = {"gap": self.gap, "proximal": self.proximal, "due": self.due, "still": self.still}
        return {"rho": self.held.rho, "centre": self.held.centre, **seen}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        centre = vector(state, "centre", len(self.held.centre))
        self.held = self.held._replace(rho=state["rho"], centre=centre)
        self.gap, self.proximal = state["gap"], state["proximal"]
        self.due, self.still = state["due"], state["still"]


def outer_of(frame: Block, squares: Floats, scale: float, w: Floats) -> Outer | None:
    """The first outer step, with its centre at w; None if the penalty needs none.

    ``squares``: Σ x² of each feature; ``scale``: P(0). As ``steps/proximal_point.py`` has it.
    """
    count = count_held(frame)
    if count == 0:
        return None
    n, free = frame.shape.n, frame.intercept is True
    if count < frame.coef_size:
        strength = frame.features.strength.reshape(frame.d, -1).min(axis=1)
        rho = _firmness(squares, strength[:-1])
        return Outer(Held(rho, w[-count:].copy()), rho, frame.width)
    q = scale / float(frame.loss.lipschitz) ** 2
    q = q if 0.0 < q < np.inf else 1.0
    rho = max(float(np.sum(squares)) / (n * n * frame.lam * q), 1e-12)
    firm = _firmness(squares, 1.0) if free else 1.0
    return Outer(Held(rho, w.copy(), firm), np.inf, frame.width)


def _firmness(squares: Floats, strength: Any) -> float:
    """ρ of an intercept, where other features have some strength."""
    rest = float(np.sum(squares[:-1] / strength))
    return _FIRM * (float(squares[-1]) / rest if rest > 0.0 else 1.0)
