"""L-BFGS: SciPy's L-BFGS-B, one of its iterations at a time.

Its variables are the coefficients; one with an L1 part that may have either sign is split into
w = p − m with p, m ≥ 0, where l1·|w| becomes l1·(p + m), and constraints become bounds. SciPy's
own stopping tests are switched off: the gap decides. Where it finds no lower value any more it
restarts with an empty memory, since a memory longer than the problem has dimensions can become
singular; where that does not help either, as at the level of rounding errors, the run stands still.

Products: two (one with X, one with Xᵀ) per evaluation; an iteration mostly takes one evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats, whole
from dualgap.penalties.structure import Shape, shape_of
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Pair
from dualgap.steps.base import FullPass, FullPassRun, Setting, Start
from dualgap.steps.rivals.handover import Giver, Handover

_UNLIMITED = 2**31 - 1  # iterations and evaluations: the loop decides when to stop
# Where e^z overflows, SciPy's line search still needs numbers to interpolate between.
_HUGE = 1e100


@dataclass(frozen=True)
class LBFGS(FullPass):
    """SciPy's L-BFGS-B with so many pairs of ``memory``."""

    memory: int = 30

    usual = "lbfgs"

    def __post_init__(self) -> None:
        whole(self.memory, "memory", 1)

    def refusal(self, problem: Problem) -> str | None:
        shaped = shape_of(problem.penalty, problem.coef_size) is not None
        refusals = [super().refusal(problem), None if shaped else _unknown(problem.penalty)]
        return " and ".join(filter(None, refusals)) or None

    def describe(self, problem: Problem) -> str:
        return f"SciPy's L-BFGS-B with memory {self.memory}"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> LBFGSRun:
        w = problem.features.origin if warm.coef is None else warm.coef
        return LBFGSRun(ScaledObjective(problem), w, self.memory)


def _unknown(penalty: Any) -> str:
    return (
        f"the penalty {type(penalty).__name__} is not made of L1 and L2 parts, weights and bounds, "
        "which is all that L-BFGS-B can be told"
    )


class Iterate(NamedTuple):
    """What an iteration hands over: the point, and the products since the last one."""

    pair: Pair
    products: int


class ScaledObjective:
    """P as a smooth function of SciPy's variables: w, then m of the features that are split.

    SciPy's first step has length 1. In units of 1/``unit`` that moves an average z by about 1 at
    most; a power of two makes no rounding errors, so that bounds are met exactly.
    """

    def __init__(self, problem: Problem) -> None:
        shape = shape_of(problem.penalty, problem.d)
        assert isinstance(shape, Shape)  # others were refused
        self.problem, self.l2 = problem, shape.l2
        size = float(np.sqrt(np.sum(problem.c * problem.row_squares)))
        self.unit = 2.0 ** np.round(np.log2(size)) if size > 0.0 else 1.0
        either = (shape.low < 0.0) & (shape.high > 0.0)
        self.split = np.flatnonzero(either & (shape.l1 > 0.0))
        low = np.concatenate([shape.low, np.zeros(len(self.split))])
        low[self.split] = 0.0
        high = np.concatenate([shape.high, -shape.low[self.split]])
        self.bounds = np.column_stack([low, high]) * self.unit
        sign = np.where(shape.high <= 0.0, -1.0, 1.0)
        self.linear = np.concatenate([sign * shape.l1, shape.l1[self.split]])
        self.products = 0

    def variables(self, w: Floats) -> Floats:
        x = np.concatenate([w, np.maximum(-w[self.split], 0.0)])
        x[self.split] = np.maximum(w[self.split], 0.0)
        return np.asarray(x * self.unit)

    def pair(self, x: Floats) -> Pair:
        problem = self.problem
        w = x[: problem.d] / self.unit
        w[self.split] -= x[problem.d :] / self.unit
        z, a = problem.decision(w), np.empty(problem.n)
        terms.slopes(problem.loss, problem.y, z, a)
        self.products += 2
        with np.errstate(over="ignore", invalid="ignore"):
            return Pair(w, a, z, problem.average(a), u_anew=True)

    def value(self, x: Floats, pair: Pair) -> tuple[float, Floats]:
        """P and its gradient."""
        lam = self.problem.lam
        with np.errstate(over="ignore", invalid="ignore"):
            curved = self.l2 * pair.w
            penalty = float(np.sum(0.5 * curved * pair.w) + np.sum(self.linear * x) / self.unit)
            value = self.problem.loss_value(pair.z) + lam * penalty
            slope = lam * (curved - pair.u)
            gradient = np.concatenate([slope, -slope[self.split]]) + lam * self.linear
            gradient /= self.unit
        value = min(value, _HUGE) if value == value else _HUGE
        return value, np.clip(np.nan_to_num(gradient, nan=_HUGE), -_HUGE, _HUGE)


class LBFGSRun(FullPassRun):
    """A run; SciPy's loop is on the other side of ``iterates``."""

    def __init__(self, objective: ScaledObjective, w: Floats, memory: int) -> None:
        super().__init__(objective.problem)
        x = objective.variables(w)
        self.current = first = objective.pair(x)
        # Without a reference to this run: a worker that kept it alive would never end.
        self.iterates: Handover[Iterate] = Handover(
            lambda giver: _minimise(objective, x, first, memory, giver)
        )

    def pair(self) -> Pair:
        return self.current

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """One iteration of SciPy's: whether it moved, vector operations, and updates' worth."""
        iterate = next(self.iterates, None)
        if iterate is None:
            return 0, 0, 0.0
        moved = bool((iterate.pair.w != self.current.w).any())
        self.current = iterate.pair
        return int(moved), *self.worth(iterate.products)

    def close(self) -> None:
        self.iterates.close()


def _minimise(
    objective: ScaledObjective, x: Floats, first: Pair, memory: int, giver: Giver[Iterate]
) -> None:
    """SciPy's loop, from x with its pair ``first``."""
    from scipy.optimize import minimize  # late: it is slow to import

    seen = [(x.copy(), first)]  # an iterate is the last point that was evaluated

    def pair_at(x: Floats) -> Pair:
        if not np.array_equal(seen[0][0], x):
            giver.check()
            seen[:] = [(x.copy(), objective.pair(x))]
        return seen[0][1]

    def hand_over(x: Floats) -> None:
        pair = pair_at(x)
        products, objective.products = objective.products, 0
        giver.give(Iterate(pair, products))

    def evaluate(x: Floats) -> tuple[float, Floats]:
        return objective.value(x, pair_at(x))

    lowest = np.inf
    value = evaluate(x)[0]
    while value < lowest:
        lowest = value
        found = minimize(
            evaluate,
            x,
            jac=True,
            method="L-BFGS-B",
            bounds=objective.bounds,
            callback=hand_over,
            options={
                "maxcor": memory,
                "ftol": 0.0,
                "gtol": 0.0,
                "maxiter": _UNLIMITED,
                "maxfun": _UNLIMITED,
            },
        )
        x, value = found.x, float(found.fun)
