"""The papers behind the methods, redone: ``dualgap reproduce``.

Each module holds the experiments and the claims of one paper. What they share: ``task`` (what is
run), ``ledger`` (results on disk), ``curves`` (several seeds together), ``figure`` (pictures),
``reproduce`` (doing it all).
"""

from __future__ import annotations

from importlib import import_module

from papers.paper import Paper

MODULES = {
    "000": "csiba2015",
    "001": "zhang2015",
    "002": "perekrestenko2017",
    "003": "qu2014",
}


def find(name: str) -> Paper:
    """A paper by number ("000"), or by name in any spelling ("csiba2015", "Csiba 2015")."""
    wanted = "".join(filter(str.isalnum, name.lower()))
    for number, module in MODULES.items():
        if wanted in (number, module, module.rstrip("0123456789")):
            paper: Paper = import_module(f"{__name__}.{module}").PAPER
            return paper
    raise ValueError(f"there is no paper {name!r}; the papers are {listed()}")


def listed() -> str:
    """Numbers and names, for messages."""
    return ", ".join(f"{number} ({module})" for number, module in MODULES.items())


def every() -> list[Paper]:
    return [find(number) for number in MODULES]
