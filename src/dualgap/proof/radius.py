"""How far the decision values of a certified model can be from those of the exact optimum.

Let (w*, b*) be an optimum and ``gap`` at least P(w) − D(a). As g_j is μ_j-strongly convex,

    (λ/2) Σ_j μ_j (w_j − w_j*)² ≤ gap,   hence   |x·(w − w*)| ≤ √(2 gap/λ) · √(Σ_j x_j²/μ_j).

An intercept without a penalty is bounded by the samples: P(w*) − D(a) ≤ gap is the sum of the
non-negative parts of ``terms.py`` at the optimum. Without the samples that make the balance of a
exact (``ballast.py``) it is no larger, so that

    Σ_i c_i min_{|t| ≤ ρ_i} FY_i(x_i·w + b* + t, a_i) ≤ gap,      FY_i(z, a) = φ(z) + φ*(−a) + a z,

where ρ_i bounds |x_i·(w − w*)| on moved data (``linalg/shift.py``). The left side is convex in b*,
and its two ends are found by trial.
For softmax, FY_i is the divergence of two distributions over classes, which is at least that of
their restrictions to two classes: the same condition, for a logistic loss, on each difference of
two intercepts. Nothing finite can be said of features without a penalty, nor of penalties such as
L1 that are not strongly convex: then the radius is infinite.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.compile.rules import conj, slope, value
from dualgap.compile.scalar import EPS
from dualgap.linalg import products, storage
from dualgap.linalg.shift import Shift
from dualgap.linalg.validate import Floats
from dualgap.losses.logistic import Logistic
from dualgap.losses.softmax import Softmax
from dualgap.losses.targets import contains_yz
from dualgap.problem import Problem
from dualgap.problem.intercept import joined, shift_error
from dualgap.proof.ballast import ballast
from dualgap.proof.block_terms import PER_TERM
from dualgap.proof.certificate import Certificate

_LOOSE = 1.0 + 1e-9  # covers the rounding errors of sums of positive terms
_STRIDE, _HALVINGS = 8.0, 4  # the end of an interval is found up to a factor 8^(1/16) = 1.14
_FARTHEST = 1e100
_MORE = 2.5  # times the gap: a checker that knows no slopes counts parts of up to one gap less


class Radius(NamedTuple):
    """Bounds on what the exact optimum can have in other places.

    ``root``       √(2 gap/λ)
    ``spread``     1/μ_j for each feature of X, infinite where there is no strong convexity
    ``constant``   Σ x²/μ of the constant feature, when it is penalised
    ``intercept``  bound on |b − b*| of an unpenalised intercept; for classes one for each, where
                   the optimum with the same mean of intercepts is meant
    ``between``    bounds on the differences of two intercepts, for each pair of classes
    ``shift``      what columns were moved by; intercepts are then those of the moved data
    """

    root: float
    spread: Floats
    constant: float
    intercept: Any
    between: Any
    shift: Shift | None = None

    def of_features(self, X: Any) -> Floats:
        """Bounds on |(x − shift)·(w − w*)|, the constant feature included when it is penalised."""
        if np.isinf(self.constant):
            return np.full(X.shape[0], np.inf)
        # First, as a gap of 0 says nothing of these either.
        free = np.isinf(self.spread)
        squares = self._squares(X, np.where(free, 0.0, self.spread)) + self.constant
        with np.errstate(invalid="ignore"):  # an infinite gap says nothing, but 0·w is 0
            bound = np.where(squares > 0.0, self.root * np.sqrt(squares) * _LOOSE, 0.0)
        if free.any():
            bound[self._squares(X, free.astype(np.float64)) > 0.0] = np.inf
        return np.asarray(bound)

    def _squares(self, X: Any, weights: Floats) -> Floats:
        if self.shift is None:
            return row_squares(X, weights)
        places, by = self.shift
        own = X[:, places]
        own = np.asarray(own.toarray() if storage.is_sparse(own) else own, dtype=np.float64) - by
        others = weights.copy()
        others[places] = 0.0
        return np.asarray(row_squares(X, others) + (own * own) @ weights[places])


def radius(
    problem: Problem, coef: Any, intercept: Any, dual: Any, certificate: Certificate
) -> Radius:
    """The radius of a model, from a certificate of it that rests on ``dual``."""
    found = _of_coefficients(problem, certificate.gap)
    if problem.intercept is not True:
        return found
    seen = _Seen.of(problem, coef, intercept, dual, found)
    found = found._replace(shift=problem.shift)
    if problem.width > 1:
        between = _between(problem, seen, certificate.gap) + 2.0 * seen.moved
        return found._replace(between=between, intercept=between.mean(axis=1))
    return found._replace(intercept=seen.samples(problem).reach(certificate.gap) + seen.moved)


def certified_signs(
    problem: Problem, coef: Any, intercept: Any, dual: Any, certificate: Certificate
) -> tuple[Any, float]:
    """For each sample the sign that its decision value has at every optimum, 0 if that is not
    proven, and a bound on |b − b*|; as ``dgcheck`` can follow it."""
    found = _of_coefficients(problem, certificate.gap)
    seen = _Seen.of(problem, coef, intercept, dual, found)
    reach = 0.0
    if problem.intercept is True:
        reach = seen.samples(problem).reach(_MORE * certificate.gap) + seen.moved
    proven = np.abs(seen.z) > (seen.room + seen.error + reach) * _LOOSE
    return np.where(proven, np.sign(seen.z), 0.0).astype(np.int8), reach


def _of_coefficients(problem: Problem, gap: float) -> Radius:
    """What strong convexity says."""
    strength = problem.features.strength.reshape(problem.d, -1).min(axis=1)
    with np.errstate(divide="ignore"):
        spread = 1.0 / strength
    penalised = problem.intercept == "penalised"
    constant = problem.constant**2 * spread[-1] if penalised else 0.0
    root = np.sqrt(2.0 * gap) / np.sqrt(problem.lam)  # a quotient might underflow
    return Radius(float(root), spread[: problem.p], float(constant), 0.0, None)


class _Seen(NamedTuple):
    """Samples under a model: decision values and their errors, ``moved`` that of shifted columns;
    dual variables; how far x·w can be from x·w*; weights without those of the ballast."""

    z: Floats
    error: Floats
    moved: float
    a: Floats
    room: Floats
    c: Floats

    @classmethod
    def of(cls, problem: Problem, coef: Any, intercept: Any, dual: Any, found: Radius) -> _Seen:
        a, w = problem.flat(dual, "dual", problem.n), joined(problem, coef, intercept)
        moved = shift_error(problem, w)
        error = (2.0 + problem.row_counts) * EPS * np.sqrt(problem.row_squares * np.sum(w * w))
        c = np.array(problem.c)
        if len(problem.free_places):
            c[ballast(problem, a).samples] = 0.0
        room = found.of_features(problem.X)
        return cls(problem.decision(w), error + moved, moved, a, room, storage.as_shares(c))

    def samples(self, problem: Problem) -> _Samples:
        return _Samples(problem.loss, problem.y, self.c, self.z, self.a, self.room + self.error)


def row_squares(X: Any, weights: Floats) -> Floats:
    """Σ_j weights_j x_ij² for each row of data as ``storage.as_data`` returns it."""
    out = np.empty(X.shape[0])
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    by_columns = X.format == "csc" if storage.is_sparse(X) else X.flags.f_contiguous
    if by_columns:
        products.scattered_squares(storage.columns(X), weights, out)
    else:
        products.weighted_squares(storage.rows(X), weights, out)
    return out


class _Samples(NamedTuple):
    """The condition on a change of the intercept."""

    loss: Any
    y: Any
    c: Any
    z: Floats
    a: Floats
    room: Floats

    def reach(self, limit: float) -> float:
        """The largest |shift| for which the parts can sum to no more than ``limit``."""
        if not np.isfinite(limit) or np.isinf(self.room).any():
            return np.inf
        first = float(np.max(self.room)) or EPS * (1.0 + float(np.max(np.abs(self.z))))
        return max(
            _first_outside(lambda shift: self._is_outside(shift, limit), first),
            _first_outside(lambda shift: self._is_outside(-shift, limit), first),
        )

    def _is_outside(self, shift: float, limit: float) -> bool:
        most = limit * _LOOSE
        return bool(least_parts(contains_yz(self.loss), *self, shift, most) > most)


def _first_outside(is_outside: Any, first: float) -> float:
    """A shift > 0 that is outside, not much larger than the smallest such; infinite if none is."""
    high = first
    while not is_outside(high):
        high *= _STRIDE
        if high > _FARTHEST:
            return np.inf
    low = high / _STRIDE
    while low > EPS * EPS * first and is_outside(low):
        low, high = low / _STRIDE, low
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if is_outside(middle) else (middle, high)
    return high


@kernel
def least_parts(
    multiplied: bool,
    loss: Any,
    y: Any,
    c: Any,
    z: Any,
    a: Any,
    room: Any,
    shift: float,
    enough: float,
) -> float:
    """At most Σ_i c_i min FY_i(z_i + shift + t, a_i) over |t| ≤ room_i; ends once above ``enough``.

    The minimum of a convex function over an interval is at an end, or else FY_i has its own, 0.
    """
    total = 0.0
    for i in range(len(y)):
        if c[i] == 0.0:
            continue
        reach = room[i] + PER_TERM * EPS * (abs(z[i]) + abs(shift) + room[i])
        end = z[i] + shift - reach
        tilt = slope(loss, end, y[i]) + a[i]
        if not tilt > 0.0:
            end = z[i] + shift + reach
            tilt = slope(loss, end, y[i]) + a[i]
            if not tilt < 0.0:
                continue
        loss_value = value(loss, end, y[i])
        loss_conj = conj(loss, a[i], y[i])
        # Terms and what may cancel inside them, as in ``terms.py``.
        hidden = (abs(tilt) + 2.0 * abs(a[i])) * (abs(y[i]) + abs(end) + reach)
        if multiplied:
            hidden += abs(y[i] * end) + abs(y[i]) + abs(a[i])
        size = abs(loss_value) + abs(loss_conj) + abs(a[i] * end) + abs(a[i] * y[i]) + hidden
        part = loss_value + loss_conj + a[i] * end - PER_TERM * EPS * size
        if part > 0.0:
            total += c[i] * part
            if total > enough:
                break
    return total


def _between(problem: Problem, seen: _Seen, gap: float) -> Floats:
    """How far each difference of two intercepts can be from that of an optimum."""
    width = problem.width
    out = np.full((width, width), np.inf)
    np.fill_diagonal(out, 0.0)
    if type(problem.loss) is not Softmax or not np.isfinite(gap):
        return out
    Z = seen.z.reshape(problem.n, width)
    shares = -seen.a.reshape(problem.n, width)
    shares[np.arange(problem.n), problem.y.astype(int)] += 1.0
    np.clip(shares, 0.0, 1.0, out=shares)
    # ‖W − W*‖² is that of all classes together; a difference of two has a norm of √2 times it.
    room = np.sqrt(2.0) * (seen.room + seen.error)
    # Shares are known to EPS; a part changes by that times the logarithm of their odds.
    limit = gap + 64.0 * PER_TERM * EPS * width * (1.0 + float(np.abs(Z).max()))
    ones = np.ones(problem.n)
    for k in range(width):
        for other in range(k):
            both = shares[:, k] + shares[:, other]
            share = np.divide(shares[:, other], both, out=np.zeros(problem.n), where=both > 0.0)
            apart = Z[:, k] - Z[:, other]
            samples = _Samples(Logistic(), ones, seen.c * both, apart, share, room)
            out[k, other] = out[other, k] = samples.reach(limit)
    return out
