"""``leave_one_out``: what each sample's prediction would be without it, proven from one fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap.choices.between import Interval
from dualgap.choices.left_out import left_out_values, strength_of
from dualgap.choices.newton_left_out import NewtonLeftOut
from dualgap.compile.scalar import EPS
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, whole
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof.radius import radius, row_squares
from dualgap.run.solve import solve

_FEW_FEATURES = 2_000  # for a Hessian
_MOST_NUMBERS = 50_000_000  # in the dense copy of X that sharp bounds work on
_REFIT_TOL = 1e-7


@dataclass(frozen=True, eq=False)
class LeftOutBounds:
    """Bounds on the decision value of each sample, at the optimum of the problem without it.

    ``low``, ``high``  the bounds, shape (n,)
    ``fitted``    decision values of the model as it was fitted, to all samples
    ``y``         targets; −1 and 1 for two classes
    ``two_classes``  whether they are labels
    """

    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    fitted: Floats = field(repr=False)
    y: Floats = field(repr=False)
    two_classes: bool

    @property
    def decided(self) -> Any:
        """For two classes: which samples have the same sign at both bounds."""
        return (self.low > 0.0) | (self.high < 0.0)

    @property
    def mistakes(self) -> tuple[int, int]:
        """For two classes: bounds on the number of samples that the others predict wrongly."""
        self._refuse_targets()
        positive = self.y > 0.0
        wrong = np.where(positive, self.high < 0.0, self.low > 0.0)
        right = np.where(positive, self.low > 0.0, self.high < 0.0)
        return int(np.sum(wrong)), int(np.sum(~right))

    @property
    def squared_error(self) -> tuple[float, float]:
        """Bounds on the mean of (y − decision value)²."""
        above, below = self.high - self.y, self.y - self.low
        least = np.maximum(np.maximum(-above, -below), 0.0)
        most = np.maximum(np.abs(above), np.abs(below))
        slack = (16.0 + len(self.y)) * EPS * float(np.mean((np.abs(self.y) + most) ** 2))
        return max(float(np.mean(least**2)) - slack, 0.0), float(np.mean(most**2)) + slack

    @property
    def moves(self) -> Interval:
        """Bounds on how far each decision value moves when its sample is taken out."""
        low, high = self.low - self.fitted, self.high - self.fitted
        least = np.maximum(np.maximum(low, -high), 0.0)
        return Interval(least, np.maximum(np.abs(low), np.abs(high)))

    def _refuse_targets(self) -> None:
        if not self.two_classes:
            raise ValueError("mistakes are counted for two classes; see squared_error")

    def __str__(self) -> str:
        n = len(self.y)
        if self.two_classes:
            least, most = self.mistakes
            count = str(least) if least == most else f"between {least} and {most}"
            return (
                f"leave-one-out: {count} of {n} labels are wrong ({np.sum(self.decided)} decided)"
            )
        low, high = self.squared_error
        return f"leave-one-out: mean squared error between {low:.6g} and {high:.6g} ({n} samples)"


def leave_one_out(
    model: Any, *, sharpen: int = 5_000, refits: int = 0, fixed: str | None = None
) -> LeftOutBounds:
    """Bound what each sample's decision value would be if the model were fitted without it.

    Parameters
    ----------
    model : Solution or fitted estimator
        Of one problem with one decision value for each sample, under a penalty that is strongly
        convex in every feature (L2, elastic net). An unpenalised intercept is fine. It must be the
        object that was fitted, which knows its data.
    sharpen : int
        For smooth losses and up to 2,000 features, at most as many samples get bounds that take a
        few passes over the data each: the undecided ones, for regression those with the widest
        bounds.
    refits : int
        At most as many samples that are still undecided are settled by a fit without them.
    fixed : "sum" or "mean", optional
        Whether the penalty keeps its strength relative to the sum of the losses (as C does) or to
        their mean (as ``lam`` does) when a sample is taken out. By default what the estimator's own
        parameter means; "mean" for a solution.

    Returns
    -------
    LeftOutBounds
        The tighter the fit's own ``tol``, the narrower the bounds.
    """
    problem, solution, usual = _of(model)
    fixed = usual if fixed is None else fixed
    if fixed not in ("sum", "mean"):
        raise ValueError(f'fixed must be "sum" or "mean", not {fixed!r}')
    sharpen, refits = whole(sharpen, "sharpen", 0), whole(refits, "refits", 0)
    _refuse(problem)
    keep_lam = fixed == "mean"
    low, high = left_out_values(problem, solution, keep_lam=keep_lam)
    two = problem.classes is not None or hasattr(model, "classes_")
    done = (low > 0.0) | (high < 0.0) if two else np.zeros(problem.n, dtype=bool)
    todo = np.flatnonzero(~done)
    todo = todo[np.argsort(low[todo] - high[todo], kind="stable")]
    if sharpen and _can_sharpen(problem):
        sharp = NewtonLeftOut(problem, solution, keep_lam=keep_lam)
        for j in todo[:sharpen]:
            found = sharp.interval(int(j))
            low[j], high[j] = max(low[j], found[0]), min(high[j], found[1])
        todo = todo[~((low[todo] > 0.0) | (high[todo] < 0.0))] if two else todo
    for j in todo[:refits]:
        found = _refitted(problem, solution, int(j), keep_lam=keep_lam)
        low[j], high[j] = max(low[j], found[0]), min(high[j], found[1])
    y = np.real(problem.y)
    fitted = problem.decision(joined(problem, solution.coef, solution.intercept))
    return LeftOutBounds(low, high, fitted, np.array(y), two)


def _of(model: Any) -> tuple[Problem, Any, str]:
    """The problem behind a model, its solution, and what its parameter keeps fixed."""
    if hasattr(model, "certificate"):
        if model.problem is None:
            raise ValueError(
                "the solution has come without its problem, from another process or a file: ask "
                "where it was solved"
            )
        return model.problem, model, "mean"
    from dualgap.estimators.ridge import Ridge, RidgeClassifier

    X, _, subproblems, fits = model._training("leave_one_out")
    if len(fits) > 1:
        raise ValueError(
            f"{type(model).__name__} has solved {len(fits)} problems, one for each class or "
            "target: fit and ask about one at a time"
        )
    sums = hasattr(model, "C") or isinstance(model, (Ridge, RidgeClassifier))
    return model._problem(X, subproblems[0]), fits[0], "sum" if sums else "mean"


def _refuse(problem: Problem) -> None:
    if problem.width > 1 or problem.n_targets > 1:
        raise ValueError("leave_one_out needs one decision value for each sample, not several")
    free = int(np.sum(problem.features.free))
    if free > (problem.intercept is True) or not strength_of(problem) > 0.0:
        raise ValueError(
            "nothing bounds how far coefficients move: the penalty must be strongly convex in "
            "every feature (L2, or an elastic net with l1_ratio < 1)"
        )


def _can_sharpen(problem: Problem) -> bool:
    smooth = problem.loss.differentiable and problem.loss.gamma > 0.0
    even = np.ptp(problem.features.strength[~problem.features.free]) == 0.0
    small = problem.d <= _FEW_FEATURES and problem.n * problem.d <= _MOST_NUMBERS
    return bool(smooth and even and small and not storage.is_coded(problem.X))


def _refitted(problem: Problem, solution: Any, j: int, *, keep_lam: bool) -> tuple[float, float]:
    """Bounds on the decision value of a sample from a fit without it."""
    weights = np.ones(problem.n) if problem.s is None else np.array(problem.s)
    weights[j] = 0.0
    lam = problem.lam if keep_lam else problem.lam / (1.0 - float(problem.c[j]))
    scaling = problem.constant or 1.0
    known = problem.plain_y, problem.given_loss, problem.feature_penalty, lam, weights
    other = Problem(problem, *known, problem.intercept, scaling, problem.offset)
    start = solution.coef, solution.intercept, solution.dual
    found = solve(other, tol=_REFIT_TOL, warm_start=start)
    reach = radius(other, found.coef, found.intercept, found.dual, found.certificate)
    row = storage.as_data(problem.given)[j : j + 1]
    dense = np.asarray(row.toarray() if storage.is_sparse(row) else row, dtype=np.float64)[0]
    coef = np.asarray(found.coef, dtype=np.float64)
    z = float(dense @ coef) + float(found.intercept)
    size = float(np.sqrt(row_squares(storage.as_data(dense[None, :]), np.ones(len(dense)))[0]))
    rounding = (4.0 + len(dense)) * EPS * (size * float(np.linalg.norm(coef)) + abs(z))
    rounding += 4.0 * EPS * abs(float(found.intercept))
    away = float(reach.of_features(row)[0]) + float(reach.intercept) + rounding
    return z - away, z + away
