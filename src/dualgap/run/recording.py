"""How the gap and the sampling probabilities are distributed over samples and features in a run.

Each gap check keeps a fixed number of values, however many samples and features there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats, whole
from dualgap.proof.certificate import Certificate
from dualgap.run.snapshot import Snapshot
from dualgap.run.solution import Solution

# A sorted vector is kept at so many evenly spaced ranks, and as many on a logarithmic scale.
_RANKS = 80
_MOST_OF_THE_GAP = 0.99


@dataclass(frozen=True, eq=False)
class Spread:
    """Many numbers ≥ 0 in decreasing order, kept at some ranks.

    ``size``     how many there are
    ``total``    their sum
    ``above``    how many exceed an equal share of a given level
    ``holders``  how many of the largest make up 99 % of the total
    ``ranks``    positions in the order; 1 is the largest
    ``values``   the numbers at these positions
    """

    size: int
    total: float
    above: int
    holders: int
    ranks: Any
    values: Floats

    @staticmethod
    def of(parts: Any, level: float) -> Spread:
        """Of a vector; an entry is large if it exceeds an equal share of ``level``."""
        ordered = np.sort(np.nan_to_num(np.asarray(parts, dtype=np.float64), posinf=np.inf))[::-1]
        size = len(ordered)
        if size == 0:
            return Spread(0, 0.0, 0, 0, np.empty(0, np.int64), np.empty(0))
        sums = np.cumsum(ordered)
        total = float(sums[-1])
        most = _MOST_OF_THE_GAP * total
        holders = int(np.searchsorted(sums, most)) + 1 if 0 < total < np.inf else 0
        ranks = np.union1d(np.linspace(1, size, _RANKS), np.geomspace(1, size, _RANKS))
        ranks = np.unique(ranks.round().astype(np.int64))
        above = int(np.count_nonzero(ordered > level / size))
        return Spread(size, total, above, min(holders, size), ranks, ordered[ranks - 1])

    @property
    def resolved(self) -> float:
        """The share of entries that are not above it."""
        return 1.0 - self.above / self.size if self.size else 1.0


@dataclass(frozen=True, eq=False)
class Frame:
    """One gap check: when it was, the gap, and what samples and features add to it.

    ``probabilities`` are relative to uniform ones, which are 1; None if nothing was drawn.
    """

    passes: float
    seconds: float
    gap: float
    samples: Spread
    features: Spread
    probabilities: Spread | None = None

    @staticmethod
    def of(
        passes: float,
        seconds: float,
        certificate: Certificate,
        target: float,
        probabilities: Floats | None = None,
    ) -> Frame:
        relative = None
        if probabilities is not None and probabilities.any():
            relative = Spread.of(probabilities / probabilities.mean(), np.inf)
        return Frame(
            passes,
            seconds,
            certificate.gap,
            Spread.of(certificate.sample_parts, target),
            Spread.of(certificate.feature_parts, target),
            relative,
        )

    @staticmethod
    def last(solution: Solution) -> Frame:
        """The certificate of a finished run."""
        history = solution.history
        passes, seconds = history.passes[-1], history.seconds[-1]
        return Frame.of(passes, seconds, solution.certificate, solution.target)

    @property
    def by_samples(self) -> bool:
        """Whether samples add more to the gap than features do."""
        return self.samples.total >= self.features.total


class Recording:
    """A callback for ``solve`` that records how gap and probabilities are distributed.

    >>> recording = Recording()  # doctest: +SKIP
    >>> solution = solve(problem, "adasdca+", callback=recording)  # doctest: +SKIP

    At most ``most`` gap checks are kept: when there are more, every second one is dropped, and from
    then on only every second gap check is recorded. ``callback`` is called as well, and may stop
    the run. The time for sorting counts towards the seconds of the run.
    """

    def __init__(self, most: int = 32, callback: Callable[[Snapshot], Any] | None = None) -> None:
        self.most = whole(most, "most", 2)
        self.callback = callback
        self.frames: list[Frame] = []
        self._every, self._seen = 1, 0

    def __call__(self, snapshot: Snapshot) -> Any:
        if snapshot.certificate is not None and self._seen % self._every == 0:
            if len(self.frames) == self.most:
                del self.frames[1::2]
                self._every *= 2
            if self._seen % self._every == 0:
                self._keep(snapshot)
        self._seen += 1
        return self.callback(snapshot) if self.callback is not None else None

    def _keep(self, snapshot: Snapshot) -> None:
        assert snapshot.certificate is not None
        self.frames.append(
            Frame.of(
                snapshot.passes,
                snapshot.seconds,
                snapshot.certificate,
                snapshot.target,
                snapshot.probabilities,
            )
        )

    def until(self, solution: Solution) -> list[Frame]:
        """All frames, the last one from the final certificate."""
        return [*self.frames, Frame.last(solution)]

    def __repr__(self) -> str:
        return f"Recording({len(self.frames)} gap checks)"
