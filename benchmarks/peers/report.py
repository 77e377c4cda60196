"""docs/benchmarks.md, its plot, and the short table of README.md, from results:
``python -m benchmarks.peers.report FILE``.

Only what stands between the two marks is written anew; the rest of the pages is written by hand.
Runs that decide nothing are dropped from FILE.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatch
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.peers import judge, results, table
from benchmarks.peers.grid import deciding
from benchmarks.peers.plot import plot
from benchmarks.peers.table import Row, factor
from benchmarks.peers.why import REASONS

PAGE = Path("docs/benchmarks.md")
FRONT = Path("README.md")
PICTURE = Path("docs/benchmarks.png")
BEGIN, END = "<!-- generated from here on -->", "<!-- until here -->"
SECTIONS = (
    ("The tasks", lambda task: task["main"]),
    ("λ ten and a hundred times smaller", lambda task: task["small"]),
    ("Data on which nothing was tuned", lambda task: task.get("held_out", False)),
    ("More text", lambda task: task["extra"] and not task.get("held_out", False)),
)
UNKNOWN = "not examined"
KINDS = {
    "hinge": "SVM, hinge loss",
    "sqhinge": "SVM, squared hinge loss",
    "logl2": "logistic regression, L2",
    "logl1": "logistic regression, L1",
    "lasso": "Lasso",
    "enet": "elastic net",
    "ridge": "ridge regression",
}


def page(found: dict[str, Any]) -> str:
    """The generated part, in Markdown."""
    parts = [setting(found), "\n".join(f"- {line}" for line in table.summaries(found))]
    parts.append(f"![ratios]({PICTURE.name})")
    for title, belongs in SECTIONS:
        names = [name for name, task in found["tasks"].items() if belongs(task)]
        if names:
            parts += [f"### {title}", markdown(found, names)]
    parts += ["## Where a peer is faster", faster(found), "## Remarks", remarks(found)]
    parts += ["## Seconds to every level", every_level(found)]
    return "\n\n".join(parts)


def setting(found: dict[str, Any]) -> str:
    lines = []
    for session in found["sessions"].values():
        versions = [f"{name} {number or 'missing'}" for name, number in session["versions"].items()]
        lines.append(
            f"Measured on {session['date'][:10]}: {session['processor']}, {session['cores']} cores,"
            f" Python {session['python']}; {', '.join(versions)}."
        )
    return "\n\n".join(dict.fromkeys(lines))  # sessions of one day and one set-up are one line


def markdown(found: dict[str, Any], names: list[str]) -> str:
    lines = [
        "| task | ours, 1e-4 | best peer, 1e-4 | ratio | ours, 1e-6 | proven, 1e-6 |"
        " best peer, 1e-6 | ratio | proven |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in names:
        loose, tight = (table.row(name, found["tasks"][name], level) for level in table.SHOWN)
        cells = [f"{name}{' *' if loose.mixed else ''}", table.cell(loose.ours)]
        cells += [table.of_peer(loose), factor(loose.ratio, loose.alone)]
        cells += [table.cell(tight.ours), table.cell(tight.proven)]
        cells += [table.of_peer(tight), factor(tight.ratio, tight.alone)]
        lines.append(f"| {' | '.join([*cells, factor(tight.proven_ratio, tight.alone)])} |")
    if any(table.row(name, found["tasks"][name], 1e-4).mixed for name in names):
        lines.append("\n\\* ours and the peers' seconds are of different runs")
    return "\n".join(lines)


def every_level(found: dict[str, Any]) -> str:
    """Three lines a task: ours, ours with a proof, the best peer."""
    head = [table.label(level) for level in judge.LEVELS]
    lines = [f"| task | who | {' | '.join(head)} |", "|---" * (2 + len(head)) + "|"]
    for name, task in found["tasks"].items():
        rows = [table.row(name, task, level) for level in judge.LEVELS]
        best = [table.of_peer(r) for r in rows]
        for who, cells in (
            ("ours", [table.cell(r.ours) for r in rows]),
            ("ours, proven", [table.cell(r.proven) for r in rows]),
            ("best peer", best),
        ):
            lines.append(f"| {name} | {who} | {' | '.join(cells)} |")
    return "\n".join(lines)


def short(found: dict[str, Any]) -> str:
    """The main tasks that a peer solved to 1e-6, as a line for each kind of problem."""
    main = [name for name, task in found["tasks"].items() if task["main"]]
    every = table.rows(found, 1e-6, main)
    lines = [
        "| to 1e-6 | tasks | ours / best peer: median | worst | with a proof: median |",
        "|---|---|---|---|---|",
    ]
    for kind, title in KINDS.items():
        rows = [r for r in every if r.task.startswith(f"{kind}:") and not r.alone]
        if rows:
            ratios = [r.ratio for r in rows]
            middle = factor(median(ratios)), factor(max(ratios))
            proven = factor(median([r.proven_ratio for r in rows]))
            lines.append(f"| {' | '.join([title, str(len(rows)), *middle, proven])} |")
    return "\n".join(lines)


def faster(found: dict[str, Any]) -> str:
    """Every task and level with a ratio above 1."""
    behind = [
        r
        for level in table.SHOWN
        for r in table.rows(found, level)
        if r.ratio > 1.0 and not r.alone
    ]
    if not behind:
        return "Nowhere."
    lines = ["| task | level | by | factor | why |", "|---|---|---|---|---|"]
    for r in sorted(behind, key=lambda r: -r.ratio):
        cells = (r.task, table.label(r.level), r.peer, factor(r.ratio), reason(r))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def reason(row: Row) -> str:
    return next((why for pattern, why in REASONS if fnmatch(row.task, pattern)), UNKNOWN)


def remarks(found: dict[str, Any]) -> str:
    return "\n".join(f"- {line}" for line in table.remarks(found)) or "None."


def replaced(text: str, generated: str, begin: str = BEGIN, end: str = END) -> str:
    """The page with a new part between the marks."""
    if begin not in text or end not in text:
        raise ValueError(f"the page must have the lines {begin!r} and {end!r}")
    before, after = text.partition(begin)[0], text.partition(end)[2]
    return f"{before}{begin}\n\n{generated}\n\n{end}{after}"


def thinned(found: dict[str, Any]) -> dict[str, Any]:
    """Without the runs that decide nothing: what the tables say stays as it is."""
    for task in found["tasks"].values():
        best = judge.least(task)
        for solver in task["solvers"].values():
            chosen = deciding(solver["runs"], best)
            for key, most in (("seconds", max), ("objective", min), ("bound", max)):
                values = [run[key] for run in solver["runs"] if key in run]
                chosen += [run for run in solver["runs"] if values and run.get(key) == most(values)]
            solver["runs"] = [run for run in solver["runs"] if run in chosen]
    return found


def main() -> None:
    path = Path(sys.argv[1])
    found = thinned(results.read(path))
    results.write(path, found)
    PAGE.write_text(replaced(PAGE.read_text(), page(found)))
    FRONT.write_text(replaced(FRONT.read_text(), short(found)))
    plot(found, PICTURE)


if __name__ == "__main__":
    main()
