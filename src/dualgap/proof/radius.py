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
difference of two intercepts. For classes in an order it holds for the samples next to each
threshold alone, and bounds that threshold. The radius is infinite for features without a penalty,
and for penalties such as L1 that are not strongly convex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg import products, storage
from dualgap.linalg.shift import Shift
from dualgap.linalg.validate import Floats
from dualgap.losses.logistic import Logistic
from dualgap.losses.offset import BlockOffset, own_classes
from dualgap.losses.softmax import Softmax
from dualgap.penalties.structure import has_barrier
from dualgap.problem import Problem
from dualgap.problem.intercept import joined, shift_error
from dualgap.proof.block_terms import PER_TERM
from dualgap.proof.certificate import Certificate
from dualgap.proof.free_features import choose_ballast
from dualgap.proof.intercept_reach import SUM_ERROR, InterceptCondition

# ``dgcheck`` knows no slopes, so its sum of parts may be smaller by one gap. Labels are certified
# for an intercept at which our sum exceeds this many gaps.
_CHECKABLE_GAPS = 2.5


class Radius(NamedTuple):
    """Bounds on the distance of a model from the exact optimum.

    ``root``       √(2 gap/λ)
    ``spread``     1/μ_j for each feature of X, infinite where there is no strong convexity
    ``constant``   Σ x²/μ of the constant feature, when it is penalised
    ``intercept``  bound on |b − b*| of an unpenalised intercept; for classes a bound for each, from
                   the optimum with the same mean of intercepts; for classes in an order one for
                   each threshold
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
        bound = self._reach(self._squares(X, np.where(free, 0.0, self.spread)) + self.constant)
        if free.any():
            bound[self._squares(X, free.astype(np.float64)) > 0.0] = np.inf
        return np.asarray(bound)

    def of_even_features(self, squares: Floats) -> Floats:
        """The same for features of one strength, given Σ x² of each row."""
        spread = float(self.spread[0])
        if np.isinf(self.constant):
            return np.full(len(squares), np.inf)
        if np.isinf(spread):
            return np.where(squares > 0.0, np.inf, 0.0)
        return self._reach(spread * squares + self.constant)

    def _reach(self, squares: Floats) -> Floats:
        with np.errstate(invalid="ignore"):  # an infinite gap proves nothing, but 0·w is 0
            return np.where(squares > 0.0, self.root * np.sqrt(squares) * SUM_ERROR, 0.0)

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
    a, w = problem.flat(dual, "dual", problem.n), joined(problem, coef, intercept)
    ballast: Any = ()
    if len(problem.free_places) and problem.n_targets == 1:
        ballast = choose_ballast(problem, a).samples
    return radius_later(problem, w, a, problem.decision(w), ballast, certificate)()


def radius_later(
    problem: Problem, w: Floats, a: Floats, z: Floats, ballast: Any, certificate: Certificate
) -> Callable[[], Radius]:
    """A function that computes the radius when it is needed. It keeps what that takes, and neither
    X nor y of the user, which may change. ``z`` = Xw, ``ballast``: the samples of the ballast."""
    found = radius_of_coefficients(problem, certificate.gap)
    if problem.intercept is not True:
        return lambda: found
    seen_from, next_to = found, None
    if has_barrier(problem.feature_penalty):
        gaps = problem.feature_penalty.rates > 0.0
        # Rows of the same threshold have the same gaps, as if these were part of their intercept.
        seen_from = found._replace(spread=np.where(gaps, 0.0, found.spread))
        own_gaps = problem.X[:, np.flatnonzero(gaps)]
        own_gaps = own_gaps.toarray() if storage.is_sparse(own_gaps) else np.asarray(own_gaps)
        next_to = np.unique(-own_gaps.sum(axis=1), return_inverse=True)[1]
    samples = _SamplesOfModel.of(problem, w, a, z, ballast, seen_from)
    model = _Model(problem.loss, problem.y, problem.width, problem.shift)

    def compute() -> Radius:
        own = found._replace(shift=model.shift)
        seen = samples()
        if next_to is not None:
            conditions = (
                seen.intercept_condition(model, next_to == k) for k in range(next_to.max() + 1)
            )
            own_reach = [one.reach(certificate.gap) + seen.moved for one in conditions]
            return own._replace(intercept=np.array(own_reach))
        if model.width > 1:
            between = _between(model, seen, certificate.gap) + 2.0 * seen.moved
            return own._replace(between=between, intercept=between.mean(axis=1))
        reach = seen.intercept_condition(model).reach(certificate.gap)
        return own._replace(intercept=reach + seen.moved)

    return compute


class _Model(NamedTuple):
    """What of a problem the search for an interval needs."""

    loss: Any
    y: Any
    width: int
    shift: Shift | None


def certified_signs(
    problem: Problem, coef: Any, intercept: Any, dual: Any, certificate: Certificate
) -> tuple[Any, float]:
    """For each sample the sign of its decision value at every optimum, or 0 if none is proven; and
    a bound on |b − b*|. ``dgcheck`` can verify both."""
    found = radius_of_coefficients(problem, certificate.gap)
    a, w = problem.flat(dual, "dual", problem.n), joined(problem, coef, intercept)
    ballast = choose_ballast(problem, a).samples if len(problem.free_places) else ()
    seen = _SamplesOfModel.of(problem, w, a, problem.decision(w), ballast, found)()
    reach = 0.0
    if problem.intercept is True:
        model = _Model(problem.loss, problem.y, problem.width, problem.shift)
        reach = (
            seen.intercept_condition(model).reach(_CHECKABLE_GAPS * certificate.gap) + seen.moved
        )
    z, error = seen.z, seen.error
    if problem.offset is not None:
        error = error + EPS * (np.abs(z) + np.abs(problem.offset))
        z = z + problem.offset
    proven = np.abs(z) > (seen.room + error + reach) * SUM_ERROR
    return np.where(proven, np.sign(z), 0.0).astype(np.int8), reach


def radius_of_coefficients(problem: Problem, gap: float) -> Radius:
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
        cls, problem: Problem, w: Floats, a: Floats, z: Floats, ballast: Any, found: Radius
    ) -> Callable[[], _SamplesOfModel]:
        """A function that makes it without X, unless features differ in strength."""
        own, squares, weights = problem.squares_of_rows, problem.row_squares, problem.c
        entries = 2.0 + problem.longest_row
        moved, size = shift_error(problem, w), float(np.sum(w * w))
        even = bool(found.spread.min() == found.spread.max())
        room = None if even else found.of_features(problem.X)

        def make() -> _SamplesOfModel:
            error = entries * EPS * np.sqrt(squares * size)
            c = np.array(weights)
            c[list(ballast)] = 0.0
            reach = found.of_even_features(own) if room is None else room
            return cls(z, error + moved, moved, a, reach, storage.as_shares(c))

        return make

    def intercept_condition(self, model: _Model, part: Any = None) -> InterceptCondition:
        """The condition from all samples, or from those of a mask."""
        columns = model.y, self.c, self.z, self.a, self.room + self.error
        if part is not None:
            y, c, *rest = (column[part] for column in columns)
            columns = y, storage.as_shares(c), *rest
        return InterceptCondition(model.loss, *columns)


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


def _between(model: _Model, seen: _SamplesOfModel, gap: float) -> Floats:
    """How far each difference of two intercepts can be from that of an optimum."""
    width = model.width
    out = np.full((width, width), np.inf)
    np.fill_diagonal(out, 0.0)
    offsets, rounded = None, 0.0
    if type(model.loss) is BlockOffset:
        offsets = model.loss.offsets[np.imag(model.y).astype(np.int64)]
        model = model._replace(loss=model.loss.base)
    if type(model.loss) is not Softmax or not np.isfinite(gap):
        return out
    Z = seen.z.reshape(len(model.y), width)
    if offsets is not None:
        rounded = 2.0 * EPS * (np.abs(Z).max(axis=1) + np.abs(offsets).max(axis=1))
        Z = Z + offsets
    shares = -seen.a.reshape(len(model.y), width)
    shares[np.arange(len(model.y)), own_classes(model.y)] += 1.0
    np.clip(shares, 0.0, 1.0, out=shares)
    # ‖W − W*‖ is that of all classes together. A difference of two has at most √2 times that norm.
    room = np.sqrt(2.0) * (seen.room + seen.error) + rounded
    # Shares have errors of EPS. A part changes by that times the logarithm of their odds.
    limit = gap + 64.0 * PER_TERM * EPS * width * (1.0 + float(np.abs(Z).max()))
    ones = np.ones(len(model.y))
    for k in range(width):
        for other in range(k):
            both = shares[:, k] + shares[:, other]
            share = np.divide(shares[:, other], both, out=np.zeros(len(model.y)), where=both > 0.0)
            apart = Z[:, k] - Z[:, other]
            samples = InterceptCondition(Logistic(), ones, seen.c * both, apart, share, room)
            out[k, other] = out[other, k] = samples.reach(limit)
    return out
