"""Results on disk: a JSON file for each run, so that a broken-off reproduction goes on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.files.replace import replacing
from dualgap.linalg.validate import Floats
from dualgap.run.snapshot import Snapshot
from dualgap.run.solution import History, Solution
from dualgap.run.solve import solve
from papers.runs import Instance, Run, file_of, instance

# Rows of a history that are kept: a curve needs no more.
_ROWS = 500
# Columns beside those of a history, which has the best values so far. Timed runs have no others:
# what tells the current ones takes time.
CURRENT = ("current primal", "current dual", "current gap")


@dataclass(frozen=True, eq=False)
class Record:
    """The result of a run: the columns of its history, what it was run on, and how it ended."""

    spec: dict[str, Any]
    timed: bool
    file: str | None
    name: str
    synthetic: bool
    source: str
    n: int
    d: int
    nnz: int
    scale: float
    lam: float
    status: str
    columns: dict[str, Floats]

    def __getitem__(self, column: str) -> Floats:
        return self.columns[column]


class Ledger:
    """The runs of a paper in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, run: Run) -> Path:
        kinds = [type(part).__name__ for part in (run.contender.step, run.contender.sampling)]
        spec = run.problem
        words = [spec.data, spec.loss, str(spec.lam), *kinds, f"seed {run.seed}"]
        name = re.sub(r"[^A-Za-z0-9+.]+", "-", " ".join(words)).strip("-").lower()
        code = hashlib.sha256(json.dumps(run.spec, sort_keys=True).encode()).hexdigest()[:10]
        return self.folder / f"{name}-{code}.json"

    def find(self, run: Run) -> Record | None:
        """The result of a run, if it is there, whole, and what would come out today."""
        try:
            kept = json.loads(self.path(run).read_text(encoding="utf-8"))
            if kept["spec"] != run.spec or (run.timed and not kept["timed"]):
                return None
            if kept["file"] != (file_of(run.problem) or kept["file"]):
                return None  # other data, or real data where there was a stand-in
            columns = (*History.columns, *CURRENT)
            kept["columns"] = {name: np.array(kept["columns"][name]) for name in columns}
            return Record(**kept)
        except (OSError, ValueError, KeyError, TypeError):
            return None  # missing, or torn by a broken-off write

    def __getitem__(self, run: Run) -> Record:
        record = self.find(run)
        if record is None:
            raise KeyError(f"no result of {run.contender.label} on {run.problem.data}")
        return record

    def all(self, runs: Iterable[Run]) -> list[Record]:
        """The results of runs on the same data."""
        records = [self[run] for run in runs]
        names = {record.name for record in records}
        if len(names) > 1:
            raise ValueError(
                f"{self.folder} holds results on different data ({', '.join(sorted(names))}): "
                "put the data back, or start in another folder"
            )
        return records

    def pending(self, runs: Iterable[Run]) -> list[Run]:
        """Runs without a result, each once, those on the same data side by side."""
        missing: dict[Path, Run] = {}
        for run in runs:
            path = self.path(run)
            if (path not in missing or run.timed) and self.find(run) is None:
                missing[path] = run
        return sorted(missing.values(), key=lambda run: (run.problem.data, str(run.problem)))

    def keep(
        self, run: Run, found: Instance, solution: Solution, current: list[tuple[float, ...]]
    ) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        problem = found.problem
        kept = {
            "spec": run.spec,
            "timed": run.timed,
            "file": file_of(run.problem),
            "name": found.name,
            "synthetic": found.synthetic,
            "source": found.source,
            "n": problem.n,
            "d": problem.d,
            "nnz": int(problem.entries),
            "scale": problem.scale,
            "lam": problem.lam,
            "status": str(solution.status),
            "columns": _thinned(solution.history, current),
        }
        with replacing(self.path(run)) as part:
            part.write_text(json.dumps(kept), encoding="utf-8")


def _thinned(history: History, current: list[tuple[float, ...]]) -> dict[str, list[float]]:
    rows = np.unique(np.linspace(0, len(history) - 1, _ROWS).round().astype(int))
    columns = history.to_dict()
    best = np.array([columns["primal"], columns["dual"], columns["gap"]]).T
    if current:
        best[: len(current)] = current[: len(best)]
    columns |= dict(zip(CURRENT, best.T))
    return {name: [float(f"{x:.12g}") for x in column[rows]] for name, column in columns.items()}


def perform(run: Run, folder: Path) -> None:
    """Do a run and keep its result."""
    found = instance(run.problem)
    problem = found.problem
    settings: dict[str, Any] = {
        "sampling": run.contender.sampling,
        "tol": run.limits.gap / problem.scale,
        "relative_to": "start",
        "random_state": run.seed,
    }
    if run.timed:
        # Compiling and the first touch of the data are not what is compared.
        solve(problem, run.contender.step, max_epochs=2, max_seconds=0.2, **settings)
    current: list[tuple[float, ...]] = []

    def note(snapshot: Snapshot) -> None:
        proof = snapshot.certificate
        if proof is not None:
            current.append((proof.primal, proof.dual, proof.gap))

    solution = solve(
        problem,
        run.contender.step,
        max_epochs=run.limits.epochs,
        max_seconds=run.limits.seconds,
        callback=None if run.timed else note,
        **settings,
    )
    Ledger(folder).keep(run, found, solution, current)
