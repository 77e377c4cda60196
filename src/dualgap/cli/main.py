"""The program: its commands, in the order in which they are listed."""

from __future__ import annotations

from typing import Annotated

import typer

from dualgap import __version__
from dualgap.cli import datasets
from dualgap.cli.certify import certify
from dualgap.cli.command import careful
from dualgap.cli.compare import compare
from dualgap.cli.convert import convert
from dualgap.cli.fit import fit
from dualgap.cli.methods import methods
from dualgap.cli.path import path
from dualgap.cli.predict import predict
from dualgap.cli.reproduce import PASS_ON, reproduce
from dualgap.cli.warmup import warmup

_PANELS = {
    "Models": (fit, predict, certify, path),
    "Methods": (compare, methods, warmup),
    "Data": (convert,),
}

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for panel, commands in _PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(careful(command))
app.command(rich_help_panel="Methods", **PASS_ON)(reproduce)
app.add_typer(datasets.app, name="datasets", rich_help_panel="Data")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dualgap {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Linear models with a proof: every fit comes with a certified duality gap.

    Exit codes: 0 done, 1 the certified gap is above the target, 2 the
    arguments or the data are wrong, 3 a bug in dualgap, 130 Ctrl-C.
    The --help of a command has examples.
    """
