"""SPDC: stochastic primal-dual coordinate steps on the saddle function (Zhang, Xiao 2015).

Algorithms 1 and 2, for batches of m with p_i = m/n, or single samples with any fixed p_i:
    a_i ← argmax −φ*(−b) − x_i·w̄ b − (q_i/2)(b − a_i)²,   q_i = 1/σ (batch) or p_i n/σ (single)
    w⁺ = prox_{τλg}(w + τλ(u + Σ_i c_i Δ_i x_i/(λp_i))),   u ← u + Σ_i c_i Δ_i x_i/λ
    w̄ = w⁺ + θ(w⁺ − w)
Theorems 1 and 2: with the step sizes below the squared distance to the saddle point shrinks by θ in
every iteration, 1/(1 − θ) = n/m + R√(n/(mλγ)): accelerated, where SDCA needs n + R²/(λγ).
A loss that is not smooth gets δ_a/2·a² added to φ*, a penalty that is not strongly convex δ_w/2·w²
to λg (section 3.1); the certificate is that of the problem as given.
Cost of an iteration: O(entries of the rows in S): k steps of an untouched coefficient are one
``glide`` (section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.powers import decay_of
from dualgap.compile.prefetch import aligned_zeros
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, number, positive
from dualgap.penalties.l2 import L2
from dualgap.penalties.proximal import Proximal
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate, Pair
from dualgap.samplings import Full, TauNice
from dualgap.steps.base import Setting, Start, Step, dual_start, multiclass_refusal, vector
from dualgap.steps.sets.batch import BatchRun
from dualgap.steps.sets.batch_kernels import wake_all
from dualgap.steps.sets.perturbation import Perturbation, RecentredPerturbation
from dualgap.steps.sets.saddle import BEFORE, SHARE, WIDTH, SaddleFeatures, SaddleSamples, U, W
from dualgap.steps.sets.sampling_facts import probability_refusal, sampling_facts

# Length of a stage with a perturbation: the squared distance to its saddle point shrinks by e to
# this power. Not measured.
_STAGE = 2.0


class StepSizes(NamedTuple):
    """Step sizes: primal, dual, extrapolation."""

    tau: float
    sigma: float
    theta: float


def batch_step_sizes(lengths: Floats, m: float, mu: float, gamma: float) -> StepSizes:
    """Theorem 1: batches of m; λg is ``mu``-strongly convex, φ is 1/``gamma``-smooth."""
    n = len(lengths)
    size = float(lengths.max()) or 1.0
    ratio = float(np.sqrt(m * gamma / (n * mu)))
    slow = n / m + size * float(np.sqrt(n / m / (mu * gamma)))
    return StepSizes(0.5 * ratio / size, 0.5 / ratio / size, 1.0 - 1.0 / slow)


def single_step_sizes(lengths: Floats, p: Floats, mu: float, gamma: float) -> StepSizes:
    """Theorem 2 for any p: what it needs is 1/p_i, 2n there, and ‖x_i‖/(p_i n), 2R̄ there."""
    n = len(lengths)
    size = float(np.max(lengths / (p * n))) or 1.0
    ratio = float(np.sqrt(gamma / (n * mu)))
    slow = float(np.max(1.0 / p)) + size * float(np.sqrt(n / (mu * gamma)))
    return StepSizes(0.5 * ratio / size, 0.5 / ratio / size, 1.0 - 1.0 / slow)


# What a checkpoint keeps of the perturbation.
_KEPT = ("delta_a", "delta_w", "level", "length")


@dataclass(frozen=True)
class SPDC(Step):
    """SPDC steps; what is not given is chosen as the theorems say.

    ``tau``, ``sigma``, ``theta``  step sizes: primal, dual, extrapolation
    ``delta``     perturbation of a loss that is not smooth and of a penalty that is not strongly
                  convex; None: from the target of the gap
    ``recentre``  perturb around the last point that was reached, instead of around 0 for all time:
                  then a δ of the order √tol does what takes a δ of the order tol in the paper
                  (10 to 50 times fewer passes on small SVMs), since it costs less and less.
                  False: the paper's method, δ = ε/C₁ (``perturbation.py``)
    """

    tau: float | None = None
    sigma: float | None = None
    theta: float | None = None
    delta: float | None = None
    recentre: bool = True

    usual = "spdc"

    def __post_init__(self) -> None:
        for name in ("tau", "sigma", "delta"):
            if getattr(self, name) is not None:
                positive(getattr(self, name), name)
        if self.theta is not None:
            number(self.theta, "theta", 0.0, 1.0)

    def refusal(self, problem: Problem) -> str | None:
        if multiclass_refusal(problem):
            return multiclass_refusal(problem)
        if problem.features.free.any() and not problem.loss.differentiable:
            return "a feature without a penalty needs a loss without kinks: give it a small weight"
        return None

    def sampling_refusal(self, sampling: Any) -> str | None:
        if sampling.sets and not isinstance(sampling, (TauNice, Full)):
            return f"its batches are those of TauNice or Full, not of {type(sampling).__name__}"
        return probability_refusal(sampling)

    def describe(self, problem: Problem) -> str:
        return "primal-dual steps on the saddle function"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> SaddleRun:
        return SaddleRun(problem, warm, self, setting)


def perturbation_of(problem: Problem, step: SPDC, target: float, lengths: Floats) -> Perturbation:
    """What is added to the problem at the start of a run."""
    kind = RecentredPerturbation if step.recentre else Perturbation
    return kind(problem, target, step.delta, float(lengths.max()))


class SaddleRun(BatchRun):
    """A run of SPDC, in stages with a perturbation of their own where there is one."""

    def __init__(self, problem: Problem, warm: Start, step: SPDC, setting: Setting) -> None:
        # Under L2 the lengths of samples are those of the rows of X.
        known = sampling_facts(problem.with_penalty(L2()), setting.sampling)
        super().__init__(problem, known.scores, setting.n_threads)
        self.step = step
        self.p = np.where(known.p > 0.0, known.p, 1.0)
        self.batches = setting.sampling.sets
        self.lengths = np.sqrt(problem.n * problem.c * problem.row_squares)
        self.a = dual_start(problem, warm.dual)
        self.cells = aligned_zeros(WIDTH * problem.d)
        self.shares = aligned_zeros(SHARE * problem.d if self.batches else 0)
        self.cells[W::WIDTH] = problem.features.origin if warm.coef is None else warm.coef
        self.cells[BEFORE::WIDTH] = self.cells[W::WIDTH]
        self.refresh()
        self.perturbation = perturbation_of(problem, step, setting.target, self.lengths)
        self.recentring = step.recentre and self.perturbation.needed
        self.last_gap = np.inf  # at the end of the last stage
        self._begin(np.zeros(problem.d), np.zeros(problem.n))

    def _begin(self, w: Floats, a: Floats) -> None:
        """Start a stage whose perturbation is centred at w and a."""
        self.centre = w, a
        problem, step = self.problem, self.step
        gamma = problem.loss.gamma + self.perturbation.delta_a
        mu = problem.lam * float(problem.features.strength.min())
        mu += self.perturbation.delta_w
        if self.batches:
            pace = batch_step_sizes(self.lengths, problem.n * self.p[0], mu, gamma)
        else:
            pace = single_step_sizes(self.lengths, self.p, mu, gamma)
        tau, sigma, theta = (
            ours if given is None else given
            for given, ours in zip((step.tau, step.sigma, step.theta), pace)
        )
        self.until = self.time + _STAGE / (1.0 - pace.theta)
        penalty = problem.penalty
        if self.perturbation.delta_w > 0.0:
            rho = np.full(problem.d, self.perturbation.delta_w / problem.lam)
            penalty = Proximal(penalty, storage.read_only(rho), storage.read_only(w))
        q = np.full(problem.n, 1.0 / sigma) if self.batches else self.p * problem.n / sigma
        pull = tau * mu
        decay = decay_of(pull / (1.0 + pull), self.longest)
        t, boost = tau * problem.lam, 1.0 / self.p
        self.features = SaddleFeatures(
            penalty, self.cells, self.batches, self.shares, t, theta, boost, decay
        )
        self.samples = SaddleSamples(
            *(problem.loss, problem.y, q, problem.c / problem.lam),
            *(self.a, self.perturbation.delta_a, a),
        )

    def pair(self) -> Pair:
        wake_all(self.features, self.problem.d, self.time + 1)
        w, u = self.cells[W::WIDTH].copy(), self.cells[U::WIDTH].copy()
        return Pair(w, self.a.copy(), self.problem.decision(w), u, z_anew=True)

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """Begin a stage anew once it has come closer to its saddle point by a factor e²."""
        if self.perturbation.needed and self.time >= self.until:
            self.perturbation.follow(pair.w, certificate.gap, self.last_gap)
            self.last_gap = certificate.gap
            self._begin(*((pair.w, pair.a) if self.recentring else self.centre))
        return False

    def resting(self) -> bool:
        wake_all(self.features, self.problem.d, self.time + 1)
        w = self.cells[W::WIDTH]
        if not np.array_equal(w, self.cells[BEFORE::WIDTH]):
            return False
        self.until = self.time  # the stage has arrived
        return not self.recentring or (
            np.array_equal(w, self.centre[0]) and np.array_equal(self.a, self.centre[1])
        )

    def refresh(self) -> None:
        if self.time:
            wake_all(self.features, self.problem.d, self.time + 1)
        self.cells[U::WIDTH] = self.problem.average(self.a)

    def state(self) -> dict[str, Any]:
        w, a = self.centre
        own = {name: getattr(self, name) for name in ("a", "cells", "shares", "time", "until")}
        known = {name: getattr(self.perturbation, name) for name in _KEPT}
        return {**own, **known, "centre_w": w, "centre_a": a, "last_gap": self.last_gap}

    def restore(self, state: dict[str, Any]) -> None:
        for name in ("a", "cells", "shares"):
            getattr(self, name)[:] = state[name]
        self.time = state["time"]
        for name in _KEPT:  # files of earlier versions know only one of them
            now = getattr(self.perturbation, name)
            larger = name == "length"  # those of a smaller target are smaller
            kept = state.get(name, now)
            setattr(self.perturbation, name, max(now, kept) if larger else min(now, kept))
        self.last_gap = state.get("last_gap", np.inf)
        centre = vector(state, "centre_w", self.problem.d), vector(state, "centre_a", self.size)
        self._begin(*centre)
        self.until = state["until"]
