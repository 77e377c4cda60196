"""The parts of the page that are text: tables that need no script, with everything escaped."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping
from html import escape
from importlib import metadata
from typing import Any

from dualgap import losses, penalties
from dualgap.files.describe import by_name
from dualgap.linalg import storage
from dualgap.problem import Problem
from dualgap.report.data import COLUMNS, places
from dualgap.run.solution import Solution, counted

_MAX_ROWS = 25  # of a history in the table that replaces the picture: about a screen


def paragraphs(texts: Iterable[str]) -> str:
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts if text)


def of_runs(runs: Mapping[str, Solution]) -> str:
    """A row for each run: what it has proven, and what that took."""
    header = (
        "run",
        "objective",
        "bound",
        "gap",
        "relative gap",
        "passes",
        "seconds",
        "how it ended",
    )
    rows = [
        (
            name,
            f"{proof.primal:.8g}",
            f"{proof.dual:.8g}",
            f"{proof.gap:.2e}",
            f"{proof.relative_gap:.1e}",
            counted(solution.passes),
            f"{solution.history.seconds[-1]:.3g}",
            str(solution.status),
        )
        for name, solution in runs.items()
        for proof in [solution.certificate]
    ]
    return table(header, rows, "What each run has proven")


def of_history(name: str, solution: Solution) -> str:
    """Some rows of the history, for readers who cannot see the curve."""
    header = ("passes", "updates", "seconds", "objective", "bound", "gap")
    columns = [*(solution.history[column] for column in COLUMNS), solution.gaps]
    formats = (".4g", ",.0f", ".3g", ".8g", ".8g", ".2e")
    rows = [
        [format(float(column[k]), how) for column, how in zip(columns, formats)]
        for k in places(len(solution.history), _MAX_ROWS)
    ]
    return table(header, rows, f"The run {name}")


def table(header: Iterable[str], rows: Iterable[Iterable[str]], caption: str) -> str:
    """A table that scrolls if it is too wide; its first column names the row."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    body = "\n".join(_row(list(row)) for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">\n'
        f"<table><caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _row(cells: list[str]) -> str:
    rest = "".join(_cell(cell) for cell in cells[1:])
    return f'<tr><th scope="row">{escape(cells[0])}</th>{rest}</tr>'


def _cell(text: str) -> str:
    """Text may wrap, numbers may not."""
    words = ' class="words"' if " " in text else ""
    return f"<td{words}>{escape(text)}</td>"


def facts(runs: Mapping[str, Solution], problem: Problem | None) -> str:
    """Data and settings, as a list of terms."""
    listed = _of_problem(problem) if problem is not None else _of_parts(runs)
    for name, solution in runs.items():
        listed.append(("Method" if len(runs) == 1 else f"Method of {name}", solution.method))
    listed += [("Versions", versions())]
    items = "\n".join(
        f"<div><dt>{escape(term)}</dt><dd>{escape(text)}</dd></div>" for term, text in listed
    )
    return f"<dl>\n{items}\n</dl>"


def _of_problem(problem: Problem) -> list[tuple[str, str]]:
    sparse = storage.is_sparse(problem.X)
    kind = f"{problem.X.format.upper()}" if sparse else "dense"
    filled = ""
    if sparse and problem.n and problem.p:
        filled = f", {problem.X.nnz:,} entries ({problem.X.nnz / (problem.n * problem.p):.2%})"
    intercept = "penalised" if problem.intercept == "penalised" else "without a penalty"
    weights = "all the same" if problem.c.min() == problem.c.max() else "one for each sample"
    return [
        ("Data", f"{problem.n:,} samples, {problem.p:,} features"),
        ("Storage", f"{kind} {problem.X.dtype}{filled}"),
        ("Objective", "P(w) = Σ c φ(x·w; y) + λ g(w), with weights c that add up to 1"),
        ("Loss φ", by_name(problem.given_loss, losses.REGISTRY).strip('"')),
        ("Penalty g", by_name(problem.feature_penalty, penalties.REGISTRY).strip('"')),
        ("λ", f"{problem.lam:.8g}"),
        ("Intercept", intercept if problem.has_intercept else "none"),
        ("Sample weights", weights),
        ("P(0)", f"{problem.scale:.8g}, the objective of a model that ignores all features"),
    ]


def _of_parts(runs: Mapping[str, Solution]) -> list[tuple[str, str]]:
    """What certificates say about the data."""
    proof = next(iter(runs.values())).certificate
    features = len(proof.feature_parts) - (proof.constant != 0.0)
    scale = f"{proof.scale:.8g}" if math.isfinite(proof.scale) else "not known"
    return [
        ("Data", f"{len(proof.sample_parts):,} samples, {features:,} features"),
        ("P(0)", f"{scale}, the objective of a model that ignores all features"),
    ]


def versions() -> str:
    """The versions of the software that computed the numbers."""
    from dualgap import __version__

    others = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "numba"))
    return f"dualgap {__version__}, Python {platform.python_version()}, {others}"


def options(names: Iterable[Any]) -> str:
    """The options of a list to choose from, by number."""
    return "".join(f'<option value="{k}">{escape(str(n))}</option>' for k, n in enumerate(names))
