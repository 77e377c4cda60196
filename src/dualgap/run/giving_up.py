"""When a run gives up: rounding errors hide a smaller gap, whatever it does."""

from __future__ import annotations

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.run.epochs import TUNING


class FailedProofs:
    """Proofs in a row that missed the target, on one machine or on many."""

    failed_proofs: int = 0
    best_failed_gap: float = np.inf

    def give_up_after(self, gap: float) -> bool:
        """Count one with this gap. Whether so many have failed to improve that more are useless."""
        improved = gap < TUNING.improvement * self.best_failed_gap
        self.failed_proofs = 0 if improved else self.failed_proofs + 1
        if self.failed_proofs >= TUNING.failed_proofs:
            return True
        self.best_failed_gap = min(self.best_failed_gap, gap)
        return False


class RoundingFloor:
    """Gap checks in a row whose gap is a few rounding errors of the objective."""

    checks_at_floor: int = 0
    least_at_floor: float = np.inf

    def is_reached(self, gap: float, objective: float) -> bool:
        """Count one. Whether so many have failed to halve the gap that more are useless."""
        if not gap <= TUNING.rounding_errors * EPS * abs(objective):
            return False
        if gap <= 0.5 * self.least_at_floor:
            self.least_at_floor, self.checks_at_floor = gap, 0
        self.checks_at_floor += 1
        return self.checks_at_floor >= TUNING.checks_at_rounding
