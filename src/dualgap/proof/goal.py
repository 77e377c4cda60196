"""What ``tol`` asks for: a gap of at most ``tol`` times the best possible objective.

The optimum is not known, but its lower bound D(a) is, and D(a) ≤ P*. So gap ≤ tol · D(a) implies
P(w) − P* ≤ tol · P*. Both are counted from the least that losses and penalty can be, which is 0 for
most losses. An optimum near that least would ask for a gap of 0: below ``LEAST_SHARE`` of P(0) the
objective counts as that share of P(0).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg.validate import unknown

LEAST_SHARE = 1e-3  # of P(0): at tol=1e-4, gaps of 1e-7·P(0), which float64 resolves on most data
REFERENCES = ("optimum", "start")


def reference(dual: float, least: float, scale: float) -> float:
    """What a gap is relative to, given a lower bound of the objective."""
    return max(dual - least, LEAST_SHARE * scale)


def ratio(gap: float, size: float) -> float:
    """A gap in relation to an objective."""
    if gap == 0.0:
        return 0.0
    return gap / size if size > 0.0 else np.inf


def relative_words(certificate: Any) -> str:
    """The relative gap of a certificate, and what it is relative to."""
    counted = certificate.dual - certificate.least >= LEAST_SHARE * certificate.scale
    what = "the optimum" if counted else f"{LEAST_SHARE:g}·P(0)"
    return f"{certificate.relative_gap:.1e} of {what}"


class Goal:
    """The gap at which a run may stop.

    It depends on the bound that the run has proven. Steps ask for ``expected``, the gap that will
    suffice if the best objective so far is the optimum.
    """

    def __init__(self, tol: float, scale: float, least: float, relative_to: str) -> None:
        self.tol, self.scale, self.least = tol, scale, least
        self.relative_to = relative_to
        self.expected = tol * scale

    @staticmethod
    def of(problem: Any, tol: float, relative_to: str = "optimum") -> Goal:
        return Goal(tol, problem.scale, problem.least, check_reference(relative_to))

    def gap(self, bound: float) -> float:
        """The gap that is small enough, given a bound of the objective."""
        if self.relative_to == "start":
            return self.tol * self.scale
        return self.tol * reference(bound, self.least, self.scale)

    def note(self, primal: float) -> None:
        """Learn the best objective so far."""
        if np.isfinite(primal):
            self.expected = self.gap(min(primal, self.least + self.scale))


def check_reference(relative_to: Any) -> str:
    """One of the two words."""
    if not isinstance(relative_to, str) or relative_to not in REFERENCES:
        raise ValueError(unknown("relative_to", str(relative_to), REFERENCES))
    return relative_to
