"""Which files and functions a call passes through, in order: how far a newcomer has to walk.

    python tools/walk.py                 all four calls, their counts
    python tools/walk.py fit             LinearSVC().fit, function by function
    python tools/walk.py solve|command|distributed

A *hop* is a change of file (or of folder) between one function and the next, in the order in which
functions are called for the first time. Imports, compilation and a first call are over by then, and
compiled kernels count as the one function that starts them.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from itertools import groupby, pairwise
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import dualgap

os.environ["DUALGAP_COMPILE"] = "always"  # small fits are interpreted otherwise

PACKAGE = Path(dualgap.__file__).parent


class Visit(NamedTuple):
    """A function of the package, called for the first time."""

    file: str
    function: str

    @property
    def folder(self) -> str:
        return str(Path(self.file).parent)


class Walk(NamedTuple):
    """All of them, in order."""

    visits: list[Visit]

    @property
    def files(self) -> int:
        return len({visit.file for visit in self.visits})

    def hops(self, place: str) -> int:
        """How often ``file`` or ``folder`` changes from one function to the next."""
        places = [getattr(visit, place) for visit in self.visits]
        return sum(here != there for here, there in pairwise(places))

    def __str__(self) -> str:
        return (
            f"{self.files} files, {len(self.visits)} functions, {self.hops('file')} hops between "
            f"files, {self.hops('folder')} between folders"
        )


def walk(call: Callable[[], Any]) -> Walk:
    """Trace a call, in all threads that it starts."""
    met: dict[Visit, None] = {}  # a dict keeps the order

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(f"{PACKAGE}/"):
            name = getattr(code, "co_qualname", code.co_name)
            if name != "Kernel.__call__":  # which starts every kernel
                met.setdefault(Visit(str(Path(code.co_filename).relative_to(PACKAGE)), name))

    call()  # imports, compiles and fills caches
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return Walk(list(met))


def _data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    return X, np.sign(X[:, 0] + 0.3 * rng.normal(size=200))


def fit() -> Walk:
    """``LinearSVC().fit(X, y)``."""
    X, y = _data()
    LinearSVC = dualgap.LinearSVC
    return walk(lambda: LinearSVC().fit(X, y))


def solve() -> Walk:
    """``solve(Problem(X, y, "logistic", lam=0.01))``."""
    X, y = _data()
    return walk(lambda: dualgap.solve(dualgap.Problem(X, y, "logistic", lam=0.01)))


def command() -> Walk:
    """``dualgap fit data.svm``."""
    from sklearn.datasets import dump_svmlight_file
    from typer.testing import CliRunner

    from dualgap.cli import app

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/data.svm"
        dump_svmlight_file(*_data(), path, zero_based=False)

        def call() -> None:
            result = CliRunner().invoke(app, ["fit", path])
            if result.exit_code:
                raise RuntimeError(result.output)

        return walk(call)


def distributed() -> Walk:
    """``distributed.solve`` on two partitions, by threads."""
    X, y = _data()
    partitions = [(X[:100], y[:100]), (X[100:], y[100:])]

    def call() -> None:
        problem = dualgap.distributed.Partitioned(partitions, "logistic", lam=0.01)
        dualgap.distributed.solve(problem, client=1, work=1)

    return walk(call)


CALLS = {call.__name__: call for call in (fit, solve, command, distributed)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("call", nargs="?", choices=CALLS)
    asked = parser.parse_args().call
    if asked is None:
        for name, call in CALLS.items():
            print(f"{name:12} {call()}")
        return
    found = CALLS[asked]()
    for file, visits in groupby(found.visits, key=lambda visit: visit.file):
        print(f"{file:40} {', '.join(visit.function for visit in visits)}")
    print(found)


if __name__ == "__main__":
    main()
