"""How far the decision values of a certified model can be from those of the exact optimum.

Let (w*, b*) be an optimum and ``gap`` at least P(w) − D(a). As g_j is μ_j-strongly convex,

    (λ/2) Σ_j μ_j (w_j − w_j*)² ≤ gap,   hence   |x·(w − w*)| ≤ √(2 gap/λ) · √(Σ_j x_j²/μ_j).

Samples bound an intercept without a penalty: P(w*) − D(a) ≤ gap is the sum of the non-negative
parts of ``terms.py`` at the optimum. Without the samples of the ballast (``free_features.py``) the
sum is no larger. Hence

    Σ_i c_i min_{|t| ≤ ρ_i} FY_i(x_i·w + b* + t, a_i) ≤ gap,      FY_i(z, a) = φ(z) + φ*(−a) + a z,

where ρ_i bounds |x_i·(w − w*)| on moved data (``linalg/shift.py``). The left side is convex in b*,
so b* lies in an interval, whose two ends are found by trial.

For softmax, FY_i is the divergence of two distributions over classes, which is at least that of
their restrictions to two classes. So the same condition, for a logistic loss, holds for each
difference of two intercepts. The radius is infinite for features without a penalty, and for
penalties such as L1 that are not strongly convex.
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
from dualgap.proof.block_terms import PER_TERM
from dualgap.proof.certificate import Certificate
from dualgap.proof.free_features import choose_ballast
from dualgap.proof.tuning import TUNING

_SUM_ERROR = 1.0 + 1e-9  # covers the rounding errors of sums of positive terms
_FARTHEST = 1e100  # the search for the end of an interval gives up here: the radius is infinite
# ``dgcheck`` knows no slopes, so its sum of parts may be smaller by one gap. Labels are certified
# for an intercept at which our sum exceeds this many gaps.
_CHECKABLE_GAPS = 2.5


class Radius(NamedTuple):
    """Bounds on the distance of a model from the exact optimum.

    ``root``       √(2 gap/λ)
    ``spread``     1/μ_j for each feature of X, infinite where there is no strong convexity
    ``constant``   Σ x²/μ of the constant feature, when it is penalised
    ``intercept``  bound on |b − b*| of an unpenalised intercept; for classes a bound for each, from
                   the optimum with the same mean of intercepts
    ``between``    bounds on the differences of two intercepts, for each pair of classes
    ``shift``      by how much columns were moved; intercepts are then those of the moved data
    """

    root: float
    spread: Floats
    constant: float
    intercept: Any
    between: Any
    shift: Shift | None = None

    def of_features(self, X: Any) -> Floats:
        """Bounds on |(x − shift)·(w − w*)|, with the constant feature if it is penalised."""
        if np.isinf(self.constant):
            return np.full(X.shape[0], np.inf)
        # These first: even a gap of 0 bounds nothing here.
        free = np.isinf(self.spread)
        squares = self._squares(X, np.where(free, 0.0, self.spread)) + self.constant
        with np.errstate(invalid="ignore"):  # an infinite gap proves nothing, but 0·w is 0
            bound = np.where(squares > 0.0, self.root * np.sqrt(squares) * _SUM_ERROR, 0.0)
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
    """The radius of a model, from its certificate and the dual point that this rests on."""
    found = _of_coefficients(problem, certificate.gap)
    if problem.intercept is not True:
        return found
    seen = _SamplesOfModel.of(problem, coef, intercept, dual, found)
    found = found._replace(shift=problem.shift)
    if problem.width > 1:
        between = _between(problem, seen, certificate.gap) + 2.0 * seen.moved
        return found._replace(between=between, intercept=between.mean(axis=1))
    return found._replace(
        intercept=seen.intercept_condition(problem).reach(certificate.gap) + seen.moved
    )


def certified_signs(
    problem: Problem, coef: Any, intercept: Any, dual: Any, certificate: Certificate
) -> tuple[Any, float]:
    """For each sample the sign of its decision value at every optimum, or 0 if none is proven; and
    a bound on |b − b*|. ``dgcheck`` can verify both."""
    found = _of_coefficients(problem, certificate.gap)
    seen = _SamplesOfModel.of(problem, coef, intercept, dual, found)
    reach = 0.0
    if problem.intercept is True:
        reach = (
            seen.intercept_condition(problem).reach(_CHECKABLE_GAPS * certificate.gap) + seen.moved
        )
    proven = np.abs(seen.z) > (seen.room + seen.error + reach) * _SUM_ERROR
    return np.where(proven, np.sign(seen.z), 0.0).astype(np.int8), reach


def _of_coefficients(problem: Problem, gap: float) -> Radius:
    """The radius from strong convexity alone, without an unpenalised intercept."""
    strength = problem.features.strength.reshape(problem.d, -1).min(axis=1)
    with np.errstate(divide="ignore"):
        spread = 1.0 / strength
    penalised = problem.intercept == "penalised"
    constant = problem.constant**2 * spread[-1] if penalised else 0.0
    root = np.sqrt(2.0 * gap) / np.sqrt(problem.lam)  # a quotient might underflow
    return Radius(float(root), spread[: problem.p], float(constant), 0.0, None)


class _SamplesOfModel(NamedTuple):
    """What a model and its dual point say of each sample.

    ``z``, ``error``  decision value and a bound on its rounding error
    ``moved``         the part of that error that comes from shifted columns
    ``a``             dual variables
    ``room``          how far x·w can be from x·w*
    ``c``             weights, set to 0 for the ballast
    """

    z: Floats
    error: Floats
    moved: float
    a: Floats
    room: Floats
    c: Floats

    @classmethod
    def of(
        cls, problem: Problem, coef: Any, intercept: Any, dual: Any, found: Radius
    ) -> _SamplesOfModel:
        a, w = problem.flat(dual, "dual", problem.n), joined(problem, coef, intercept)
        moved = shift_error(problem, w)
        error = (2.0 + problem.row_counts) * EPS * np.sqrt(problem.row_squares * np.sum(w * w))
        c = np.array(problem.c)
        if len(problem.free_places):
            c[choose_ballast(problem, a).samples] = 0.0
        room = found.of_features(problem.X)
        return cls(problem.decision(w), error + moved, moved, a, room, storage.as_shares(c))

    def intercept_condition(self, problem: Problem) -> _InterceptCondition:
        return _InterceptCondition(
            problem.loss, problem.y, self.c, self.z, self.a, self.room + self.error
        )


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


class _InterceptCondition(NamedTuple):
    """Σ_i c_i min FY_i ≤ limit, as a condition on a change of the intercept."""

    loss: Any
    y: Any
    c: Any
    z: Floats
    a: Floats
    room: Floats

    def reach(self, limit: float) -> float:
        """A bound on |shift| for all shifts that satisfy the condition."""
        if not np.isfinite(limit) or np.isinf(self.room).any():
            return np.inf
        first = float(np.max(self.room)) or EPS * (1.0 + float(np.max(np.abs(self.z))))
        return max(
            _first_outside(lambda shift: self._is_outside(shift, limit), first),
            _first_outside(lambda shift: self._is_outside(-shift, limit), first),
        )

    def _is_outside(self, shift: float, limit: float) -> bool:
        most = limit * _SUM_ERROR
        return bool(_least_parts(contains_yz(self.loss), *self, shift, most) > most)


def _first_outside(is_outside: Any, first: float) -> float:
    """A shift > 0 that is outside, not much larger than the smallest one; infinite if none is."""
    high = first
    while not is_outside(high):
        high *= TUNING.radius_stride
        if high > _FARTHEST:
            return np.inf
    low = high / TUNING.radius_stride
    while low > EPS * EPS * first and is_outside(low):
        low, high = low / TUNING.radius_stride, low
    for _ in range(TUNING.radius_halvings):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if is_outside(middle) else (middle, high)
    return high


@kernel
def _least_parts(
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
    """A lower bound on Σ_i c_i min FY_i(z_i + shift + t, a_i) over |t| ≤ room_i.

    Ends as soon as the sum exceeds ``enough``. The minimum of the convex FY_i over an interval is
    at an end of it, unless the interval contains the minimum 0 of FY_i.
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
        # The sizes of terms and of what may cancel inside them, as in ``terms.py``.
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


def _between(problem: Problem, seen: _SamplesOfModel, gap: float) -> Floats:
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
    # ‖W − W*‖ is that of all classes together. A difference of two has at most √2 times that norm.
    room = np.sqrt(2.0) * (seen.room + seen.error)
    # Shares have errors of EPS. A part changes by that times the logarithm of their odds.
    limit = gap + 64.0 * PER_TERM * EPS * width * (1.0 + float(np.abs(Z).max()))
    ones = np.ones(problem.n)
    for k in range(width):
        for other in range(k):
            both = shares[:, k] + shares[:, other]
            share = np.divide(shares[:, other], both, out=np.zeros(problem.n), where=both > 0.0)
            apart = Z[:, k] - Z[:, other]
            samples = _InterceptCondition(Logistic(), ones, seen.c * both, apart, share, room)
            out[k, other] = out[other, k] = samples.reach(limit)
    return out
