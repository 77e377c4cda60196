"""How many rounds a run will take at its present rate, said early if they are too many."""

from __future__ import annotations

import math
import warnings

from dualgap.distributed.tuning import TUNING


class Projection:
    """Watches the gap of a run, and warns once."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, float]] = []  # rounds and gap
        self.judged = False

    def watch(self, rounds: int, seconds: float, gap: float, target: float) -> None:
        """The state of the run at a gap check."""
        if self.judged or not 0.0 < gap < math.inf:
            return
        self.seen.append((rounds, gap))
        if rounds - self.seen[0][0] < TUNING.rounds_to_project:  # a resumed run begins anew
            return
        left, self.judged = rounds_left(self.seen, target), True
        if left > TUNING.absurd_rounds:
            warnings.warn(
                f"after {rounds} rounds in {seconds:.2g} s the gap is {gap:.1e}; at this rate "
                f'{in_words(left)} more would bring it below {target:.1e}. Use scheme="newton" if '
                "it takes the problem, a larger tol or λ, fewer partitions, a smoothed loss, or "
                "one machine (dualgap.solve)",
                stacklevel=2,
            )


def rounds_left(seen: list[tuple[int, float]], target: float) -> float:
    """Rounds until the gap reaches the target, at the rate of the second half of those seen."""
    rounds, gap = seen[-1]
    if gap <= target:
        return 0.0
    before, larger = seen[len(seen) // 2]
    rate = math.log(larger / gap) / max(rounds - before, 1)
    return math.log(gap / target) / rate if rate > 0.0 and target > 0.0 else math.inf


def in_words(rounds: float) -> str:
    return "no number of them" if rounds == math.inf else f"about {rounds:,.0f}"
