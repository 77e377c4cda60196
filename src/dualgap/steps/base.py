"""A step says which problems it accepts and starts a run, which the loop in run/loop.py drives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Certificate, Pair
from dualgap.proof.goal import Goal
from dualgap.samplings.base import Sampling, StepRule
from dualgap.samplings.full import Full
from dualgap.samplings.scores import Scores


class Start(NamedTuple):
    """Where a run starts: coefficients and dual variables, each ``None`` for the origin."""

    coef: Floats | None = None
    dual: Floats | None = None


class Setting(NamedTuple):
    """What a run is told besides the problem and its start.

    ``sampling``   the sampling, bound to the problem; steps that depend on probabilities need it
    ``goal``       the duality gap at which the loop stops, which depends on the objective so far
    ``n_threads``  how many threads may work on a set of coordinates
    ``max_epochs`` the number of rounds after which the loop stops; None: no limit
    ``rng``        for runs that draw random numbers themselves
    ``watched``    whether somebody wants to see each round: a run must not make several in one call
    """

    sampling: Any = None
    goal: Goal | None = None
    n_threads: int = 1
    max_epochs: int | None = None
    rng: np.random.Generator | None = None
    watched: bool = True

    @property
    def target(self) -> float:
        """The duality gap that will suffice, as far as can be told now; 0 without a goal."""
        return 0.0 if self.goal is None else self.goal.expected


class Run(ABC):
    """The state of a solver. ``pair``, ``scores`` and ``advance`` are required, the rest optional.

    ``size``     the number of coordinates, which is the number of updates of an epoch
    ``entries``  the mean number of entries of X per coordinate; it decides how many updates are
                 made between two checks of the clock
    """

    size: int
    entries: float

    # Whether ``advance`` updates all coordinates, so that nothing is drawn: it is then called once
    # a round, with ``order`` None, and returns three numbers.
    full_pass: bool = False
    # Whether the run reads what each sample contributes to the gap. If not, gap checks skip that.
    needs_sample_gaps: bool = True
    # Whether the run starts at w = 0 with dual variables 0. The problem knows the objective and the
    # bound there, so the first gap check is skipped.
    starts_at_zero: bool = False
    # Whether ``pair`` was computed from the data, and a proof costs little: each gap check is one.
    checks_are_proofs: bool = False
    # Whether the loop may stop where the gap is small enough: not inside of what would be one round
    # if nobody watched, so that watching changes nothing.
    may_end: bool = True
    # Rounds made so far, if ``advance`` may make several; None: one for each call.
    rounds: int | None = None
    # Whether the first round mostly is the whole run (``run/solve.py``).
    ends_at_once: bool = False
    # Seconds spent on repeating earlier work; the history leaves them out.
    repeated_seconds: float = 0.0

    @abstractmethod
    def pair(self) -> Pair:
        """The primal and dual point of the current state, with z = Xw and u; the loop certifies
        it."""

    @abstractmethod
    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        """How far each coordinate is from its optimum, for the sampling."""

    @abstractmethod
    def advance(self, order: Any, offsets: Any = None) -> Any:
        """Update the coordinates in ``order``; returns how many moved and the vector operations.

        With ``offsets``, set k is ``order[offsets[k] : offsets[k + 1]]``. A run with ``full_pass``
        also returns how many single updates its work was worth.
        """

    def adaptive_steps(self, rule: StepRule) -> Any:
        """A compiled loop of steps that each score all coordinates first (see
        ``coordinate/adaptive_steps.py``); None: the loop calls ``scores`` before each step."""
        return None

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """Called between epochs; returns whether the run changed what it minimises."""
        return False

    def take_back(self, made: Any) -> None:
        """For runs with ``ends_at_once``: the next ``advance`` only returns ``made``."""
        raise NotImplementedError(f"{type(self).__name__} has ends_at_once but no take_back(made)")

    def refresh(self) -> None:  # noqa: B027 - optional
        """Recompute what updates keep current, to remove their accumulated rounding errors."""

    def release_memory(self) -> None:  # noqa: B027 - optional
        """Called before a proof. ``refresh`` restores what was released if the proof fails."""

    def state(self) -> dict[str, Any] | None:
        """All that ``restore`` needs, as a dict of arrays, numbers, tuples and dicts.

        None: a checkpoint cannot keep this run, which then resumes from the best pair.
        """
        return None

    def restore(self, state: dict[str, Any]) -> None:
        """Make a run that was just started continue from ``state``, bit for bit."""
        raise NotImplementedError(f"{type(self).__name__} has state() but no restore(state)")

    def close(self) -> None:  # noqa: B027 - optional
        """Called when the run is over, even after an error."""


def as_run(started: Any) -> Run:
    """The run that a step has started; in an adapter if it was written for dualgap 0.1."""
    if isinstance(started, Run) and not any(hasattr(started, name) for name in NAMES_IN_0_1):
        return started
    from dualgap.steps.adapted_run import AdaptedRun  # late: it derives from Run

    return AdaptedRun(started)


# What the optional members of a run were called in dualgap 0.1.
NAMES_IN_0_1 = {
    "takes_all": "full_pass",
    "asks_for_parts": "needs_sample_gaps",
    "at_rest": "starts_at_zero",
    "repeated": "repeated_seconds",
    "shed": "release_memory",
    "adaptive": "adaptive_steps",
}


class Step(ABC):
    """A rule for what an update does."""

    usual = "cd-gap-decay"  # the method whose sampling ``solve(problem, step)`` uses
    is_random = True  # whether its sampling or its runs draw random numbers
    takes_groups = False  # whether it knows penalties on groups of features

    @abstractmethod
    def refusal(self, problem: Problem) -> str | None:
        """Why this step cannot solve a problem, in words; None if it can."""

    def sampling_refusal(self, sampling: Sampling) -> str | None:
        """Why this step cannot use a sampling, in words; None if it can."""
        if sampling.sets:
            return f"it visits one coordinate at a time, and {type(sampling).__name__} draws sets"
        return None

    def mismatch(self, sampling: Sampling) -> str | None:
        """What ``sampling_refusal`` was called in dualgap 0.1, whose steps may override it."""
        return Step.sampling_refusal(self, sampling)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "mismatch" in vars(cls) and "sampling_refusal" not in vars(cls):
            cls.sampling_refusal = cls.mismatch  # type: ignore[method-assign]

    def view_of(self, problem: Problem) -> str:
        """Whether samples ("dual") or features ("primal") are the coordinates."""
        return "dual"

    @abstractmethod
    def describe(self, problem: Problem) -> str:
        """What an update does, in a few words."""

    @abstractmethod
    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> Run:
        """A run from ``warm``."""


class FullPass(Step):
    """A step for the primal problem whose update is a pass over the data."""

    def refusal(self, problem: Problem) -> str | None:
        return multiclass_refusal(problem) or primal_refusal(problem)

    def sampling_refusal(self, sampling: Sampling) -> str | None:
        if isinstance(sampling, Full):
            return None
        return f"it passes over all samples at once, and {type(sampling).__name__} draws some"


class FullPassRun(Run):
    """A run whose coordinates are the samples, and which updates all of them at once."""

    full_pass = True
    needs_sample_gaps = False
    made_already: Any = None  # what the next call of ``advance`` returns, see ``take_back``

    def __init__(self, problem: Problem) -> None:
        self.problem, self.size = problem, problem.n

    @property
    def entries(self) -> float:  # type: ignore[override]
        return float(self.problem.entries / self.size)

    def take_back(self, made: Any) -> None:
        self.made_already = made

    def taken_back(self) -> Any:
        """What was taken back, which is done now."""
        made, self.made_already = self.made_already, None
        return made

    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        return Scores(*np.broadcast_to(0.0, (5, self.size)))  # ``Full`` reads none

    def worth(self, products: int) -> tuple[int, float]:
        """The vector operations and updates that so many products with X or Xᵀ are worth."""
        return self.size * products, self.size * products / 2


# --- why a kind of step cannot solve a problem, in words; None if it can ------------------------


def dual_refusal(problem: Problem) -> str | None:
    """For steps over samples."""
    if problem.least_strength > 0.0:
        return None
    return "the penalty is not strongly convex in every feature (L2 or an elastic net would be)"


def primal_refusal(problem: Problem) -> str | None:
    """For steps over features."""
    if problem.width > 1:
        return f"the {type(problem.given_loss).__name__} loss has no steps over features"
    if problem.loss.differentiable:
        return None
    return f"the {type(problem.given_loss).__name__} loss has no derivative at its kink"


def multiclass_refusal(problem: Problem) -> str | None:
    """For steps that need losses with one decision value per sample."""
    if problem.width == 1:
        return None
    name = type(problem.given_loss).__name__
    return f"the {name} loss has a decision value for each class, where this step knows only one"


def groups_refusal(step: Step, problem: Problem) -> str | None:
    """For steps that ask a penalty about single coefficients, which are almost all."""
    if step.takes_groups or not problem.on_groups:
        return None
    name = type(problem.feature_penalty).__name__
    return f"the penalty {name} is on groups of features, where this step takes them one by one"


def shape_refusal(problem: Problem) -> str | None:
    """For steps that need the penalty as numbers."""
    if problem.penalty_shape is not None:
        return None
    name = type(problem.penalty).__name__
    return f"the penalty {name} is not made of L1 and L2 parts, weights and bounds"


# --- what steps share ----------------------------------------------------------------------------


def dual_start(problem: Problem, dual: Floats | None) -> Floats:
    """Feasible dual variables to start from, final for samples that cannot move w."""
    a = np.zeros(problem.dual_size)
    if dual is not None:
        terms.projections(problem.loss, problem.y, dual, a)
    still = np.flatnonzero((problem.row_squares == 0.0) | (problem.c == 0.0))
    if len(still):
        settled = np.empty(len(still) * problem.width)
        y = storage.read_only(problem.y[still])
        terms.slopes(problem.loss, y, np.zeros(len(settled)), settled)
        a.reshape(problem.n, -1)[still] = settled.reshape(len(still), -1)
    return a


def vector(state: dict[str, Any], name: str, length: int) -> Floats:
    """A vector of a stored state. A wrong length is refused: kernels do not check bounds."""
    found = np.array(state[name], dtype=np.float64)
    if found.shape != (length,):
        raise ValueError(f"{name} has shape {found.shape} where {length} entries are needed")
    return found
