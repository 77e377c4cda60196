"""``python -m benchmarks.peers --set main --out results.json``."""

from __future__ import annotations

import argparse
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path

from benchmarks.peers import results, table
from benchmarks.peers.race import Patience, race
from benchmarks.peers.solvers import OURS, PEERS
from benchmarks.peers.tasks import Task, all_tasks, instance_of, load
from dualgap.datasets import DatasetNotFoundError

QUICK = (
    "hinge:w8a:1/n", "hinge:a9a:1/n", "sqhinge:ijcnn1:1/n", "sqhinge:dorothea:1/n",
    "logl2:a9a:1/n", "logl2:w8a:0.01?1/n", "lasso:leukemia:0.01?λmax", "lasso:dorothea:0.01?λmax",
    "logl1:dorothea:0.01?λmax", "logl1:a9a:0.01?λmax", "enet:leukemia:0.01?λmax",
    "ridge:dorothea:1/n",
)  # fmt: skip


def chosen(which: str, patterns: str) -> list[Task]:
    sets = {
        "quick": lambda task: any(fnmatch(task.name, one) for one in QUICK),
        "main": lambda task: task.main,
        "small": lambda task: task.small,
        "held-out": lambda task: task.held_out,
        "all": lambda task: True,
    }
    wanted = patterns.split(",")
    return [
        task
        for task in all_tasks()
        if sets[which](task) and any(fnmatch(task.name, one) for one in wanted)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    sets = ("quick", "main", "small", "held-out", "all")
    parser.add_argument("--set", choices=sets, default="all")
    parser.add_argument("--tasks", default="*", help="patterns such as 'hinge:*,*:w8a:*'")
    parser.add_argument("--solvers", default="*", help="patterns such as 'dualgap,sklearn-*'")
    parser.add_argument("--out", type=Path, default=Path("results.json"), help="added to")
    parser.add_argument("--seconds", type=float, default=20.0, help="for a solver on a task")
    parser.add_argument("--factor", type=float, default=30.0, help="or this times the best peer's")
    parser.add_argument("--reference", type=float, default=60.0, help="seconds to find the minimum")
    parser.add_argument("--quick", action="store_true", help="the quick set, with little patience")
    parser.add_argument("--fresh", action="store_true", help="forget what is in the file")
    parser.add_argument("--resume", action="store_true", help="only tasks that are not in the file")
    parser.add_argument("--table", action="store_true", help="only print what is in the file")
    parser.add_argument("--processor", action="store_true", help="its seconds, not the clock's")
    options = parser.parse_args()
    found = results.nothing() if options.fresh else results.read(options.out)
    if not options.table:
        patience = Patience(options.seconds, options.factor, options.reference)
        if options.quick:
            options.set, patience = "quick", Patience(2.0, 10.0, 10.0)
        run(options, patience, found)
    if options.processor:
        found = results.by_processor(found)
    for line in [*table.lines(found), "", *table.summaries(found), "", *table.remarks(found)]:
        print(line)


def run(options: argparse.Namespace, patience: Patience, found: dict) -> None:
    now = results.environment()
    found["sessions"][now["date"]] = now
    patterns = options.solvers.split(",")
    solvers = [s for s in (OURS, *PEERS) if any(fnmatch(s.name, one) for one in patterns)]
    tasks = chosen(options.set, options.tasks)
    if options.resume:
        tasks = [task for task in tasks if task.name not in found["tasks"]]
    for name, group in groupby(tasks, lambda task: task.data):
        try:
            data = load(name)
        except DatasetNotFoundError as error:
            print(f"{name} is left out: {error}", flush=True)
            continue
        for task in group:
            entry = found["tasks"].setdefault(task.name, {})
            entry["data"] = data.name
            race(instance_of(task, data), solvers, patience, now["date"], entry)
            results.write(options.out, found)
            shown = [table.row(task.name, entry, level) for level in table.SHOWN]
            parts = [f"{table.cell(r.ours)} / {table.cell(r.best)} {r.peer}" for r in shown]
            print(f"{task.name:40} {' | '.join(parts)}", flush=True)
    print()


if __name__ == "__main__":
    main()
