"""How the parts of the gap and the probabilities of a run are spread, while it runs.

Of each look a fixed number of values is kept, however many samples and features there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats, whole
from dualgap.proof.certificate import Certificate
from dualgap.run.loop import Snapshot
from dualgap.run.solution import Solution

# Ranks at which a sorted vector is kept: so many evenly spaced ones, and as many on a log scale.
_RANKS = 80
_MOST_OF_IT = 0.99


@dataclass(frozen=True, eq=False)
class Spread:
    """Many numbers ≥ 0 from the largest down, kept at some ranks.

    ``size``     how many they are
    ``total``    their sum
    ``above``    how many exceed an equal share of the level that was asked about
    ``holders``  how many, the largest first, make up 99 % of the total
    ``ranks``    places in the order; 1 is the largest
    ``values``   what is found there
    """

    size: int
    total: float
    above: int
    holders: int
    ranks: Any
    values: Floats

    @staticmethod
    def of(parts: Any, level: float) -> Spread:
        """Of a vector; a part is large if that many of its size would exceed ``level``."""
        ordered = np.sort(np.nan_to_num(np.asarray(parts, dtype=np.float64), posinf=np.inf))[::-1]
        size = len(ordered)
        if size == 0:
            return Spread(0, 0.0, 0, 0, np.empty(0, np.int64), np.empty(0))
        sums = np.cumsum(ordered)
        total = float(sums[-1])
        holders = int(np.searchsorted(sums, _MOST_OF_IT * total)) + 1 if 0 < total < np.inf else 0
        ranks = np.union1d(np.linspace(1, size, _RANKS), np.geomspace(1, size, _RANKS))
        ranks = np.unique(ranks.round().astype(np.int64))
        above = int(np.count_nonzero(ordered > level / size))
        return Spread(size, total, above, min(holders, size), ranks, ordered[ranks - 1])

    @property
    def resolved(self) -> float:
        """The share of those that are not above."""
        return 1.0 - self.above / self.size if self.size else 1.0


@dataclass(frozen=True, eq=False)
class Frame:
    """One look: when it was, the gap, and what samples and features add to it.

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
        chances = None
        if probabilities is not None and probabilities.any():
            chances = Spread.of(probabilities / probabilities.mean(), np.inf)
        return Frame(
            passes,
            seconds,
            certificate.gap,
            Spread.of(certificate.sample_parts, target),
            Spread.of(certificate.feature_parts, target),
            chances,
        )

    @staticmethod
    def last(solution: Solution) -> Frame:
        """What the certificate of a finished run says."""
        history = solution.history
        passes, seconds = history.passes[-1], history.seconds[-1]
        return Frame.of(passes, seconds, solution.certificate, solution.target)

    @property
    def by_samples(self) -> bool:
        """Whether samples add more to the gap than features do."""
        return self.samples.total >= self.features.total


class Recording:
    """A callback for ``solve`` that keeps how the sampling went.

    >>> recording = Recording()  # doctest: +SKIP
    >>> solution = solve(problem, "adasdca+", callback=recording)  # doctest: +SKIP

    ``most`` looks are kept: when there are more, every second one is left out, and from then on
    only every second look is written down. ``callback`` is called as well, and may stop the run.
    Sorting takes time, which counts for the seconds of the run.
    """

    def __init__(self, most: int = 32, callback: Callable[[Snapshot], Any] | None = None) -> None:
        self.most = whole(most, "most", 2)
        self.callback = callback
        self.frames: list[Frame] = []
        self._every, self._looks = 1, 0

    def __call__(self, snapshot: Snapshot) -> Any:
        if snapshot.certificate is not None and self._looks % self._every == 0:
            if len(self.frames) == self.most:
                del self.frames[1::2]
                self._every *= 2
            if self._looks % self._every == 0:
                self._keep(snapshot)
        self._looks += 1
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
        """The frames, and that of the certificate at the end."""
        return [*self.frames, Frame.last(solution)]

    def __repr__(self) -> str:
        return f"Recording({len(self.frames)} looks)"
