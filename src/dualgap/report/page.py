"""Fill in the template: one file with its style, its scripts and its data."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from dualgap.problem import Problem
from dualgap.report import tables, words
from dualgap.report.data import drawn, embedded
from dualgap.report.repeat import repeating
from dualgap.run.recording import Frame, Recording
from dualgap.run.solution import Solution

_SCRIPTS = ("scale.js", "chart.js", "page.js")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def write(
    path: Any,
    runs: Mapping[str, Solution],
    problem: Problem | None = None,
    title: str | None = None,
    command: str | None = None,
    recordings: Mapping[str, Recording] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Path:
    """Write a page about runs on one problem, and return its path.

    Parameters
    ----------
    path : str or Path
        The page; a file of that name is replaced.
    runs : dict of Solution, by name
    problem : Problem, optional
        The problem that the runs solve; the page then describes it.
    title : str, optional
    command : str, optional
        The line that repeats the runs; by default lines of Python made from their settings.
    recordings : dict of Recording, by name of the run, optional
        How the sampling went (``solve(..., callback=Recording())``).
    feature_names : list of str, optional
        What to call features; otherwise these are counted from 0.
    """
    page = Path(path)
    text = rendered(runs, problem, title, command, recordings, feature_names)
    page.write_text(text, encoding="utf-8")
    return page


def rendered(
    runs: Mapping[str, Solution],
    problem: Problem | None = None,
    title: str | None = None,
    command: str | None = None,
    recordings: Mapping[str, Recording] | None = None,
    feature_names: Sequence[str] | None = None,
) -> str:
    """The page as text."""
    runs = _checked(runs)
    recordings = dict(recordings or {})
    unknown = set(recordings) - set(runs)
    if unknown:
        raise ValueError(f"recordings has {sorted(unknown)[0]!r}, which is not the name of a run")
    if feature_names is not None:
        _check_names(runs, feature_names)
    name = min(runs, key=lambda each: _rank(runs[each]))
    best = runs[name]
    again = command or repeating(runs, problem)
    targets = problem.plain_y if problem is not None and problem.width == 1 else None
    return _filled(
        _file("page.html"),
        {
            "title": escape(title or f"dualgap: {', '.join(runs)}"),
            "style": _file("page.css"),
            "verdict": "good" if best.converged else "short",
            "verdict_word": "Converged" if best.converged else "Not converged",
            "headline": escape(words.headline(best)),
            "whose": escape(f"This is about {name}, the run with the smallest gap.")
            if len(runs) > 1
            else "",
            "meaning": tables.paragraphs(words.meaning(best)),
            "together": tables.paragraphs([words.together(runs)]),
            "runs_table": tables.of_runs(runs),
            "histories": "\n".join(tables.of_history(each, runs[each]) for each in runs),
            "run_options": tables.options(runs),
            "left": escape(words.unresolved(Frame.last(best))),
            "facts": tables.facts(runs, problem),
            "again": escape(again or ""),
            "again_hidden": "" if again else "hidden",
            "again_note": escape(_note(again)),
            "data": embedded(drawn(runs, name, recordings, targets, feature_names)),
            "script": "\n".join(_file(script) for script in _SCRIPTS),
        },
    )


def _checked(runs: Any) -> dict[str, Solution]:
    if not isinstance(runs, Mapping) or not all(isinstance(s, Solution) for s in runs.values()):
        raise ValueError('runs must be a dict of Solutions by name, such as {"sdca": solution}')
    if not runs:
        raise ValueError("runs is empty: pass at least one name and Solution")
    return {str(name): solution for name, solution in runs.items()}


def _check_names(runs: Mapping[str, Solution], names: Sequence[str]) -> None:
    for solution in runs.values():
        count = len(solution.coef)
        if count != len(names):
            raise ValueError(
                f"feature_names has {len(names)} names where there are {count} features"
            )


def _rank(solution: Solution) -> float:
    gap = solution.certificate.gap
    return gap if math.isfinite(gap) else math.inf


def _note(again: str | None) -> str:
    if again and "..." in again:
        return "Dots stand for values that do not fit on a line."
    return ""


def _file(name: str) -> str:
    return resources.files("dualgap.report").joinpath(name).read_text(encoding="utf-8")


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """The template with each {{name}} replaced, in one pass: inserted text is not searched."""
    return _PLACE.sub(lambda place: parts[place[1]], template)
