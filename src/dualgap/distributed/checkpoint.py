"""A run on disk: what the driver knows of it, and the dual variables of all partitions.

They are one state, in one file of a folder, which ``dualgap/checkpoint.py`` writes and reads as it
does for a run on one machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.distributed.block import Model
from dualgap.files.describe import identity_text
from dualgap.files.digest import digest
from dualgap.linalg.validate import Floats
from dualgap.run.checkpoint import Checkpoint
from dualgap.run.loop_state import plain_rows
from dualgap.steps.base import vector

_FILE = "run.checkpoint"
_NUMBERS = (
    "number", "visits", "spent", "operations", "unseen", "moved", "idle", "doubts", "doubtful",
    "primal", "dual", "looks", "looked",
)  # fmt: skip


def identity(model: Model, digests: tuple[str, ...], scheme: str, seed: int) -> dict[str, str]:
    """What must be the same if a run is to go on, by name and in a few words."""
    return {
        "the number of partitions": str(len(digests)),
        "the data": digest(np.frombuffer("".join(digests).encode(), np.uint8)),
        "loss": identity_text(model.loss),
        "penalty": identity_text(model.penalty),
        "lam": repr(model.lam),
        "intercept": f"{model.intercept!r} ({model.intercept_scaling!r})",
        "the scheme": scheme,
        "random_state": repr(seed),
    }


class Folder:
    """Where the checkpoint of one run is."""

    def __init__(self, path: Any, own: dict[str, str]) -> None:
        try:
            Path(path).mkdir(parents=True, exist_ok=True)
        except (OSError, TypeError) as error:
            raise ValueError(
                f"checkpoint must be a folder, which {path!r} is not: {error}"
            ) from None
        self._file, self._own = Checkpoint(Path(path) / _FILE, 0.0), own

    def read(self) -> dict[str, Any] | None:
        """The last state that is whole; None if there is none."""
        found = self._file.read()
        if found is not None:
            self._file.refuse_other(found, self._own)
        return found

    def write(self, loop: Any, duals: list[Floats]) -> None:
        """Replace it by the state of a loop between two rounds."""
        self._file.write({"identity": self._own, **_taken(loop), "duals": duals})


def _taken(loop: Any) -> dict[str, Any]:
    return {
        "loop": {name: getattr(loop, name) for name in _NUMBERS},
        "seconds": loop.seconds,
        "history": json.dumps(plain_rows(loop.history.rows)),
        "u": loop.u,
        "best": loop.best,
        "scheme": loop.scheme.state(),
        "outer": None if loop.outer is None else loop.outer.state(),
        "work": loop.pace.now,
    }


@contextmanager
def _fitting() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the checkpoint does not fit the run ({error}): delete it") from error


def duals_of(state: dict[str, Any], sizes: list[int]) -> list[Floats]:
    """Those of each partition, which has so many of them."""
    with _fitting():
        return [vector({"dual": a}, "dual", size) for a, size in zip(state["duals"], sizes)]


def put_back(loop: Any, state: dict[str, Any]) -> None:
    """Make a loop that has not begun go on from there."""
    with _fitting():
        _put_back(loop, state)


def _put_back(loop: Any, state: dict[str, Any]) -> None:
    size = loop.frame.coef_size
    for name in _NUMBERS:
        setattr(loop, name, state["loop"][name])
    for row in json.loads(state["history"]):
        loop.history.append(*row)
    loop.earlier = state["seconds"]
    loop.u, loop.best = vector(state, "u", size), vector(state, "best", size)
    loop.scheme.restore(state["scheme"])
    if loop.outer is not None:
        loop.outer.restore(state["outer"])
    loop.pace.now = state["work"]
