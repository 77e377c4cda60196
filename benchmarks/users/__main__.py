"""``python -m benchmarks.users --only letter --no-peers``.

On a machine that others use, set OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and NUMBA_NUM_THREADS to 1
and add ``--processor``: the seconds of one thread are not those of others.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.peers import results
from benchmarks.users import cases, data, fresh, table
from benchmarks.users.case import Case, load
from benchmarks.users.race import race
from dualgap.datasets import DatasetNotFoundError

OUT = Path("bench-users.json")


def chosen(only: str, group: str = "") -> list[Case]:
    """The cases whose group or part of whose name is one of these words, by their data."""
    words = [word.strip() for word in only.split(";") if word.strip()]
    wanted = [
        case
        for case in cases.all_cases()
        if not words or any(word == case.group or word in case.name for word in words)
    ]
    order = {name: k for k, name in enumerate(dict.fromkeys(_file(case) for case in wanted))}
    places = list(cases.GROUPS)
    return sorted(wanted, key=lambda case: (places.index(case.group), order[_file(case)]))


def _file(case: Case) -> str:
    return case.data


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.users", description=__doc__)
    parser.add_argument(
        "--only", default="", help="groups or parts of names, with ';' between them"
    )
    parser.add_argument("--no-peers", action="store_true", help="keep what the file says of them")
    parser.add_argument("--out", type=Path, default=OUT, help="added to")
    parser.add_argument("--fresh", action="store_true", help="forget what is in the file")
    parser.add_argument("--table", action="store_true", help="only print what is in the file")
    parser.add_argument("--processor", action="store_true", help="its seconds, not the clock's")
    options = parser.parse_args(arguments)
    found = results.nothing() if options.fresh else results.read(options.out)
    if not options.table:
        run(options, found)
    if options.processor:
        found = table.by_processor(found)
    for line in table.lines(found):
        print(line)


def run(options: argparse.Namespace, found: dict[str, Any]) -> None:
    import sklearn.linear_model
    import sklearn.model_selection
    import sklearn.svm  # noqa: F401  (workers need not import it again)

    now = results.environment()
    found["sessions"][now["date"]] = now
    began = time.perf_counter()
    for name, group in groupby(chosen(options.only), _file):
        try:
            X, y = data.load(name)
        except DatasetNotFoundError as error:
            print(f"{name} is left out: {error}", flush=True)
            continue
        for case in group:
            earlier = found["tasks"].get(case.name, {})
            instance = load(case, X, y)
            entry = race(instance, now["date"], not options.no_peers, earlier)
            found["tasks"][case.name] = entry
            results.write(options.out, found)
            _say(began, table.line(case.name, entry))
    for name, entry in fresh.entries(options.only, now["date"]):
        found["tasks"][name] = entry
        results.write(options.out, found)
        _say(began, f"{name}  {entry['memory']}" if "memory" in entry else table.line(name, entry))
    print()


def _say(began: float, line: str) -> None:
    print(f"{time.perf_counter() - began:5.0f} s  {line}", flush=True)


if __name__ == "__main__":
    main()
