"""Newton steps for many classes, by products with the Hessian: ``NewtonCGRun`` over partitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.distributed.driver.facts import DriverFacts
from dualgap.distributed.driver.moves import Moves
from dualgap.distributed.messages import compact
from dualgap.distributed.schemes.class_sums import PartitionedClasses, PartitionedSystem
from dualgap.distributed.schemes.exchanges import Exchanges
from dualgap.distributed.schemes.newton_sums import SampleSumsProblem
from dualgap.distributed.schemes.newton_tasks import Question, adopt_slopes
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.steps.base import Setting
from dualgap.steps.newton_cg.newton_cg import NewtonCGRun


class ClassMoves(Moves):
    """``NewtonCGRun`` with ``PartitionedClasses``."""

    def __init__(
        self,
        facts: DriverFacts,
        exchanges: Exchanges,
        w: Floats,
        setting: Setting,
        sample: Problem | None,
    ) -> None:
        """``sample`` of all partitions, for a preconditioner."""
        problem: Any = SampleSumsProblem(facts)
        self.exchanges, self.problem = exchanges, problem
        self.own = PartitionedClasses(exchanges, problem.d, problem.width)
        l2 = problem.penalty_shape.l2.reshape(problem.d, problem.width)
        self.system = PartitionedSystem(problem, self.own, l2, sample)
        self.run = NewtonCGRun(problem, w, setting, self.own, self.own, self.system)

    @property
    def w(self) -> Floats:
        return self.run.W.ravel()

    @property
    def u(self) -> Floats:
        return np.asarray(self.run._evaluated().slopes.ravel() / -self.problem.lam)

    @property
    def losses(self) -> float:
        return self.run._evaluated().value

    def advance(self) -> bool:
        with single_threaded_blas():
            length, _ = self.run.step()
        return length > 0.0

    def expected_gap(self) -> float:
        return float(self.run.decrement + self.run._gap())

    def adopt(self) -> None:
        w = self.w
        question = Question(compact(w), compact(np.zeros_like(w)), 0.0, 0.0)
        self.exchanges.run(adopt_slopes, (question, 0.0), question.nbytes)

    def refresh(self) -> None:
        self.own.forget()
        self.run.refresh()

    def state(self) -> dict[str, Any]:
        return {"decrement": self.run.decrement, "system": self.system.state()}

    def resume(self, state: dict[str, Any]) -> None:
        self.refresh()
        self.run.decrement = state["decrement"]
        with single_threaded_blas():
            self.system.restore(state["system"])
