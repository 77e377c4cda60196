"""How far one coordinate is from its optimum: the scores of a sampling, as rules for kernels.

``x`` is the coordinate and ``g`` = A_i·F'(v): in the dual view z_i, in the primal view −λu_j.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

from dualgap.compile.kernels import helper, kernel
from dualgap.compile.rules import conj, conj_slope, dual_step, goal, part, value
from dualgap.linalg.validate import LARGEST

# At a kink the maximiser is an interval, and rounding errors of g decide which end of it is found.
# A coordinate counts as optimal if it is optimal for some g this close, relative to max(1, |g|).
BLUR = 1e-12


class SampleScorer(NamedTuple):
    """Scores of samples, in the dual view; each depends on its own z only."""

    loss: Any
    y: Any
    c: Any
    blur: float  # 0 for a loss without kinks

    def level(self, x, v):
        return 0.0

    def goal(self, i, x, g, level):
        if self.c[i] == 0.0:
            return x
        if self.blur == 0.0:
            return dual_step(self.loss, x, g, 0.0, self.y[i])
        about = self.blur * max(1.0, abs(g))
        low = dual_step(self.loss, x, g + about, 0.0, self.y[i])
        high = dual_step(self.loss, x, g - about, 0.0, self.y[i])
        return min(max(x, low), high)

    def part(self, i, x, g, goal):
        if self.c[i] == 0.0:
            return 0.0
        part = value(self.loss, g, self.y[i]) + conj(self.loss, x, self.y[i]) + x * g
        return max(self.c[i] * part, 0.0) if part == part else inf


class FeatureScorer(NamedTuple):
    """Scores of features, in the primal view; ``level`` bounds the penalty at the optimum.

    P(w*) ≤ P(w) leaves g_j(w_j*) − g_j(o_j) ≤ (P(w) − Σ inf φ)/λ − g(o) =: level, o_j the penalty's
    own choice. ``ceiling`` takes the place of P(w) if it is finite.
    """

    loss: Any
    y: Any
    c: Any
    penalty: Any
    lam: float
    least: float
    squares: Any
    origin: Any
    reach: Any
    strength: Any
    growth: Any  # of g_j, on the side where it grows slower
    ceiling: float

    def level(self, x, v):
        if self.ceiling < inf:
            return _level(self.ceiling, self.least, self.lam)
        primal = 0.0
        for k in range(len(v)):
            if self.c[k] > 0.0:
                primal += self.c[k] * value(self.loss, v[k], self.y[k])
        for j in range(len(x)):
            primal += self.lam * value(self.penalty, x[j], j)
        return _level(primal, self.least, self.lam)

    def goal(self, j, x, g, level):
        # Numbers are handed on, not the tuple: counting references to its arrays takes long.
        origin = self.origin[j]
        bound = _bound(
            self.penalty, j, level, origin, self.reach[j], self.strength[j], self.growth[j]
        )
        bound = _limit(bound, abs(x - origin), g, self.squares[j])
        u = -g / self.lam
        about = BLUR * max(1.0, abs(u))
        low = conj_slope(self.penalty, u - about, x, j)
        high = conj_slope(self.penalty, u + about, x, j)
        return min(max(min(max(x, low), high), origin - bound), origin + bound)

    def part(self, j, x, g, goal):
        rise = value(self.penalty, x, j) - value(self.penalty, goal, j)
        return max(self.lam * rise - g * (goal - x), 0.0)


@helper
def _level(primal: float, least: float, lam: float) -> float:
    level = (primal - least) / lam
    return max(level, 0.0) if level < LARGEST else LARGEST


@helper
def _bound(
    penalty: Any,
    j: int,
    level: float,
    origin: float,
    reach: float,
    strength: float,
    growth: float,
) -> float:
    """B_j ≥ |w_j* − o_j|: "Lipschitzing" (Perekrestenko et al. 2017, section 4.1).

    Where g_j grows like r|w_j| that is level/r; where it is μ-strongly convex, √(2·level/μ). That
    is doubled until the penalty has risen by ``level`` on both sides.
    """
    bound = inf
    if 0.0 < growth < inf:
        bound = level / growth
    if strength > 0.0:
        bound = min(bound, sqrt(2.0 * level / strength))
    lowest = value(penalty, origin, j)
    for _ in range(60):
        left = value(penalty, origin - bound, j)
        right = value(penalty, origin + bound, j)
        if bound == inf or min(left, right) - lowest >= 0.999 * level:
            break
        bound *= 2.0
    return min(bound, reach + abs(origin))


@helper
def _limit(bound: float, away: float, g: float, square: float) -> float:
    """The bound, or where an unpenalised feature has none, the length of a gradient step."""
    if bound == inf and square > 0.0:
        bound = away + abs(g) / square
    return max(bound, away)


@kernel
def keep_unresolved(scorer: Any, z: Any, a: Any, which: Any) -> None:
    """Keep in ``which`` only samples whose dual variable is not optimal for z."""
    for i in range(len(which)):
        which[i] = which[i] and goal(scorer, i, a[i], z[i], 0.0) != a[i]


@kernel
def sample_residues(scorer: Any, z: Any, a: Any, out: Any) -> None:
    for i in range(len(z)):
        out[i] = abs(goal(scorer, i, a[i], z[i], 0.0) - a[i])


@kernel
def feature_scores(
    scorer: Any, primal: float, w: Any, u: Any, limits: Any, residues: Any, gaps: Any
) -> None:
    """Fill in the limits and the scores of all features."""
    level = _level(primal, scorer.least, scorer.lam)
    for j in range(len(w)):
        origin, g = scorer.origin[j], -scorer.lam * u[j]
        bound = _bound(
            scorer.penalty, j, level, origin, scorer.reach[j], scorer.strength[j], scorer.growth[j]
        )
        limits[j] = _limit(bound, abs(w[j] - origin), g, scorer.squares[j])
        best = goal(scorer, j, w[j], g, level)
        residues[j] = abs(best - w[j])
        gaps[j] = part(scorer, j, w[j], g, best)
