"""The laws of steps: pairs are the problem's, bounds hold, runs converge, resume and end."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from dualgap.methods import METHODS, Method
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Certificate, Pair, evaluate
from dualgap.proof.goal import Goal
from dualgap.run.solution import Status
from dualgap.run.solve import solve
from dualgap.samplings.base import Sampling, checked_draw, checked_weights
from dualgap.steps.base import Run, Setting, Start, as_run
from dualgap.testing._common import holds

_TOL = 1e-4  # of the solves
_MAX_EPOCHS = 30_000  # in which a step that converges at all should get there


def check_step(
    step: Any,
    problem: Problem,
    epochs: int = 5,
    seed: int = 0,
    sampling: Sampling | None = None,
    optimum: float | None = None,
) -> None:
    """Raise AssertionError if a step breaks a law on a problem that it accepts.

    ``sampling``: by default that of ``solve(problem, step)``. ``optimum``: the smallest objective
    of the problem, if it is known from elsewhere; by default that of ``method="auto"``.
    """
    refusal = step.refusal(problem)
    holds(refusal is None, "the step must accept the problem", says=refusal)
    sampling = METHODS[step.usual].sampling if sampling is None else sampling
    refusal = step.sampling_refusal(sampling) or sampling.refusal(problem, step.view_of(problem))
    holds(refusal is None, "the step must accept the sampling", says=refusal)
    holds(step.describe(problem), "the step must describe itself in words", step=step)
    _check_pairs(_Driver(step, problem, sampling, seed), epochs)
    _check_resuming(step, problem, sampling, seed)
    _check_solves(problem, Method(step, sampling), seed, optimum)


class _Driver:
    """A run with its draws, as the loop makes them."""

    def __init__(self, step: Any, problem: Problem, sampling: Sampling, seed: int) -> None:
        self.problem, self.sampling = problem, sampling.bind(problem)
        self.own, self.draws = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        setting = Setting(self.sampling, Goal.of(problem, _TOL), rng=self.own)
        self.run: Run = as_run(step.start(problem, Start(), setting))

    def evaluated(self) -> tuple[Pair, Certificate]:
        pair = self.run.pair()
        return pair, evaluate(self.problem, pair)

    def round(self) -> None:
        if self.run.full_pass:
            result = self.run.advance(None)
            holds(len(result) == 3, "advance must return three numbers", result=result)
        else:
            weights = checked_weights(self.sampling, self.run.scores(*self.evaluated()))
            if not weights.any():
                return  # all coordinates are optimal
            drawn = checked_draw(self.sampling, weights, self.run.size, self.draws)
            result = self.run.advance(drawn.order, drawn.offsets)
            holds(len(result) == 2, "advance must return two numbers", result=result)
        holds(min(result) >= 0, "moves and operations are counted from 0", result=result)
        self.run.adapt(*self.evaluated())


def _check_pairs(driver: _Driver, epochs: int) -> None:
    problem = driver.problem
    bounds, objectives = [], []
    for _ in range(epochs):
        driver.round()
        pair, certificate = driver.evaluated()
        image, average = problem.decision(pair.w), problem.average(pair.a)
        holds(np.allclose(pair.z, image, rtol=1e-9, atol=1e-9), "z must be X w", z=pair.z)
        holds(np.allclose(pair.u, average, rtol=1e-9, atol=1e-9), "u must be Σ c a x/λ", u=pair.u)
        feasible = np.empty(problem.dual_size)
        terms.projections(problem.loss, problem.y, pair.a, feasible)
        holds((feasible == pair.a).all(), "the dual point must be feasible", a=pair.a)
        bounds.append(certificate.dual)
        objectives.append(certificate.primal)
    holds(max(bounds) <= min(objectives) + 1e-9, "no bound may exceed an objective", bounds=bounds)
    best = min(objectives) - problem.least
    holds(best < problem.scale, "a step must make progress", objectives=objectives)
    driver.run.release_memory()
    driver.run.refresh()
    after = driver.evaluated()[1]
    close = np.isclose(after.primal, objectives[-1], rtol=1e-6, atol=1e-9 * problem.scale)
    holds(close, "refresh must not change the point", before=objectives[-1], after=after.primal)
    driver.run.close()


def _check_resuming(step: Any, problem: Problem, sampling: Sampling, seed: int) -> None:
    """A run that is restored from ``state()`` continues bit for bit."""
    first, second = (_Driver(step, problem, sampling, seed) for _ in range(2))
    for _ in range(2):
        first.round()
    first.evaluated()
    state = copy.deepcopy(first.run.state())
    if state is not None:
        for name in ("own", "draws"):
            random = getattr(first, name).bit_generator.state
            getattr(second, name).bit_generator.state = copy.deepcopy(random)
        second.run.restore(state)
        for _ in range(2):
            first.round()
            second.round()
        one, two = first.run.pair(), second.run.pair()
        same = np.array_equal(one.w, two.w) and np.array_equal(one.a, two.a)
        holds(same, "restore(state()) must continue bit for bit", one=one.w, two=two.w)
    first.run.close()
    second.run.close()


def _check_solves(problem: Problem, method: Method, seed: int, optimum: float | None) -> None:
    if optimum is None:
        optimum = solve(problem, tol=1e-9).certificate.primal
    options: dict[str, Any] = {"tol": _TOL, "max_epochs": _MAX_EPOCHS, "random_state": seed}
    cold, again = (solve(problem, method, **options) for _ in range(2))
    holds(cold.converged, "the step must reach a relative gap of 1e-4", solution=str(cold))
    holds(np.array_equal(cold.coef, again.coef), "the same seed must give the same bits")
    warm = solve(problem, method, warm_start=cold, **options)
    holds(warm.converged, "the step must converge from a warm start", solution=str(warm))
    for found in (cold, warm):
        bound, objective = found.certificate.dual, found.certificate.primal
        slack = 1e-9 * problem.scale
        holds(bound <= optimum + slack, "the bound must hold", bound=bound, optimum=optimum)
        holds(objective >= optimum - slack, "no objective is below the optimum", found=objective)
    ends = (Status.MAX_EPOCHS, Status.CONVERGED, Status.STALLED)
    for limit in (0, 1, 3):
        short = solve(problem, method, tol=0.0, max_epochs=limit, random_state=seed)
        holds(short.status in ends, "a short run must end as others do", status=short.status)
        holds(
            len(short.history) <= limit + 1,
            "max_epochs must be respected",
            max_epochs=limit,
            rounds=len(short.history) - 1,
        )
