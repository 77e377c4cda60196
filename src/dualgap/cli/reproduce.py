"""``dualgap reproduce``: hands over to ``papers/`` of the repository, which the wheel has not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

import dualgap
from dualgap.cli.command import reported

# Options and --help belong to papers/command.py.
PASS_ON: dict[str, Any] = {
    "add_help_option": False,
    "context_settings": {"ignore_unknown_options": True, "allow_extra_args": True},
}


def reproduce(context: typer.Context) -> None:
    """Redo the experiments of the papers behind the methods (in a checkout of the repository)."""
    with reported(debug=False):
        folder = _checkout()
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))  # worker processes start with the same path
    from papers.command import app

    app(context.args, prog_name="dualgap reproduce")


def _checkout() -> Path:
    """The repository: around an editable install, else the current folder."""
    candidates = Path(dualgap.__file__).parents[2], Path.cwd()
    for folder in candidates:
        if (folder / "papers" / "command.py").is_file():
            return folder
    raise ValueError(
        "the experiments of the papers are not installed with dualgap, they come with its "
        "repository: clone it, and in its folder run pip install -e '.[plot]' and then "
        "dualgap reproduce 000 --quick"
    )
