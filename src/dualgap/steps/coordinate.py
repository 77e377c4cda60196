"""Coordinate step: minimise F(v) + Σ G_i(x_i) over one coordinate at a time, in either view.

    g = Σ_k A_ik F_k'(v_k);  x_i ← argmin_s g·s + (q_i/2)(s − x_i)² + G_i(s);  v += scale_i Δ_i A_i

Dual view: the step of SDCA, Prox-SDCA, IProx-SDCA, AdaSDCA and AdaSDCA+ (Csiba et al. 2015,
Algorithms 1 and 2), exact for an L2 penalty. Primal view: the exact minimisation of Perekrestenko
et al. 2017, Algorithm 1, in one step for a squared loss and by safeguarded Newton steps otherwise.
Cost of an update: O(entries of coordinate i). Rate: linear when F is smooth and every G_i strongly
convex, 1/t when G_i only has a bounded domain.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from dualgap._compile import kernel
from dualgap._prefetch import prefetch
from dualgap._rules import (
    announce,
    entry,
    expect,
    fetch,
    gradient,
    hessian,
    place,
    quadratic_bound,
    span,
    step,
)
from dualgap.certificate import Certificate, Pair
from dualgap.problem import Problem
from dualgap.scores import Scores
from dualgap.steps.base import Setting, Step
from dualgap.steps.block_epoch import block_epoch
from dualgap.steps.choice import lacks_for_dual, lacks_for_primal, preferred_view
from dualgap.steps.start import Start
from dualgap.steps.views import DualView, PrimalView

_AHEAD = 4  # updates between asking for a coordinate's entries and reading them
_TRIALS = 40
_CLOSE = 1e-3  # relative to the whole move
_FLATTEST = 0.001  # relative to the curvature bound
_LONGEST = 4.0  # change of z in one step when the curvature has no bound


@kernel
def epoch(
    matrix: Any, smooth: Any, separable: Any, scale: Any, q: Any, order: Any, x: Any, v: Any
) -> tuple[int, int]:
    """Visit the coordinates in ``order``; returns how many moved and the vector operations."""
    moved = 0
    operations = 0
    last = len(order) - 1
    for turn in range(len(order)):
        i = order[turn]
        later = order[min(turn + 2 * _AHEAD, last)]
        announce(matrix, later)
        expect(separable, later)
        prefetch(x, later)
        prefetch(q, later)
        prefetch(scale, later)
        fetch(matrix, order[min(turn + _AHEAD, last)])
        start, stop = span(matrix, i)
        if quadratic_bound(smooth):
            g = 0.0
            for t in range(start, stop):
                k = place(matrix, i, t)
                g += entry(matrix, i, t) * gradient(smooth, k, v[k])
            new = step(separable, i, x[i], g, q[i])
            operations += 1
        else:
            new, passes = _line_minimum(matrix, smooth, separable, i, x[i], v, q[i])
            operations += passes
        if new != x[i]:
            delta = scale[i] * (new - x[i])
            x[i] = new  # not x + Δ, which could round out of the domain
            for t in range(start, stop):
                v[place(matrix, i, t)] += delta * entry(matrix, i, t)
            moved += 1
            operations += 1
    return moved, operations


@kernel
def _line_minimum(
    matrix: Any, smooth: Any, separable: Any, i: int, x: float, v: Any, q: float
) -> tuple[float, int]:
    """The value of coordinate i that minimises the objective, and the passes over its entries.

    A proximal Newton step always points towards the minimum, so each one tightens a bracket; a step
    that would leave the bracket, and every other one once it is closed, goes to its middle. What is
    returned lies between the start and the minimum, or beyond it by so little that the objective
    falls all the same.
    """
    low, high = -inf, inf
    s = x
    start, stop = span(matrix, i)
    for trial in range(_TRIALS):
        g = 0.0
        h = 0.0
        largest = 0.0
        for t in range(start, stop):
            k = place(matrix, i, t)
            a = entry(matrix, i, t)
            at = v[k] + (s - x) * a
            g += a * gradient(smooth, k, at)
            h += a * a * hessian(smooth, k, at)
            largest = max(largest, abs(a))
        if largest == 0.0:
            return step(separable, i, x, 0.0, 0.0), trial + 1
        flat = h < _FLATTEST * q < inf  # Newton alone would go anywhere
        new = step(separable, i, s, g, _FLATTEST * q if flat else h)
        if flat and s != x and (new > s) == (s > x) and (high == inf or low == -inf):
            # Still on the way, with nothing to go by: stride out. q = ∞ only projects.
            new = step(separable, i, s + 2.0 * (s - x), 0.0, inf)
        reach = _LONGEST / largest if q == inf else inf
        if not abs(new - s) <= reach:  # also when it is not a number
            new = s - reach if g > 0.0 else s + reach
        beyond = (new > s) != (s > x)
        if new == s or (s != x and abs(new - s) <= _CLOSE * abs(s - x) and not (beyond and flat)):
            return s, trial + 1
        if new > s:
            low = s
        else:
            high = s
        closed = low > -inf and high < inf
        inside = low < new < high and not (closed and trial % 2)
        s = new if inside else 0.5 * (low + high)
    return low if x < low else (high if high < x else x), _TRIALS


@dataclass(frozen=True)
class Coordinate(Step):
    """The coordinate step. ``view``: "dual" (samples), "primal" (features), or "auto"."""

    view: Literal["auto", "dual", "primal"] = "auto"

    def __post_init__(self) -> None:
        if self.view not in ("auto", "dual", "primal"):
            raise ValueError(f'view must be "auto", "dual" or "primal", not {self.view!r}')

    def refusal(self, problem: Problem) -> str | None:
        """What the problem lacks for this step, in words; None when it lacks nothing."""
        lacks = {"dual": lacks_for_dual(problem), "primal": lacks_for_primal(problem)}
        if self.view == "auto":
            return " and ".join(lacks.values()) if all(lacks.values()) else None  # type: ignore[arg-type]
        return lacks[self.view]

    def view_of(self, problem: Problem) -> str:
        """The view that a run on this problem takes."""
        return preferred_view(problem) if self.view == "auto" else self.view

    def describe(self, problem: Problem) -> str:
        name = self.view_of(problem)
        over = "samples" if name == "dual" else "features"
        return f"coordinate steps over {over} ({name} view)"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> CoordinateRun:
        name = self.view_of(problem)
        view = DualView(problem, warm.dual) if name == "dual" else PrimalView(problem, warm.coef)
        return CoordinateRun(view)


class CoordinateRun:
    """A run of the coordinate step: what the loop in ``loop.py`` drives."""

    def __init__(self, view: DualView | PrimalView) -> None:
        self.view = view

    @property
    def size(self) -> int:
        """Number of coordinates, which is the number of updates of an epoch."""
        return self.view.size

    @property
    def entries(self) -> float:
        """Mean number of entries of a coordinate."""
        problem = self.view.problem
        return float(problem.row_counts.sum()) * problem.width / self.size

    def pair(self) -> Pair:
        """The primal and dual point that the state stands for."""
        return self.view.pair()

    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        """How far each coordinate is from optimal."""
        return self.view.scores(pair, certificate)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int]:
        """Update the coordinates in ``order``; how many moved, and the vector operations.

        A run whose work is not one update for each index adds, as a third number, how many updates
        it was worth.
        """
        view = self.view
        return (epoch if view.problem.width == 1 else block_epoch)(
            view.matrix, view.smooth, view.separable, view.scale, view.q, order, view.x, view.v
        )

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        """Between epochs: whether the step changed what it minimises; this one never does."""
        return False

    def refresh(self) -> None:
        """Wipe out the rounding errors that the updates have added up."""
        self.view.refresh()
