"""``dualgap methods``."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dualgap.cli import options, show
from dualgap.linalg.validate import unknown
from dualgap.methods import METHODS


def methods(
    name: Annotated[str | None, typer.Argument(help="Only this one.", show_default=False)] = None,
    json: options.Json = False,
) -> None:
    """List the methods: what each is, when to use it, and its paper.

    The default, auto, picks one and says why.

    [bold]Examples[/]

      dualgap methods

      dualgap methods spdc
    """
    if name is not None and name not in METHODS:
        raise ValueError(unknown("method", name, METHODS))
    chosen = METHODS if name is None else {name: METHODS[name]}
    if json:
        show.as_json(
            {
                key: {"about": method.about, "when": method.when, "paper": method.paper}
                for key, method in chosen.items()
            }
        )
        return
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for key, method in chosen.items():
        words = Text(f"{method.about}. ")
        words.append(f"When: {method.when}", style="cyan")
        words.append(f". {method.paper}", style="dim")
        table.add_row(key, words)
    Console().print(table, highlight=False)
