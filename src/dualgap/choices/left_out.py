"""Where the decision value of a sample can be if the model is fitted without it, from one fit.

Take out sample j. Along τ, the decision value that j would then have, the best objective without j
is a convex function V(τ) with its minimum at the answer τ*, and V(τ*) ≤ F, the objective of the
fitted model without j. From below, for any number k, Lagrange and the dual point a + k h give

    V(τ) ≥ F + σ_j(k)·(τ − z_j) − E(k) − Λ B_j(k),        σ_j(k) = c_j a_j − k H_j,

where h, with Σ c h = 1, keeps a free intercept balanced, H_j = 1 − c_j h_j, E(k) is the gap of the
samples at a + k h, and B_j(k) is that of the penalty at u_j(k), with Λ u_j(k) = λ u − k (x_j − m),
m = Σ c h x. Without a free intercept h and m are 0 and H is 1. So τ* satisfies

    σ_j(k)·(τ* − z_j) + ½κ(τ* − z_j)² ≤ E(k) + Λ B_j(k)    for every k:

an interval. V is κ-strongly convex with κ = Λμ/‖x_j‖² where the intercept, if there is any, is
penalised. E is convex, so chords bound it between a few values of k. All samples take the time of a
few passes over the data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.choices.between import Interval
from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof import terms
from dualgap.proof.feature_terms import feature_terms
from dualgap.proof.free_features import _rooms
from dualgap.proof.intercept_reach import SUM_ERROR
from dualgap.proof.rounding import error_of_u, error_of_z

_RATIO = 2.0**0.25  # of the lengths k that are tried for each sample, in units of its own
_LENGTHS = _RATIO ** np.arange(-24, 17)
_CHORD_RATIO = 2.0**0.25  # of the lengths at which E is computed
_CHORDS = 96  # on each side


class _Facts(NamedTuple):
    """What the bounds need to know of a fitted model, of X and of the direction h.

    ``z``, ``z_error``  decision values, bounds on their errors
    ``ca``       c_i a_i
    ``H``        1 − c_i h_i
    ``square``, ``along_u``, ``along_r``  bounds on ‖x̃‖², and u·x̃ and r·x̃ with bounds on their
                 errors, for x̃_i = x_i − m and r = ∇g*(u) − w
    ``size``     bounds on ‖x_i‖
    ``loose``    how far Σ c a x of free features can be from 0
    """

    z: Floats
    z_error: Floats
    ca: Floats
    H: Floats
    square: Floats
    along_u: tuple[Floats, Floats]
    along_r: tuple[Floats, Floats]
    size: Floats
    loose: float
    u_size: float
    u_error: float
    r_dot_u: float
    r_size: float
    of_penalty: float


def left_out_values(problem: Problem, solution: Any, *, keep_lam: bool) -> Interval:
    """Bounds on x_j·w + b for each sample j, at the optimum without it.

    With ``keep_lam`` the penalty keeps its strength relative to the mean of the losses, otherwise
    relative to their sum.
    """
    w = joined(problem, solution.coef, solution.intercept)
    a = problem.flat(solution.dual, "dual", problem.n)
    h = _direction(problem, w, a)
    facts = _facts(problem, w, a, h)
    gap_of_samples = _Chords.of(problem, facts, a, h)
    rest = 1.0 - problem.c if keep_lam else np.ones(problem.n)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return _intervals(problem, facts, gap_of_samples, problem.lam * rest)


def strength_of(problem: Problem) -> float:
    """How strongly convex the penalty is in the features that it touches."""
    penalised = ~problem.features.free
    return float(np.min(problem.features.strength[penalised], initial=np.inf))


def _direction(problem: Problem, w: Floats, a: Floats) -> Floats | None:
    """h, which says how samples share what balances an intercept; None without a free intercept."""
    if problem.intercept is not True:
        return None
    h = np.empty(problem.n)
    if problem.loss.differentiable and problem.loss.gamma > 0.0:
        terms.curvatures(problem.loss, problem.y, problem.decision(w), h)
    else:
        _rooms(problem.loss, problem.y, a, h)
    total = float(np.sum(problem.c * h))
    return h / total if total > 0.0 else np.zeros(problem.n)


def _facts(problem: Problem, w: Floats, a: Floats, h: Floats | None) -> _Facts:
    free = np.asarray(problem.free_places)
    z, u = problem.decision(w), problem.average(a)
    u_errors = error_of_u(problem, a)
    loose = problem.lam * float(np.sum(np.abs(u[free]) + u_errors[free]))
    u[free] = u_errors[free] = 0.0
    parts = np.empty(len(w))
    penalty = feature_terms(problem.penalty, problem.lam, w, u, u_errors, parts)
    slopes = np.empty(len(u))
    terms.conj_slopes(problem.penalty, u, slopes)
    r = slopes - w
    r[free] = 0.0
    m, H, loose_m = np.zeros(len(u)), np.ones(problem.n), 0.0
    if h is not None:
        m = problem.lam * problem.average(h)
        m_errors = problem.lam * error_of_u(problem, h)
        m[free] = m_errors[free] = 0.0
        H, loose_m = 1.0 - problem.c * h, _norm(m_errors)
    size = np.sqrt(problem.row_squares)
    if len(free):
        size = np.sqrt(problem.squares_of_rows)
    m_size, u_size, r_size = _norm(m), _norm(u), _norm(r)
    rounding = (16.0 + 2.0 * problem.longest_row) * EPS
    both = size + m_size
    square = np.maximum(size**2 - 2.0 * problem.decision(m) + m_size**2, 0.0)
    square = (np.sqrt(square + rounding * both**2) + loose_m) ** 2
    u_error = _norm(u_errors)
    return _Facts(
        z=z,
        z_error=error_of_z(problem, w, sharp=False)(slice(0, problem.n)) + EPS * np.abs(z),
        ca=problem.c * a,
        H=H,
        square=square * SUM_ERROR,
        along_u=_along(problem, u, m, u_size, both, loose_m, rounding),
        along_r=_along(problem, r, m, r_size, both, loose_m, rounding),
        size=size * SUM_ERROR,
        loose=loose,
        u_size=u_size,
        u_error=u_error,
        r_dot_u=float(r @ u),
        r_size=r_size + u_error / strength_of(problem),
        of_penalty=penalty.gap + penalty.gap_error,
    )


def _along(
    problem: Problem, v: Floats, m: Floats, size: float, both: Floats, loose: float, rounding: float
) -> tuple[Floats, Floats]:
    """v·x̃ for all samples, with bounds on its errors."""
    return problem.decision(v) - float(v @ m), size * (rounding * both + loose)


def _norm(v: Floats) -> float:
    return float(np.sqrt(np.sum(v * v))) * SUM_ERROR


class _Chords(NamedTuple):
    """Upper bounds on E(k), the gap of all samples at a + k h: a convex function of k."""

    k: Floats
    E: Floats

    @classmethod
    def of(cls, problem: Problem, facts: _Facts, a: Floats, h: Floats | None) -> _Chords:
        def at(k: float) -> float:
            moved = a if h is None else a + k * h
            sums = terms.sample_terms(
                problem.loss, problem.y, problem.c, facts.z, moved,
                lambda samples: facts.z_error[samples], np.empty(0), 1, problem.weight_error + 4.0,
            )  # fmt: skip
            return sums.gap + sums.gap_error

        if h is None:
            return cls(np.zeros(1), np.array([at(0.0)]))
        most = 4.0 * float(np.max(np.abs(facts.ca) / facts.H)) * _LENGTHS[-1] / 16.0
        lengths = most * _CHORD_RATIO ** -np.arange(_CHORDS, dtype=np.float64)[::-1]
        k = np.concatenate([-lengths[::-1], [0.0], lengths])
        E = np.array([at(one) for one in k])
        return cls(k, np.where(np.isnan(E), np.inf, E))

    def above(self, k: Floats) -> Floats:
        if len(self.k) == 1:
            return np.broadcast_to(self.E[0], k.shape)
        right = np.clip(np.searchsorted(self.k, k), 1, len(self.k) - 1)
        low, high = self.k[right - 1], self.k[right]
        share = (k - low) / (high - low)
        below, above = self.E[right - 1], self.E[right]
        found = np.where(share == 0.0, below, np.where(share == 1.0, above, 0.0))
        between = (share > 0.0) & (share < 1.0)
        mixed = (1.0 - share) * below + share * above
        found = np.where(between, mixed, found)
        outside = (k < self.k[0]) | (k > self.k[-1])
        return np.where(outside, np.inf, found) * SUM_ERROR


def _intervals(problem: Problem, facts: _Facts, chords: _Chords, lam: Floats) -> Interval:
    mu, shrunk = strength_of(problem), problem.lam - lam
    strict = len(problem.free_places) == 0
    kappa = lam * mu / facts.square if strict else np.zeros(problem.n)
    start = facts.ca / facts.H
    e_0 = chords.above(np.zeros(problem.n)) + facts.of_penalty
    own = np.abs(start) + np.sqrt(2.0 * e_0 * lam * mu / facts.square)
    low, high = np.full(problem.n, -np.inf), np.full(problem.n, np.inf)
    off = facts.loose * facts.size + lam * facts.u_error
    for sign in (1.0, -1.0):
        for length in _LENGTHS:
            k = start + sign * length * own
            p2 = (shrunk * facts.u_size) ** 2 + k**2 * facts.square
            p2 = (
                p2
                - 2.0 * shrunk * k * facts.along_u[0]
                + 2.0 * np.abs(shrunk * k) * facts.along_u[1]
            )
            p = np.sqrt(np.maximum(p2, 0.0) + 64.0 * EPS * (np.abs(p2) + k**2 * facts.square)) + off
            tilt = shrunk * facts.r_dot_u - k * facts.along_r[0]
            tilt += (
                np.abs(k) * facts.along_r[1]
                + 16.0 * EPS * np.abs(shrunk) * facts.r_size * facts.u_size
            )
            tilt += facts.r_size * off + facts.u_error / mu * p
            room = (
                chords.above(k)
                + (lam / problem.lam) * facts.of_penalty
                + tilt
                + p**2 / (2.0 * mu * lam)
            )
            room = np.maximum(room, 0.0) * SUM_ERROR
            slope = facts.ca - k * facts.H
            slope_off = facts.loose + 8.0 * EPS * (np.abs(facts.ca) + np.abs(k))
            steep = np.maximum(np.abs(slope) - slope_off, 0.0)
            # steep·d − slack·… + ½κd² ≤ room for d in the direction of the slope
            reach = 2.0 * room / (steep + np.sqrt(steep**2 + 2.0 * kappa * room))
            reach = np.where((steep > 0.0) & np.isfinite(reach), reach, np.inf) * SUM_ERROR
            down = slope < 0.0
            low = np.where(down, np.maximum(low, -reach), low)
            high = np.where(down, high, np.minimum(high, reach))
    room = facts.z_error + 4.0 * EPS * np.abs(facts.z)
    return Interval(facts.z + low - room, facts.z + high + room)
