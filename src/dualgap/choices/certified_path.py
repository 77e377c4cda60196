"""``certified_path``: a grid of λ that provably leaves no λ of an interval out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap.choices.strength_range import FittedPair
from dualgap.linalg.validate import LARGEST, Floats, number, whole
from dualgap.problem import Problem
from dualgap.run.solution import Solution
from dualgap.run.solve import solve

_OWN_SHARE = 0.1  # of the limit that a model may use up at its own λ; the rest is for other λ
_PROGRESS = 1.0 - 1e-12  # pieces that are shorter cover nothing: the path would not end
_STEP = 0.9  # the share of a stride beyond the last piece that the next model is expected to cover


@dataclass(frozen=True, eq=False)
class CertifiedPath:
    """Models that together have a small gap at every λ of an interval.

    ``lams``       where the models were fitted, in decreasing order
    ``lows``, ``highs``  the part of the interval that each model covers; parts overlap or meet
    ``gaps``       the largest gap of each model in its part, proven
    ``bound``      what none of these gaps exceeds: eps·P(0)
    ``solutions``  the models
    ``complete``   whether the interval is covered; else from ``lows[-1]`` upwards only
    """

    lams: Floats
    lows: Floats
    highs: Floats
    gaps: Floats
    bound: float
    eps: float
    complete: bool
    solutions: list[Solution] = field(repr=False)

    def at(self, lam: float) -> Solution:
        """The model for this λ: the one, of those whose part contains it, fitted nearest to it."""
        lam = number(lam, "lam", 0.0, open_low=True)
        inside = (self.lows <= lam) & (lam <= self.highs)
        if not inside.any():
            raise ValueError(
                f"lam = {lam:g} is outside of the interval from {self.lows[-1]:g} to "
                f"{self.highs[0]:g} that the path covers"
            )
        distances = np.where(inside, np.abs(np.log(self.lams / lam)), np.inf)
        return self.solutions[int(np.argmin(distances))]

    def __len__(self) -> int:
        return len(self.solutions)

    def __str__(self) -> str:
        return (
            f"{len(self)} models: for every λ from {self.lows[-1]:.4g} to {self.highs[0]:.4g} one "
            f"of them is within {self.bound:.2g} of the optimum ({self.eps:g}·P(0))"
            + ("" if self.complete else "; stopped before the interval was covered")
        )


def certified_path(
    problem: Problem,
    low: float,
    high: float,
    eps: float = 1e-3,
    *,
    max_models: int = 1000,
    warm_start: Any = None,
    **options: Any,
) -> CertifiedPath:
    """Fit a problem at as many λ of an interval as it takes to be near the optimum at all of them.

    Parameters
    ----------
    problem : Problem
        Its own ``lam`` does not matter. Any loss and penalty.
    low, high : float
        The interval of λ.
    eps : float
        For every λ in [low, high], ``path.at(λ)`` has a gap of at most eps·P_λ(0), where P_λ(0) is
        the objective at zero coefficients with the best unpenalised intercept.
    max_models : int
        The path ends after as many models; it then covers the upper part of the interval.
    warm_start : Solution, optional
        Where the first fit, at ``high``, starts.
    **options
        Go to ``solve``; but ``tol``, ``relative_to`` and ``checkpoint`` are not taken.

    Returns
    -------
    CertifiedPath
        After Ctrl-C with the part that was covered by then.
    """
    low, high = (number(lam, "low and high", 0.0, LARGEST, open_low=True) for lam in (low, high))
    if low > high:
        raise ValueError(f"low = {low:g} is larger than high = {high:g}")
    eps = number(eps, "eps", 0.0, 1.0, open_low=True)
    for taken in ("tol", "relative_to", "checkpoint"):
        if taken in options:
            raise ValueError(f"{taken} is not an option of certified_path: its accuracy is eps")
    options |= {"tol": _OWN_SHARE * eps, "relative_to": "start"}
    return _Walk(problem, low, high, eps, options).run(
        whole(max_models, "max_models", 1), warm_start
    )


class _Walk:
    """From the highest λ downwards, each stride as long as the last one turned out to be."""

    def __init__(
        self, problem: Problem, low: float, high: float, eps: float, options: dict[str, Any]
    ) -> None:
        self.problem, self.low, self.high, self.eps = problem, low, high, eps
        self.options = options
        self.bound = eps * min(problem.with_lam(lam).scale for lam in (low, high))
        self.pieces: list[
            tuple[FittedPair, float, float, float]
        ] = []  # with low, high and largest gap
        self.fits = 0

    def run(self, max_models: int, warm: Any) -> CertifiedPath:
        covered, lam, interrupted = self.high, self.high, False
        while not interrupted and self.fits < max_models:
            model = self.fit(lam, warm)
            warm, interrupted = model.fitted, model.fitted.interrupted
            top, above = model.reach(self.bound, covered)
            if model.fitted.certificate.gap > self.bound:
                if self.fits == 1 or not interrupted:
                    self.refuse(model)
                break
            if top < covered:  # too long a stride: it leaves a hole
                lam = float(np.sqrt(lam * covered))
                continue
            bottom, below = model.reach(self.bound, self.low)
            self.pieces.append(
                (model, bottom, top, max(above, below, model.fitted.certificate.gap))
            )
            if bottom <= self.low:
                break
            if bottom >= covered * _PROGRESS:
                self.refuse(model)
            lam = max(bottom * (bottom / lam) ** _STEP if lam > bottom else bottom, self.low)
            covered = bottom
        return self.result()

    def fit(self, lam: float, warm: Any) -> FittedPair:
        self.fits += 1
        problem = self.problem = self.problem.with_lam(lam)
        return FittedPair.of(problem, solve(problem, warm_start=warm, **self.options))

    def refuse(self, model: FittedPair) -> None:
        raise ValueError(
            f"eps = {self.eps:g} is too small: at λ = {model.lam:g} the fit has a gap of "
            f"{model.fitted.certificate.gap:.1e} where {self.bound:.1e} is needed with room to "
            "spare; raise eps, raise max_epochs or scale the features"
        )

    def result(self) -> CertifiedPath:
        models, lows, highs, gaps = zip(*self.pieces)
        return CertifiedPath(
            lams=np.array([model.lam for model in models]),
            lows=np.array(lows),
            highs=np.array(highs),
            gaps=np.array(gaps),
            bound=self.bound,
            eps=self.eps,
            complete=lows[-1] <= self.low,
            solutions=[model.fitted for model in models],
        )
