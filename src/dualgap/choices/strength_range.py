"""One model, every λ of a range: a bound on its gap that needs no further fit.

For fixed coefficients P_λ(w) = Σ c φ + λ g(w) is linear in λ. With s = Σ c a x the dual objective
is D_λ(a) = −Σ c φ*(−a) − λ g*(s/λ), and λ g*(s/λ), the perspective of a convex function, is
convex in (a, λ) together. So for dual points a at ``low`` and a' at ``high`` the gap of w at any λ
between, with the dual point in between, is at most the larger of the gaps at both ends: two
certificates prove a statement about infinitely many problems.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof.certificate import Certificate, Pair, evaluate
from dualgap.proof.prove import prove_pair

_BACK = 0.1  # of the way to a model's own λ: where a proof falls short of an estimate
_TRIALS = 12
_HALVINGS = 12
_FARTHEST = 30.0  # as an exponent of 2: how far from its λ a model is tried


class FittedPair(NamedTuple):
    """A fitted model with all that its gap at another λ depends on.

    ``fitted``  a ``Solution``, or the ``Fit`` of an estimator
    ``pair``    with the products z = Xw and u = (1/λ) Σ c a x, so that estimates read no data
    """

    problem: Problem
    fitted: Any
    pair: Pair

    @classmethod
    def of(cls, problem: Problem, fitted: Any) -> FittedPair:
        w = joined(problem, fitted.coef, fitted.intercept)
        a = problem.flat(fitted.dual, "dual", problem.n)
        return cls(problem, fitted, Pair(w, a, problem.decision(w), problem.average(a)))

    @property
    def lam(self) -> float:
        return self.problem.lam

    def estimated_gap(self, lam: float) -> float:
        """About what ``certificate`` would prove: for searches, not for proofs."""
        moved = self.pair._replace(u=self.pair.u * (self.lam / lam))
        return evaluate(self.problem.with_lam(lam), moved, parts=False).gap

    def certificate(self, lam: float) -> tuple[Certificate, Floats]:
        """The proof at another λ, and the dual point that it rests on: two passes over the data."""
        return prove_pair(self.problem.with_lam(lam), self.pair.w, self.pair.a)

    def reach(self, limit: float, end: float) -> tuple[float, float]:
        """The λ farthest from the model's own, up to ``end``, at which a gap of at most ``limit``
        is proven; and that gap. The model's own λ and its gap if there is none."""
        own = self.fitted.certificate.gap
        if end == self.lam or own > limit:
            return self.lam, own
        lam = self._estimated_reach(limit, end)
        for _ in range(_TRIALS):
            gap = self.certificate(lam)[0].gap
            if gap <= limit:
                return lam, gap
            lam = self.lam * (lam / self.lam) ** (1.0 - _BACK)
        return self.lam, own

    def _estimated_reach(self, limit: float, end: float) -> float:
        if self.estimated_gap(end) <= limit:
            return end
        near, far = 0.0, min(abs(np.log2(end / self.lam)), _FARTHEST)
        sign = 1.0 if end > self.lam else -1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (near + far)
            inside = self.estimated_gap(self.lam * 2.0 ** (sign * middle)) <= limit
            near, far = (middle, far) if inside else (near, middle)
        return float(self.lam * 2.0 ** (sign * near))
