"""When all steps of a run are one call of a kernel (``small_steps.py``), and how it is called."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile import first_use
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.losses.softmax import Softmax
from dualgap.problem import Problem
from dualgap.steps.newton_cg.losses_at import ClassResponse
from dualgap.steps.newton_cg.small_steps import ClassData, ClassState, descend_classes
from dualgap.steps.newton_cg.tuning import TUNING


class SmallRound(NamedTuple):
    """Where a call of the kernel has led: W, the losses there, the damping, what the last step
    promised, the number of steps, and whether they have moved anything."""

    W: Floats
    at: ClassResponse
    damping: float
    decrement: float
    steps: int
    moved: bool


class SmallSteps:
    """The data of a problem as the kernel reads them."""

    def __init__(self, problem: Problem, quadratic: Floats, largest: Floats, y: Any) -> None:
        X = problem.X.toarray() if storage.is_sparse(problem.X) else problem.X
        X = storage.read_only(np.ascontiguousarray(X, dtype=np.float64))
        self.data = ClassData(
            X, problem.constant, problem.intercept is True, y, problem.c,
            np.ascontiguousarray(quadratic.T), largest.ravel(),
        )  # fmt: skip

    def descend(
        self, W: Floats, z: Floats, damping: float, decrement: float, enough: float, most: int
    ) -> SmallRound:
        """Make at most so many steps from W, until the expected gap is small ``enough``."""
        state = ClassState(W.T.copy(), z.T.copy(), np.empty(z.shape[::-1]), np.empty(3))
        state.numbers[:2] = damping, decrement
        with np.errstate(over="ignore", invalid="ignore"):
            steps, moved = descend_classes(self.data, state, enough, most)
        damping, decrement, value = state.numbers.tolist()
        at = ClassResponse(np.ascontiguousarray(state.z.T), value, state.slopes.T)
        return SmallRound(np.ascontiguousarray(state.W.T), at, damping, decrement, steps, moved)


def suits_one_call(problem: Problem) -> bool:
    """Whether NumPy's calls would cost more than what BLAS saves, and the kernel is compiled.

    Besides, it knows only the softmax loss, a free intercept, and classes that have samples.
    """
    if not isinstance(problem.loss, Softmax) or storage.is_on_disk(problem.X):
        return False
    n, d, width = problem.n, problem.d, problem.width
    work = 0.25 * n * d * d * width * (width - 1) + (d * width) ** 3 / 6.0
    if work > TUNING.one_call_work or n * width > TUNING.one_call_values:
        return False
    if first_use.may_interpret(()):  # NumPy takes a quarter of the time of plain Python
        return False
    own = width if problem.intercept is True else 0
    return len(problem.free_places) == own and not problem.classes_without_weight.any()
