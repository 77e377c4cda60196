"""A run on disk: the state of the driver in one file, dual variables beside it (``dual_files.py``).

``run/checkpoint.py`` writes and reads the files, as it does for a run on one machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dualgap.distributed.data.block import ModelSpec
from dualgap.distributed.driver.dual_files import fetch_all, store_all
from dualgap.distributed.engines.protocol import Engine
from dualgap.files.describe import identity_text
from dualgap.files.digest import digest
from dualgap.linalg.validate import Floats
from dualgap.run.checkpoint import Checkpoint
from dualgap.run.loop_state import must_fit, record_of, restore_record
from dualgap.steps.base import vector

_FILE = "run.checkpoint"
# Names in the file, which older versions have written too, and attributes of a driver.
_NUMBERS = {
    "number": "rounds",
    "visits": "visits",
    "spent": "counted_visits",
    "operations": "operations",
    "unseen": "visits_since_check",
    "moved": "moved_since_check",
    "idle": "idle_checks",
    "doubts": "failed_proofs",
    "doubtful": "best_failed_gap",
    "primal": "primal",
    "dual": "dual",
    "looks": "gap_passes",
    "looked": "checked",
}


def identity(spec: ModelSpec, digests: tuple[str, ...], scheme: str, seed: int) -> dict[str, str]:
    """What must be the same for a run to be resumed, by name and in a few words."""
    return {
        "the number of partitions": str(len(digests)),
        "the data": digest(np.frombuffer("".join(digests).encode(), np.uint8)),
        "loss": identity_text(spec.loss),
        "penalty": identity_text(spec.penalty),
        "lam": repr(spec.lam),
        "intercept": f"{spec.intercept!r} ({spec.intercept_scaling!r})",
        "the scheme": scheme,
        "random_state": repr(seed),
    }


class CheckpointFolder:
    """The folder with the checkpoint of one run."""

    def __init__(self, path: Any, identity: dict[str, str]) -> None:
        try:
            Path(path).mkdir(parents=True, exist_ok=True)
        except (OSError, TypeError) as error:
            raise ValueError(
                f"checkpoint must be a folder, which {path!r} is not: {error}"
            ) from None
        self.path, self._identity = Path(path), identity
        self._file = Checkpoint(self.path / _FILE, 0.0)
        self._number = 0  # of the files of dual variables

    def read(self) -> dict[str, Any] | None:
        """The last undamaged state; None if there is none. Refuses that of another run."""
        found = self._file.read()
        if found is not None:
            self._file.refuse_other(found, self._identity)
            self._number = found.get("duals_number") or 0
        return found

    def write(self, driver: Any) -> None:
        """Replace the checkpoint by the state of a driver between two rounds."""
        number = None
        if driver.duals_matter:
            self._number += 1
            if not store_all(driver.engine, self.path, self._number):
                return
            number = self._number
        self._file.write({"identity": self._identity, **_state(driver), "duals_number": number})

    def put_duals(self, engine: Engine, state: dict[str, Any], sizes: list[int]) -> None:
        """Give partitions the dual variables of a state, if it has any."""
        if "duals" in state:  # of older versions
            engine.put(saved_duals(state, sizes))
        elif state["duals_number"] is not None:
            fetch_all(engine, self.path, state["duals_number"])


def _state(driver: Any) -> dict[str, Any]:
    return {
        **record_of(driver, _NUMBERS),
        "u": driver.u,
        "best": driver.best,
        "scheme": driver.scheme.state(),
        "outer": None if driver.outer is None else driver.outer.state(),
        "work": driver.schedule.now,
    }


def saved_duals(state: dict[str, Any], sizes: list[int]) -> list[Floats]:
    """The dual variables of each partition; ``sizes``: how many each must have."""
    with must_fit():
        return [vector({"dual": a}, "dual", size) for a, size in zip(state["duals"], sizes)]


def restore(driver: Any, state: dict[str, Any]) -> None:
    """Make a driver that has not begun continue from a checkpoint."""
    size = driver.skeleton.coef_size
    with must_fit():
        restore_record(driver, _NUMBERS, state)
        driver.u, driver.best = vector(state, "u", size), vector(state, "best", size)
        driver.scheme.restore(state["scheme"])
        if driver.outer is not None:
            driver.outer.restore(state["outer"])
        driver.schedule.now = state["work"]
