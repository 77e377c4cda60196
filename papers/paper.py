"""A paper: what it shows, and what it claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from papers.figure import Exhibit
from papers.ledger import Ledger
from papers.runs import Run


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds on a data set, with the two numbers that were compared."""

    claim: str
    data: str
    holds: bool
    left: float
    right: float
    words: str

    def as_dict(self) -> dict[str, str | bool | float | None]:
        """For JSON, which has no numbers of NumPy and no infinity."""
        numbers = {"left": float(self.left), "right": float(self.right)}
        return {
            "claim": self.claim,
            "data": self.data,
            "holds": bool(self.holds),
            **{name: value if isfinite(value) else None for name, value in numbers.items()},
            "words": self.words,
        }


@dataclass(frozen=True)
class Claim:
    """A claim, the runs that it needs, and how to judge it."""

    id: str
    text: str
    runs: tuple[Run, ...]
    judge: Callable[[Ledger], Sequence[Verdict]]


def table(judged: Sequence[tuple[Claim, Sequence[Verdict]]]) -> str:
    """Claims and verdicts as a table in Markdown."""
    lines = ["| claim | data | | what was compared |", "|---|---|---|---|"]
    for claim, verdicts in judged:
        kept = sum(verdict.holds for verdict in verdicts)
        lines.append(f"| **{claim.id}** | {kept} of {len(verdicts)} hold | | **{claim.text}** |")
        lines += [
            f"| {v.claim} | {v.data} | {'holds' if v.holds else '**does not hold**'} | {v.words} |"
            for v in verdicts
        ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Paper:
    """``exhibits`` and ``claims`` take ``quick``: fewer seeds, less data, lower accuracy."""

    number: str
    name: str
    short: str
    title: str
    exhibits: Callable[[bool], Sequence[Exhibit]]
    claims: Callable[[bool], Sequence[Claim]]
