"""Every registered method obeys the laws of steps, and check_step names the law that is broken."""

import numpy as np
import pytest
from every_method import EVERY, SPECIAL, problem_of, special_problem
from test_every_method import optimum

import dualgap as dg
from dualgap import steps
from dualgap.extend import FullPass, FullPassRun, Pair, Run, Step, check_step, slopes
from dualgap.methods import METHODS
from dualgap.steps.base import as_run

# Pairs of loss and penalty that tests/steps/test_every_method.py compiles kernels for as well.
PAIRS = (
    ("squared", "l2"),
    ("logistic", "l2"),
    ("hinge", "l2"),
    ("squared", "l1"),
    ("softmax", "l2"),
)


@pytest.mark.parametrize("name", EVERY)
def test_every_method_obeys_the_laws(name):
    method = EVERY[name]
    pair = next(p for p in PAIRS if method.refusal(problem_of(*p, "dense")) is None)
    best = optimum(*pair, "dense")
    check_step(method.step, problem_of(*pair, "dense"), sampling=method.sampling, optimum=best)


@pytest.mark.parametrize("name", SPECIAL)
def test_methods_of_their_own_problems_obey_them_too(name):
    problem = special_problem(name)
    best = dg.solve(problem, tol=1e-11, max_epochs=30_000).certificate
    check_step(METHODS[name].step, problem, optimum=best.dual)


def test_the_registry_has_every_step():
    exported = {getattr(steps, name) for name in steps.__all__}
    concrete = {kind for kind in exported if issubclass(kind, Step) and kind is not Step}
    assert {type(method.step) for method in METHODS.values()} == concrete


class Gradient(FullPass):
    """Gradient steps under L2, with a mistake to choose."""

    usual = "afg"

    def __init__(self, mistake=""):
        self.mistake = mistake

    def describe(self, problem):
        return "gradient steps"

    def start(self, problem, warm, setting=None):
        return GradientRun(problem, self.mistake)


class GradientRun(FullPassRun):
    def __init__(self, problem, mistake):
        super().__init__(problem)
        self.mistake, self.w = mistake, np.zeros(problem.d)
        self.length = 1.0 / (problem.lam + float(problem.c @ problem.row_squares))
        self.rng = np.random.default_rng()

    def pair(self):
        problem = self.problem
        z, a = problem.decision(self.w), np.empty(problem.n)
        slopes(problem.loss, problem.y, z, a)
        u = problem.average(a)
        wrong = {"z": (self.w, a, z + 1.0, u), "u": (self.w, a, z, 2.0 * u)}
        return Pair(*wrong.get(self.mistake, (self.w, a, z, u)))

    def advance(self, order, offsets=None):
        if self.mistake != "still":
            noise = 1e-6 * self.rng.standard_normal() if self.mistake == "random" else 0.0
            gradient = self.problem.lam * (self.w - self.pair().u)
            self.w = self.w - (self.length + noise) * gradient
        return 1, *self.worth(2)

    def state(self):
        return {"w": np.zeros_like(self.w) if self.mistake == "state" else self.w}

    def restore(self, state):
        self.w = state["w"]


@pytest.mark.parametrize(
    ("mistake", "law"),
    [
        ("z", "z must be X w"),
        ("u", "u must be"),
        ("still", "must make progress"),
        ("state", "must continue bit for bit"),
        ("random", "bit for bit|same bits"),
    ],
)
def test_mistakes_are_named(mistake, law):
    problem = problem_of("squared", "l2", "dense")
    with pytest.raises(AssertionError, match=law):
        check_step(Gradient(mistake), problem)


def test_a_step_without_mistakes_passes():
    check_step(Gradient(), problem_of("squared", "l2", "dense"))


def test_a_wrong_optimum_is_noticed():
    problem = problem_of("squared", "l2", "dense")
    best = optimum("squared", "l2", "dense")
    with pytest.raises(AssertionError, match="bound must hold"):
        check_step(Gradient(), problem, optimum=best - 0.01)
    with pytest.raises(AssertionError, match="below the optimum"):
        check_step(Gradient(), problem, optimum=best + 0.01)


class OldRun:
    """A run as dualgap 0.1 asked for: it derives from nothing and has the names of that time."""

    takes_all = True
    asks_for_parts = False

    def __init__(self, run):
        self.run, self.size, self.entries = run, run.size, run.entries
        self.repeated, self.rounds, self.events = 0.0, 0, []

    def pair(self):
        return self.run.pair()

    def scores(self, pair, certificate):
        return self.run.scores(pair, certificate)

    def advance(self, order, offsets=None):
        self.rounds += 2
        self.repeated += 0.5
        return self.run.advance(order, offsets)

    def adapt(self, pair, certificate):
        return False

    def refresh(self):
        self.events.append("refresh")

    def shed(self):
        self.events.append("shed")

    def close(self):
        self.events.append("close")


class OldStep(Gradient):
    def mismatch(self, sampling):
        return "it wants another sampling" if self.mistake == "sampling" else None

    def start(self, problem, warm, setting=None):
        self.last = OldRun(super().start(problem, warm, setting))
        return self.last


def test_steps_of_0_1_work_with_a_warning():
    problem, step = problem_of("squared", "l2", "dense"), OldStep()
    with pytest.warns(DeprecationWarning, match="takes_all is now full_pass"):
        old = dg.solve(problem, step, max_epochs=10_000)
    new = dg.solve(problem, Gradient(), max_epochs=10_000)
    np.testing.assert_array_equal(old.coef, new.coef)
    assert step.last.events[-2:] == ["shed", "close"]
    with pytest.warns(DeprecationWarning, match="dualgap 0.1"):
        assert len(dg.solve(problem, step, tol=0.0, max_epochs=6).history) == 4  # two a round
    with pytest.raises(ValueError, match="it wants another sampling"):
        dg.solve(problem, OldStep("sampling"))


def test_what_is_no_run_is_refused_in_words():
    with pytest.raises(TypeError, match=r"dict lacks size, entries.*dualgap\.extend\.Run"):
        as_run({})
    with pytest.raises(TypeError, match="abstract"):
        Run()
