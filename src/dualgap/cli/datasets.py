"""``dualgap datasets list`` and ``dualgap datasets get``."""

from __future__ import annotations

from typing import Annotated

import typer

from dualgap import datasets
from dualgap.cli import options, show
from dualgap.cli.command import careful
from dualgap.datasets import small
from dualgap.datasets.files import VARIABLE, cache_folder, data_folder
from dualgap.datasets.registry import ENTRIES

app = typer.Typer(
    help="Data sets by name: those of the papers, and small ones.", no_args_is_help=True
)


def list_(json: options.Json = False) -> None:
    """List the data sets that have a name, and where they are.

    [bold]Example[/]

      dualgap datasets list
    """
    rows = []
    for entry in ENTRIES.values():
        found = datasets.locate(entry.name)
        where = str(found) if found else "to be downloaded" if entry.files else "nowhere"
        rows.append((entry.name, entry.n, entry.d, entry.task, where))
    rows += [(name, *set_, "in scikit-learn") for name, set_ in small.NAMES.items()]
    heads = ("name", "rows", "features", "target", "where")
    if json:
        show.as_json({"datasets": [dict(zip(heads, row)) for row in rows]})
        return
    show.columns(
        ("name", "target", "where", "rows", "features"),
        [(name, task, where, f"{n:,}", f"{d:,}") for name, n, d, task, where in rows],
        left=3,
    )
    folder = data_folder()
    show.words(
        f"Any other file in LIBSVM format in {folder} ({VARIABLE}) has its name, too."
        if folder
        else f"{VARIABLE} may name a folder with more files in LIBSVM format.",
        "dim",
    )


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
