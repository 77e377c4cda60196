"""Results in words and numbers: a row for each task, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers import judge

SHOWN = (1e-4, 1e-6)
OURS, REFERENCE = "dualgap", "reference"


class Row(NamedTuple):
    """Seconds to reach ``level``: ours, ours with a proof, and the best peer's. inf: nobody did.

    Where no peer did in its time, ``at_least`` is what each of them needs more than: the ratio is
    smaller than what comes of it.
    """

    task: str
    level: float
    ours: float
    proven: float
    peer: str
    best: float
    at_least: float
    mixed: bool  # ours and the peers' are not of the same session

    @property
    def alone(self) -> bool:
        return not np.isfinite(self.best)

    @property
    def ratio(self) -> float:
        return ratio(self.ours, self.at_least if self.alone else self.best)

    @property
    def proven_ratio(self) -> float:
        return ratio(self.proven, self.at_least if self.alone else self.best)


def ratio(ours: float, best: float) -> float:
    """Where ours does not arrive, it loses; where nothing is known of peers, it is NaN."""
    if not np.isfinite(ours):
        return np.inf
    return ours / best if 0.0 < best < np.inf else np.nan


def row(name: str, task: dict[str, Any], level: float) -> Row:
    best = judge.least(task)
    solvers = task["solvers"]
    peers = {name: entry for name, entry in solvers.items() if name not in (OURS, REFERENCE)}
    times = {name: judge.seconds_to(entry, best, level) for name, entry in peers.items()}
    peer = min(times, key=lambda name: times[name], default="none")
    own = solvers.get(OURS, {"runs": [], "session": ""})
    sessions = {entry["session"] for peer, entry in solvers.items() if peer != REFERENCE}
    return Row(
        name,
        level,
        judge.seconds_to(own, best, level),
        judge.seconds_to_proof(own, best, level),
        peer if times and np.isfinite(times[peer]) else "none",
        times.get(peer, np.inf),
        min((judge.seconds_without(entry) for entry in peers.values()), default=np.inf),
        len(sessions) > 1,
    )


def rows(results: dict[str, Any], level: float, names: Iterable[str] | None = None) -> list[Row]:
    """Of the tasks that ours took part in."""
    chosen = results["tasks"] if names is None else names
    tasks = {name: results["tasks"][name] for name in chosen}
    return [row(name, task, level) for name, task in tasks.items() if OURS in task["solvers"]]


def cell(seconds: float) -> str:
    """Three digits; a dash for what was not reached."""
    if not np.isfinite(seconds):
        return "–"
    return f"{seconds:.{max(0, 2 - int(np.floor(np.log10(seconds))))}f}"


def label(level: float) -> str:
    return f"1e-{round(-np.log10(level))}"


def lines(results: dict[str, Any]) -> list[str]:
    """The table as plain text."""
    head = f"{'task':40}"
    for level in SHOWN:
        head += f" | {f'to {label(level)}':>8} {'proven':>8} {'peer':>8} {'':24}"
        head += f" {'ratio':>6} {'proven':>6}"
    text = [head]
    for name in results["tasks"]:
        line = f"{name:40}"
        for level in SHOWN:
            r = row(name, results["tasks"][name], level)
            line += f" | {cell(r.ours):>8} {cell(r.proven):>8} {of_peer(r):>33}"
            line += f" {factor(r.ratio, r.alone):>6} {factor(r.proven_ratio, r.alone):>6}"
        text.append(line + ("  (of different sessions)" if r.mixed else ""))
    return text


def of_peer(row: Row) -> str:
    """Its seconds and its name, or what all of them need more than."""
    if row.alone:
        return f"> {cell(row.at_least)} nobody" if 0.0 < row.at_least < np.inf else "nobody"
    return f"{cell(row.best)} {row.peer}"


def factor(ratio: float, alone: bool = False) -> str:
    if np.isnan(ratio):
        return "alone"
    if not np.isfinite(ratio):
        return "did not arrive"
    return f"{'< ' if alone else ''}{ratio:.2f}"


def summary(found: list[Row]) -> str:
    """What must be shown, for rows of one level; tasks that nobody solved do not count."""
    met = [r for r in found if np.isfinite(r.ratio) or not r.alone]
    if not met:
        return f"to {label(found[0].level)}: no peer arrived in its time on {len(found)} tasks"
    ratios = np.array([r.ratio for r in met])
    proven = np.array([r.proven_ratio for r in met])
    worst = met[int(np.argmax(ratios))]
    alone, nobody = sum(r.alone for r in met), len(found) - len(met)
    return (
        f"to {label(found[0].level)}, {len(met)} tasks: median ratio {np.median(ratios):.2f},"
        f" at most 1.0 in {np.mean(ratios <= 1.0):.0%}, worst {ratios.max():.2f} ({worst.task});"
        f" with a proof: median {np.median(proven):.2f}"
        + (f"; in {alone} no peer arrived in its time, and bounds count" if alone else "")
        + (f"; {nobody} more, which nobody solved in time, do not count" if nobody else "")
    )


def summaries(results: dict[str, Any]) -> list[str]:
    text = []
    kinds = {
        "main": "main tasks",
        "small": "λ 10 and 100 times smaller",
        "held_out": "data on which nothing was tuned",
    }
    for key, title in kinds.items():
        names = [name for name, task in results["tasks"].items() if task.get(key)]
        found = [rows(results, level, names) for level in SHOWN]
        text += [f"{title} {summary(one)}" for one in found if one]
    return text


def remarks(results: dict[str, Any]) -> list[str]:
    """Who is missing, who failed, and where the minimum is not known well enough."""
    text = []
    missing: dict[str, set[str]] = {}
    for name, task in results["tasks"].items():
        for solver, entry in task["solvers"].items():
            if entry["status"] == "not installed" or entry["status"].startswith("failed"):
                missing.setdefault(f"{solver}: {entry['status']}", set()).add(name)
        gap = judge.doubt(task)
        if gap > min(SHOWN) / 10.0:
            text.append(f"{name}: the minimum is only proven to {gap:.0e}")
    counted = [f"{what} ({len(on)} tasks, {min(on)}, ...)" for what, on in missing.items()]
    return counted + text
