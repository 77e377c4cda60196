"""``dualgap convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.filesize import decimal

from dualgap.cli.command import INTERRUPTED


def convert(
    source: Annotated[Path, typer.Argument(help="A file in LIBSVM format, plain, gz, bz2 or xz.")],
    folder: Annotated[Path, typer.Argument(help="The folder to be made.")],
    float32: Annotated[
        bool, typer.Option("--float32", help="Values in 4 bytes instead of 8.")
    ] = False,
    zero_based: Annotated[
        bool | None,
        typer.Option(
            "--zero-based/--one-based",
            help="The index of the first feature; 0 if some index is, unless it is given.",
        ),
    ] = None,
    features: Annotated[
        int | None, typer.Option(min=1, help="How many there are, if the file does not show all.")
    ] = None,
) -> None:
    """Convert a file in LIBSVM format into a folder that is read without loading it into memory.

    [bold]Examples[/]

      dualgap convert kdd12.xz kdd12 --float32

      dualgap fit kdd12 --loss logistic --lam 1e-6 --checkpoint kdd12.checkpoint

    or in Python: data = dualgap.datasets.open_folder("kdd12"); Problem(data.X, data.y, ...)
    """
    from dualgap import datasets

    console = Console()
    try:
        made = datasets.convert(
            source,
            folder,
            dtype="float32" if float32 else "float64",
            zero_based="auto" if zero_based is None else zero_based,
            n_features=features,
            progress=console.is_terminal,
        )
    except KeyboardInterrupt:
        console.print("Stopped. Nothing of the folder is left.")
        raise typer.Exit(INTERRUPTED) from None
    X = datasets.open_folder(made).X
    size = sum(file.stat().st_size for file in made.iterdir())
    console.print(
        f"wrote {made}: {X.shape[0]:,} rows, {X.shape[1]:,} features, {X.nnz:,} entries, "
        f"{decimal(size)}",
        soft_wrap=True,
        highlight=False,
    )
