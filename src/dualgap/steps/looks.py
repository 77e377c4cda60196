"""How far one coordinate is from optimal: the scores of ``scores.py`` as rules for kernels.

``x`` is the coordinate and ``g`` = A_i·F'(v): in the dual view z_i, in the primal view −λu_j.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

from dualgap._compile import helper, kernel
from dualgap._rules import conj, conj_slope, dual_step, residue, value
from dualgap._validate import LARGEST

# At a kink the maximiser is an interval, and rounding errors of g decide which end of it is seen:
# what is optimal for some g this close (relative to 1 or |g|) is optimal.
BLUR = 1e-12


class SampleLook(NamedTuple):
    """Samples, in the dual view; they need to know nothing of the others."""

    loss: Any
    y: Any
    c: Any
    blur: float  # 0 for a loss without kinks

    def level(self, x, v):
        return 0.0

    def residue(self, i, x, g, level):
        if self.c[i] == 0.0:
            return 0.0
        if self.blur == 0.0:
            return abs(dual_step(self.loss, x, g, 0.0, self.y[i]) - x)
        about = self.blur * max(1.0, abs(g))
        low = dual_step(self.loss, x, g + about, 0.0, self.y[i])
        high = dual_step(self.loss, x, g - about, 0.0, self.y[i])
        return max(low - x, x - high, 0.0)

    def part(self, i, x, g, level):
        if self.c[i] == 0.0:
            return 0.0
        part = value(self.loss, g, self.y[i]) + conj(self.loss, x, self.y[i]) + x * g
        return max(self.c[i] * part, 0.0) if part == part else inf


class FeatureLook(NamedTuple):
    """Features, in the primal view; ``level`` bounds what the penalty can be at the optimum.

    P(w*) ≤ P(w) leaves g_j(w_j*) − g_j(o_j) ≤ (P(w) − Σ inf φ)/λ − g(o) =: level, o_j the penalty's
    own choice.
    """

    loss: Any
    y: Any
    c: Any
    penalty: Any
    lam: float
    facts: Any  # problem.FeatureFacts
    squares: Any
    least: float

    def level(self, x, v):
        primal = 0.0
        for k in range(len(v)):
            if self.c[k] > 0.0:
                primal += self.c[k] * value(self.loss, v[k], self.y[k])
        for j in range(len(x)):
            primal += self.lam * value(self.penalty, x[j], j)
        return level_of(self, primal)

    def residue(self, j, x, g, level):
        u = -g / self.lam
        return abs(x - best(self, j, x, u, limit(self, j, x, u, level)))

    def part(self, j, x, g, level):
        u = -g / self.lam
        return part_beyond(self, j, x, u, best(self, j, x, u, limit(self, j, x, u, level)))


@helper
def level_of(look: Any, primal: float) -> float:
    level: float = (primal - look.least) / look.lam
    return max(level, 0.0) if level < LARGEST else LARGEST


@helper
def limit(look: Any, j: int, w: float, u: float, level: float) -> float:
    """B_j ≥ |w_j* − o_j|: "Lipschitzing" (Perekrestenko et al. 2017, section 4.1).

    Where g_j grows like r|w_j| that is B_j = level/r; where it is μ-strongly convex, √(2·level/μ).
    """
    facts = look.facts
    origin = facts.origin[j]
    bound = inf
    growth = min(facts.high[j], -facts.low[j])
    if 0.0 < growth < inf:
        bound = level / growth
    if facts.strength[j] > 0.0:
        bound = min(bound, sqrt(2.0 * level / facts.strength[j]))
    if bound < inf:
        bound = _widened(look.penalty, j, origin, bound, level)
    bound = min(bound, facts.reach[j] + abs(origin))
    away = abs(w - origin)
    if bound == inf and look.squares[j] > 0.0:
        # An unpenalised feature has no such bound; the length of a gradient step stands in.
        bound = away + abs(u) * look.lam / look.squares[j]
    return max(bound, away)


@helper
def _widened(penalty: Any, j: int, origin: float, bound: float, level: float) -> float:
    """The bound, doubled until the penalty has risen by ``level`` on both sides."""
    lowest = value(penalty, origin, j)
    for _ in range(60):
        left = value(penalty, origin - bound, j)
        right = value(penalty, origin + bound, j)
        if min(left, right) - lowest >= 0.999 * level:
            break
        bound *= 2.0
    return bound


@helper
def best(look: Any, j: int, w: float, u: float, bound: float) -> float:
    """The maximiser of u·w − g_j(w) within the bound, the nearest one if there are several."""
    origin = look.facts.origin[j]
    about = BLUR * max(1.0, abs(u))
    low = conj_slope(look.penalty, u - about, w, j)
    high = conj_slope(look.penalty, u + about, w, j)
    return min(max(min(max(w, low), high), origin - bound), origin + bound)


@helper
def part_beyond(look: Any, j: int, w: float, u: float, goal: float) -> float:
    """The feature's part of the gap, where ``goal`` is the best that it could do."""
    part = value(look.penalty, w, j) - value(look.penalty, goal, j) + u * (goal - w)
    return max(look.lam * part, 0.0)


@kernel
def sample_residues(look: Any, z: Any, a: Any, out: Any) -> None:
    for i in range(len(z)):
        out[i] = residue(look, i, a[i], z[i], 0.0)


@kernel
def feature_scores(
    look: Any, primal: float, w: Any, u: Any, limits: Any, residue: Any, gap: Any
) -> None:
    """Fill in the limits and the scores of all features."""
    level = level_of(look, primal)
    for j in range(len(w)):
        limits[j] = limit(look, j, w[j], u[j], level)
        goal = best(look, j, w[j], u[j], limits[j])
        residue[j] = abs(w[j] - goal)
        gap[j] = part_beyond(look, j, w[j], u[j], goal)
