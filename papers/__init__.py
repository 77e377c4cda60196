"""The experiments and claims of the papers behind the methods: ``python -m papers``.

This package is part of the repository, not of the installed library; ``dualgap reproduce`` finds it
in a checkout. ``csiba2015``, ``zhang2015``, ``perekrestenko2017`` and ``qu2014`` hold a paper each.
They share ``runs`` (what is run), ``made`` (constructed data), ``ledger`` (results on disk),
``curves`` (averages over seeds), ``figure``, ``speedups`` and ``costs`` (figures and tables),
``paper`` (claims and verdicts), ``reproduce`` (does the runs) and ``command`` (the command line).
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
