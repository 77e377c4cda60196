"""The figures of a paper, on data of one's own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dualgap import datasets
from papers import made
from papers.figure import Exhibit, Panel, Race, RaceFigure
from papers.runs import ProblemSpec
from papers.speedups import ContourFigure, Speedup, SpeedupFigure


def on_data(exhibits: Sequence[Exhibit], data: str, lam: str | None) -> list[Exhibit]:
    """Those that show runs on data, each kind of problem once; ``lam`` replaces the paper's λ."""
    path = Path(data)
    if not path.is_file() and data not in datasets.names():
        raise ValueError(f"there is no file {data}, and no data set of that name")
    name = str(path.resolve()) if path.is_file() else data
    number = None if lam is None else _lam(lam)
    found: list[Exhibit] = []
    seen: set[str] = set()
    for exhibit in exhibits:
        moved = _moved(exhibit, name, number)
        if moved is None:
            continue
        key = repr(replace(moved, number="", title=""))  # type: ignore[type-var]
        if key not in seen:
            seen.add(key)
            found.append(moved)
    return found


def _lam(lam: str) -> float | str:
    if lam in ("1/n", "1/sqrt(n)"):
        return lam
    try:
        value = float(lam)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise ValueError(f"--lam must be a number > 0, 1/n or 1/sqrt(n), not {lam!r}")
    return value


def _moved(exhibit: Exhibit, data: str, lam: float | str | None) -> Exhibit | None:
    """The same exhibit on other data; None if it is not about data, or about constructed ones."""
    if isinstance(exhibit, RaceFigure):
        panels = [panel for row in exhibit.rows for panel in row]
        moved = list(_distinct(_panel(p, data, lam) for p in panels if _is_real(p.race.problem)))
        if not moved:
            return None
        wide = min(len(moved), 3)
        rows = tuple(tuple(moved[k : k + wide]) for k in range(0, len(moved), wide))
        return replace(exhibit, rows=rows)
    if isinstance(exhibit, SpeedupFigure):
        speedups = {s.problem.lam: _speedup(s, data, lam) for row in exhibit.panels for s in row}
        return replace(exhibit, panels=(tuple(dict.fromkeys(speedups.values())),))
    if isinstance(exhibit, ContourFigure):
        return replace(exhibit, speedup=_speedup(exhibit.speedup, data, lam))
    return None


def _distinct(panels: Iterator[Panel]) -> Iterator[Panel]:
    seen = set()
    for panel in panels:
        if repr(panel) not in seen:
            seen.add(repr(panel))
            yield panel


def _is_real(problem: ProblemSpec) -> bool:
    return not made.is_made(problem.data)


def _problem(problem: ProblemSpec, data: str, lam: float | str | None) -> ProblemSpec:
    return replace(problem, data=data, lam=problem.lam if lam is None else lam, rows=None, cut=None)


def _panel(panel: Panel, data: str, lam: float | str | None) -> Panel:
    race: Race = panel.race
    problem = _problem(race.problem, data, lam)
    reference = race.reference and replace(race.reference, problem=problem)
    race = replace(race, problem=problem, reference=reference)
    return replace(panel, race=race, remark="")


def _speedup(speedup: Speedup, data: str, lam: float | str | None) -> Speedup:
    return replace(speedup, problem=_problem(speedup.problem, data, lam))
