"""Newton steps on sums over partitions, for one decision value, or for many with whole Hessians."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.distributed.driver.facts import DriverFacts
from dualgap.distributed.driver.moves import Moves
from dualgap.distributed.schemes.exchanges import Exchanges
from dualgap.distributed.schemes.newton_sums import PartitionedLosses, SampleSumsProblem, Slopes
from dualgap.linalg.validate import Floats
from dualgap.steps.base import Setting, Start, vector
from dualgap.steps.newton.newton import NewtonRun


class NewtonMoves(Moves):
    """``NewtonRun`` with ``PartitionedLosses``."""

    def __init__(
        self,
        facts: DriverFacts,
        exchanges: Exchanges,
        width: float,
        w: Floats,
        setting: Setting,
        *,
        by_products: bool,
    ) -> None:
        problem: Any = SampleSumsProblem(facts)
        self.exchanges, self.size = exchanges, facts.skeleton.coef_size
        self.partitioned = PartitionedLosses(problem, exchanges, width, by_products=by_products)
        self.run = NewtonRun(problem, Start(coef=w), setting, self.partitioned)
        self.run.steps_at_once = 1

    @property
    def staged(self) -> bool:  # type: ignore[override]
        return self.partitioned.q > 0.0

    @property
    def w(self) -> Floats:
        w: Floats = self.run.descent.w  # the driver compares by identity
        return w

    @property
    def u(self) -> Floats:
        return np.asarray(self.run.descent.u)

    @property
    def losses(self) -> float:
        return self.partitioned.sums(self.run.descent.response.b).value

    def advance(self) -> bool:
        return self.run.advance(None)[0] > 0

    def end_stage(self) -> bool:
        return self.run.end_stage()

    def expected_gap(self) -> float:
        at = self.run.descent
        moved = self.partitioned.multiplier_move(at.response.b)
        return float(at.decrement + at.coefficient_gap() + moved) + self._cost_of_bounds()

    def _cost_of_bounds(self) -> float:
        """About what it costs the dual objective to shrink dual variables until |u| ≤ l1."""
        at = self.run.descent
        l1, l2 = at.shape.l1, at.shape.l2
        bounded = (l1 > 0.0) & (l2 == 0.0) & (at.shape.low < 0.0) & (at.shape.high > 0.0)
        if not bounded.any():
            return 0.0
        excess = float(np.max(np.abs(at.u[bounded]) / l1[bounded])) - 1.0
        return max(excess, 0.0) * self.run.problem.lam * float(np.sum(l1 * np.abs(at.w)))

    def adopt(self) -> None:
        at = self.run.descent
        self.partitioned.adopt(at.response.b, self.partitioned.q)
        at.accept(self.partitioned.respond(at.response.z))

    def refresh(self) -> None:
        self.partitioned.forget()
        self.run.refresh()

    def state(self) -> dict[str, Any]:
        at = self.run.descent
        b: Any = at.response.b  # a name for them, of the kind ``Slopes``
        return {
            "base": b.base,
            "move": b.move,
            "length": b.length,
            "losses": self.partitioned.state(),
            "damping": at.damping,
            "decrement": at.decrement,
            "steps": self.run.steps,
            "systems": at.systems and at.systems.state(),
        }

    def resume(self, state: dict[str, Any]) -> None:
        self.partitioned.restore(state["losses"])
        self.refresh()
        at = self.run.descent
        base, move = (vector(state, name, self.size) for name in ("base", "move"))
        at.accept(self.partitioned.response(Slopes(base, move, state["length"])))
        at.damping, at.decrement = state["damping"], state["decrement"]
        self.run.steps = state["steps"]
        if at.systems and state["systems"]:
            at.systems.restore(state["systems"])
