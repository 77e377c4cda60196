"""Who is faster at an equal objective: the rules, of records of runs alone."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Any, NamedTuple

SLACK = 1e-7  # relative; an objective above ours by no more is as good
PATIENT = 1.5  # how much longer than the best peer the first run of another may be


class Row(NamedTuple):
    """A case. ``peer`` is "" if none arrived; then ``theirs`` is how long one tried at least."""

    case: str
    ours: float
    theirs: float
    peer: str
    setting: str

    @property
    def ratio(self) -> float:
        """Ours over theirs; where no peer arrived, an upper bound."""
        return self.ours / self.theirs

    @property
    def alone(self) -> bool:
        return not self.peer


def repeats(seconds: float) -> int:
    """How many runs the shortest of which counts, from the seconds of the shortest so far."""
    for limit, count in ((8.0, 1), (2.0, 2), (0.5, 3)):
        if seconds >= limit:
            return count
    return max(5, min(50, round(0.3 / max(seconds, 1e-9))))


def as_good(objective: float | None, ours: float | None) -> bool:
    """Plain times, without an objective on either side, are always compared."""
    if ours is None or objective is None:
        return True
    return bool(objective - ours <= SLACK * abs(ours))


def fastest(runs: Iterable[dict[str, Any]], ours: float | None = None) -> dict[str, Any] | None:
    """The shortest of the runs that are at least as good as ours."""
    good = [run for run in runs if as_good(run.get("objective"), ours)]
    return min(good, key=lambda run: run["seconds"], default=None)


def climb(ladder: int, tried: list[dict[str, Any]], ours: float | None, best: float) -> bool:
    """Whether a peer is to try the next setting of its ladder.

    Not after it has arrived, nor if its last run was longer than the ``best`` peer's that did:
    tighter tolerances do not make it shorter.
    """
    if not tried:
        return True
    last = tried[-1]
    return (
        len(tried) < ladder
        and not as_good(last.get("objective"), ours)
        and last["seconds"] <= PATIENT * best
    )


def row(name: str, entry: dict[str, Any]) -> Row | None:
    """None if ours has not run."""
    mine = fastest(entry["ours"]["runs"])
    if mine is None:
        return None
    best: tuple[float, str, str] | None = None
    for peer, record in entry["peers"].items():
        run = fastest(record["runs"], mine.get("objective"))
        if run is not None and (best is None or run["seconds"] < best[0]):
            best = run["seconds"], peer, run["setting"]
    if best is not None:
        return Row(name, mine["seconds"], *best)
    tried = [
        max([run["seconds"] for run in record["runs"]] + [record.get("stopped", 0.0)])
        for record in entry["peers"].values()
        if record["runs"] or record.get("stopped")
    ]
    return Row(name, mine["seconds"], min(tried, default=float("nan")), "", "")


class Summary(NamedTuple):
    cases: int
    median: float
    won: float  # the share of ratios of at most 1
    worst: Row


def summary(rows: Iterable[Row]) -> Summary | None:
    """Of the rows that have a ratio."""
    known = [r for r in rows if r.ratio == r.ratio]
    if not known:
        return None
    ratios = [r.ratio for r in known]
    won = sum(ratio <= 1.0 for ratio in ratios) / len(known)
    return Summary(len(known), median(ratios), won, max(known, key=lambda r: r.ratio))


def lost(rows: Iterable[Row]) -> list[Row]:
    """Those above 1, the worst first."""
    return sorted((r for r in rows if r.ratio > 1.0), key=lambda r: -r.ratio)
