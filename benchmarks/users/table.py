"""What the results say, in lines of text and of Markdown."""

from __future__ import annotations

from typing import Any

from benchmarks.users.cases import GROUPS
from benchmarks.users.rules import Row, fastest, lost, row, summary


def by_processor(found: dict[str, Any]) -> dict[str, Any]:
    """The same with the processor's seconds in place of the clock's, for a machine that is busy.

    Those with two threads come off worse than they are. Limits are of the clock, so that they no
    longer bound the ratio where no peer arrived.
    """
    for entry in found["tasks"].values():
        for record in (entry["ours"], *entry["peers"].values()):
            record.pop("stopped", None)
            for run in record["runs"]:
                run["seconds"] = run["processor"]
    return found


def rows(found: dict[str, Any], group: str, reported: bool = False) -> list[Row]:
    """The rows of a group, the worst ratio first."""
    entries = found["tasks"].items()
    wanted = [(k, e) for k, e in entries if e["group"] == group and e["reported"] == reported]
    known = [one for one in (row(*pair) for pair in wanted) if one is not None]
    return sorted(known, key=lambda r: -r.ratio if r.ratio == r.ratio else 0.0)


def milliseconds(seconds: float) -> str:
    return f"{1000.0 * seconds:.3g}" if seconds < 1.0 else f"{1000.0 * seconds:.0f}"


def cells(r: Row) -> tuple[str, str, str, str]:
    """Ours, the best peer, its time, and the ratio."""
    ours = milliseconds(r.ours)
    if r.ratio != r.ratio:
        return ours, "–", "–", "–"
    if r.alone:
        return ours, "none as good", f"> {milliseconds(r.theirs)}", f"< {r.ratio:.2g}"
    setting = "" if r.setting == "defaults" else f" ({r.setting})"
    return ours, f"{r.peer}{setting}", milliseconds(r.theirs), f"{r.ratio:.2f}"


def line(name: str, entry: dict[str, Any]) -> str:
    r = row(name, entry)
    if r is None:
        return f"{name:60} {entry['ours'].get('status', 'not run')}"
    ours, peer, theirs, ratio = cells(r)
    mine = fastest(entry["ours"]["runs"]) or {}
    parts = [f"{name:62} {ratio:>7}  {ours:>7} ms  {theirs:>8} {peer}", mine.get("note", "")]
    failed = [
        f"{peer} {record['status']}"
        for peer, record in entry["peers"].items()
        if not record["status"].startswith(("done", "stopped"))
    ]
    return "  | ".join([part for part in [*parts, *failed] if part])


def words(known: list[Row]) -> str:
    found = summary(known)
    if found is None:
        return "no case with a peer"
    worst = f"{found.worst.ratio:.2f} ({short(found.worst)})"
    return (
        f"{found.cases} cases, median {found.median:.2f}, at most 1.0 in {100 * found.won:.0f} %,"
        f" worst {worst}"
    )


def short(r: Row) -> str:
    return r.case.partition(":")[2].replace(":", " ")


def losses(known: list[Row]) -> str:
    """Where we lose, the worst first."""
    behind = lost(known)
    if not behind:
        return "nowhere"
    return ", ".join(f"{short(r)} {r.ratio:.2g}" for r in behind)


def lines(found: dict[str, Any]) -> list[str]:
    out, every = [], []
    for group, title in GROUPS.items():
        known = rows(found, group)
        every += known
        if known:
            out += [f"{title}: {words(known)}", f"    where we lose: {losses(known)}"]
    return [*out, f"all: {words(every)}"] if every else out
