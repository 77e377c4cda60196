"""``dualgap datasets list`` and ``dualgap datasets get``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dualgap import datasets
from dualgap.cli import options, show
from dualgap.cli.command import careful
from dualgap.datasets import small
from dualgap.datasets.files import VARIABLE, cache_folder, data_folder
from dualgap.datasets.registry import ENTRIES, Entry, stem

app = typer.Typer(
    help="Data sets by name: those of the papers, and small ones.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


def list_(json: options.Json = False) -> None:
    """List the data sets that have a name, and where they are.

    [bold]Example[/]

      dualgap datasets list
    """
    rows: list[tuple[Any, ...]] = []
    for entry in ENTRIES.values():
        found = datasets.locate(entry.name)
        note = None if found is None else entry.notes.get(stem(found.name))
        rows.append((entry.name, entry.n, entry.d, entry.task, _where(entry, found), found, note))
    rows += [(name, *kind, "scikit-learn", None, None) for name, kind in small.NAMES.items()]
    if json:
        heads = ("name", "rows", "features", "target", "where", "file", "differs")
        show.as_json({"datasets": [dict(zip(heads, row)) for row in rows]})
        return
    show.columns(
        ("name", "target", "where", "rows", "features"),
        [
            (name, task, f"{where} *" if note else where, f"{n:,}", f"{d:,}")
            for name, n, d, task, where, _, note in rows
        ],
        left=3,
    )
    if any(note for *_, note in rows):
        show.words("* a near relative of the set; datasets get says how it differs.", "dim")
    folder = data_folder()
    show.words(
        f"Any other file in LIBSVM format in {folder} ({VARIABLE}) has its name, too."
        if folder
        else f"{VARIABLE} may name a folder with more files in LIBSVM format.",
        "dim",
    )


def _where(entry: Entry, found: Path | None) -> str:
    if found is None:
        return "on the web" if entry.files else "not to be had"
    return f"cache: {found.name}" if found.parent == cache_folder() else found.name


def get(
    names: Annotated[list[str], typer.Argument(help="Names from the list.", show_default=False)],
    json: options.Json = False,
) -> None:
    """Download data sets into the cache, unless they are there, and check them.

    [bold]Example[/]

      dualgap datasets get w8a ijcnn1
    """
    found = {}
    for name in names:
        data = datasets.load(name)
        path = datasets.locate(name)
        found[name] = {
            "name": data.name,
            "rows": data.X.shape[0],
            "features": data.X.shape[1],
            "source": data.source,
            "file": None if path is None else str(path),
        }
        if not json:
            show.words(f"{name}: {show.shape_of(data.X)}; {data.source}")
    if json:
        show.as_json({"datasets": found, "cache": str(cache_folder())})


app.command("list")(careful(list_))
app.command("get")(careful(get))
