"""What users run, in docs/benchmarks.md: ``python -m benchmarks.users.report FILE``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks.peers import results
from benchmarks.peers.report import replaced, setting
from benchmarks.users import table
from benchmarks.users.cases import GROUPS
from benchmarks.users.rules import Row, fastest, lost, row

PAGE, FRONT = Path("docs/benchmarks.md"), Path("README.md")
MENTIONED = 6  # cases where we lose, on the front page
BEGIN, END = "<!-- users: generated from here on -->", "<!-- users: until here -->"


def page(found: dict[str, Any]) -> str:
    """The generated part, in Markdown."""
    known, every = by_group(found)
    parts = [setting(found), overview(known, every)]
    for group, rows in known.items():
        behind = f"Where we lose: {table.losses(rows)}."
        parts += [f"### {GROUPS[group]}", behind, cases(rows, found)]
    reported = [one for group in GROUPS for one in table.rows(found, group, reported=True)]
    if reported:
        parts += [
            "### With the free intercept",
            "`LinearSVC` and `LinearSVR` at their defaults. scikit-learn has no model of these"
            " problems; these rows count nowhere.",
            cases(reported, found),
        ]
    parts += [*first_use(found), *memory(found), *absent(found)]
    return "\n\n".join(parts)


def by_group(found: dict[str, Any]) -> tuple[dict[str, list[Row]], list[Row]]:
    """The rows of each group that has any, and all of them."""
    known = {group: table.rows(found, group) for group in GROUPS}
    known = {group: rows for group, rows in known.items() if rows}
    return known, [one for rows in known.values() for one in rows]


def front(found: dict[str, Any]) -> str:
    """The short table of README.md, and where we lose most."""
    known, every = by_group(found)
    behind = lost(every)
    most = ", ".join(f"{table.short(one)} {one.ratio:.1f}" for one in behind[:MENTIONED])
    words = f"Slower in {len(behind)} of {len(every)} cases; most of all: {most}."
    return f"{overview(known, every)}\n\n{words}"


def overview(known: dict[str, list[Any]], every: list[Any]) -> str:
    lines = ["| group | cases | median | at most 1.0 | worst |", "|---|---|---|---|---|"]
    for title, rows in [*((GROUPS[group], rows) for group, rows in known.items()), ("all", every)]:
        counted = table.summary(rows)
        if counted is not None:
            numbers = f"{counted.cases} | {counted.median:.2f} | {100 * counted.won:.0f} %"
            worst = f"{counted.worst.ratio:.2f} ({table.short(counted.worst)})"
            lines.append(f"| {title} | {numbers} | {worst} |")
    return "\n".join(lines)


def cases(rows: list[Any], found: dict[str, Any]) -> str:
    lines = ["| case | ours, ms | best peer | its ms | ratio | remark |", "|---" * 6 + "|"]
    for one in rows:
        mine = fastest(found["tasks"][one.case]["ours"]["runs"]) or {}
        ours, peer, theirs, ratio = table.cells(one)
        remark = mine.get("note", "")
        lines.append(f"| {table.short(one)} | {ours} | {peer} | {theirs} | {ratio} | {remark} |")
    return "\n".join(lines)


def first_use(found: dict[str, Any]) -> list[str]:
    rows = [row(name, e) for name, e in found["tasks"].items() if e["group"] == "first use"]
    lines = ["| first use | ours, ms | scikit-learn, ms | ratio |", "|---|---|---|---|"]
    for one in rows:
        if one is not None:
            ours, _, theirs, ratio = table.cells(one)
            lines.append(f"| {table.short(one)} | {ours} | {theirs} | {ratio} |")
    return ["### First use", "\n".join(lines)] if rows else []


def memory(found: dict[str, Any]) -> list[str]:
    entries = {k: e["memory"] for k, e in found["tasks"].items() if e["group"] == "memory"}
    lines = [
        "| memory, MB | who | of X | of the process before the fit | more at its peak |",
        "|---|---|---|---|---|",
    ]
    for name, rows in entries.items():
        for who, one in rows.items():
            more = one["peak"] - one["base"]
            cells = (name.partition(":")[2].replace(":", " "), who, one["X"], one["base"], more)
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return ["### Memory", "\n".join(lines)] if entries else []


def absent(found: dict[str, Any]) -> list[str]:
    """Peers that are not installed or failed, in words."""
    said: dict[str, list[str]] = {}
    for name, entry in found["tasks"].items():
        for peer, record in entry["peers"].items():
            if not record["status"].startswith(("done", "stopped")):
                said.setdefault(f"{peer}: {record['status']}", []).append(name)
        status = entry["ours"].get("status")
        if status and status != "done":
            said.setdefault(f"dualgap: {status}", []).append(name)
    if not said:
        return []
    return ["\n".join(f"- {what} ({', '.join(names)})" for what, names in said.items())]


def main() -> None:
    found = results.read(Path(sys.argv[1]))
    for path, generated in ((PAGE, page(found)), (FRONT, front(found))):
        path.write_text(replaced(path.read_text(), generated, BEGIN, END))


if __name__ == "__main__":
    main()
