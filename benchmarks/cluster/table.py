"""Tables in Markdown."""

from __future__ import annotations

from typing import Any


def table(names: list[str], lines: list[list[Any]]) -> None:
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))
    for line in lines:
        print("| " + " | ".join(x if isinstance(x, str) else f"{x:.4g}" for x in line) + " |")
    print(flush=True)
