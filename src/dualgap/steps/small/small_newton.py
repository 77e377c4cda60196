"""Newton's method on augmented Lagrangians for small dense data: a run is a call or two.

On a few hundred samples a step takes microseconds, and calling NumPy for each of its parts a
hundred times as long. So all steps are made in one kernel (``descend.py``), up to where the gap
must be small enough, and the gap check that follows is the proof.

Cost of a step: n·d²/2 for the Hessian, d³/6 for a system. Rate: that of ``newton``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.compile.rules import curvature
from dualgap.linalg.parallel import single_threaded_blas
from dualgap.linalg.storage import are_equal
from dualgap.problem import Problem
from dualgap.problem.baseline import origin
from dualgap.proof.certificate import Certificate, Pair
from dualgap.proof.goal import LEAST_SHARE
from dualgap.steps.base import FullPass, FullPassRun, Setting, Start, dual_start, shape_refusal
from dualgap.steps.newton.first_width import first_width
from dualgap.steps.newton.tuning import TUNING
from dualgap.steps.small.descend import NOTHING, U_ALONE, Data, SmallGoal, State, descend
from dualgap.steps.small.normal_equations import normal_equations

_STEPS = 50  # of one call; a call takes milliseconds, after which Python looks for Ctrl-C
# Features up to which the Hessian of a quadratic loss needs no BLAS. 20,640 × 8: 74 µs (137 and one
# more pass), 1797 × 64: 182 (195), 2000 × 200: 1090 (1590).
_SHORT_ROW = 200
_SHARPER = 0.01  # by which a run is made more accurate if a gap check has missed the target
_SHARPEST = 1e-6  # beyond that, rounding errors are to blame


@dataclass(frozen=True)
class SmallNewton(FullPass):
    """Newton steps on augmented Lagrangians, compiled as a whole."""

    usual = "small-newton"
    is_random = False

    def refusal(self, problem: Problem) -> str | None:
        if problem.small_rows is None:
            return (
                "the data are not small, there are several decision values for each "
                "sample, or features other than the intercept have no penalty"
            )
        return None if problem.penalty_shape is not None else shape_refusal(problem)

    def describe(self, problem: Problem) -> str:
        return "Newton steps on augmented Lagrangians, compiled as a whole"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> SmallNewtonRun:
        return SmallNewtonRun(problem, warm, setting)


class SmallNewtonRun(FullPassRun):
    """A run; its state is that of ``descend``, which changes it in place. No checkpoint keeps that:
    runs of milliseconds resume from their best pair."""

    checks_are_proofs = ends_at_once = True

    def __init__(self, problem: Problem, warm: Start, setting: Setting) -> None:
        self.problem, self.size = problem, problem.n
        shape = problem.penalty_shape
        assert shape is not None  # other penalties are refused
        loss, n, d = problem.loss, problem.n, problem.d
        self.setting, self.shape = setting, shape
        self.starts_at_zero = warm.coef is None
        first = origin(problem) if warm.coef is None else warm.coef
        w = np.clip(first, shape.low, shape.high) if shape.kinked else first.copy()
        a = dual_start(problem, warm.dual) if warm.dual is not None else np.zeros(n)
        q = 0.0 if loss.differentiable else first_width(problem)
        flat = q > 0.0 or shape.kinked
        damping = TUNING.first_damping if flat else TUNING.least_damping
        numbers = np.array([q, TUNING.least_width * q, damping, 0.0, NOTHING])
        z, b = np.empty((2, n))
        self.state_now = State(a, w, z, b, np.empty(d), np.empty((d, d)), numbers)
        self.data = Data(
            problem.small_rows, problem.constant, problem.y, problem.c, problem.lam,
            problem.mean_squares(),
        )  # fmt: skip
        if loss.quadratic:
            self._compute_hessian()
        self.sharpness = 1.0
        self.widest = q
        self.made = 0  # steps so far
        self.may_end = False  # until a call of the kernel ends by itself

    def _compute_hessian(self) -> None:
        """The Hessian of a quadratic loss, which never changes; with u, if w is a constant."""
        data, state, p = self.data, self.state_now, self.problem.p
        equal = are_equal(data.c)
        if p <= _SHORT_ROW:
            z = data.constant * state.w[-1] if data.constant > 0.0 else 0.0
            normal_equations(self.problem.loss, data, equal, z, state.hessian, state.u)
            state.numbers[4] = NOTHING if state.w[:p].any() else U_ALONE
            return
        X, H = data.X, state.hessian
        h = data.c * float(curvature(self.problem.loss, 0.0, 0.0))
        with single_threaded_blas():
            H[:p, :p] = h[0] * (X.T @ X) if equal else X.T @ (h[:, None] * X)
            if self.problem.has_intercept:
                H[p, :p] = H[:p, p] = data.constant * (h @ X)
                H[p, p] = data.constant**2 * np.sum(h)

    @property
    def rounds(self) -> int:  # type: ignore[override]
        """Each step counts as one."""
        return self.made if self.made_already is None else 0

    def pair(self) -> Pair:
        if self.state_now.numbers[4] in (NOTHING, U_ALONE):  # evaluates the start
            self._descend(0)
        now = self.state_now
        return Pair(now.w.copy(), now.b.copy(), now.z, now.u)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        if self.made_already is not None:
            return self.taken_back()  # type: ignore[no-any-return]
        left = _STEPS
        if self.setting.max_epochs is not None:
            left = min(left, self.setting.max_epochs - self.made)
        most = 1 if self.setting.watched else left
        steps, end = self._descend(most)
        self.made += steps
        self.may_end = end != 0
        operations = self.size * steps * (4 + self.problem.d)
        return int(end >= 0), operations, operations / 2

    def _descend(self, most: int) -> tuple[int, int]:
        loss, goal = self.problem.loss, self.setting.goal
        small = SmallGoal(0.0, 0.0, 0.0, self.problem.scale)
        if goal is not None:
            relative = goal.relative_to == "optimum"
            floor = LEAST_SHARE * goal.scale if relative else goal.scale
            tol, share = goal.tol * self.sharpness, float(relative)
            small = SmallGoal(share * tol, goal.least, tol * floor, goal.scale)
        return descend(
            loss, float(loss.gamma), _flag(loss.quadratic), _flag(not loss.differentiable),
            self.data, tuple(self.shape), self.shape.kinked, self.state_now, small, most,
        )  # fmt: skip

    def refresh(self) -> None:
        """After a proof that has missed the target: be more accurate."""
        self.sharpness *= _SHARPER

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """Where the gap exceeds what the kernel has promised: be more accurate, then round off
        more, so that rounding errors of z matter less."""
        goal = self.setting.goal
        if goal is None or not self.may_end or certificate.gap <= goal.gap(certificate.dual):
            return False
        if self.sharpness > _SHARPEST:
            self.sharpness *= _SHARPER
            return True
        now = self.state_now
        wider = min(TUNING.widening * now.numbers[0], self.widest)
        if not wider > now.numbers[0]:
            return False
        now.a[:] = now.b
        now.numbers[[0, 1]] = wider
        now.numbers[3], now.numbers[4] = 0.0, NOTHING  # a new stage, whose slopes are unknown
        return True


def _flag(holds: bool) -> bool | None:
    """As kernels take what is known when they are compiled."""
    return True if holds else None
