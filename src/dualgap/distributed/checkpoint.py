"""A run on disk: a file for each partition, and one for what the driver knows.

Any feasible dual variables are a valid start, so files of different rounds do no harm: u is then
added up anew. If all are of the same round, the run goes on as if it had not been broken off.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dualgap._validate import Floats
from dualgap.checkpoint_file import sync

_DRIVER = "run.npz"


class Saved(NamedTuple):
    """A run at the start of round ``number``. ``u`` is empty where it does not belong to all of the
    dual variables; ``memory`` is what the scheme keeps, ``best`` the best coefficients so far,
    ``counts`` visits so far and since the last look, and the best objective and bound."""

    number: int
    duals: list[Floats]
    u: Floats
    memory: Floats
    best: Floats
    counts: Floats


class Folder:
    """Where the checkpoints of one run are."""

    def __init__(self, path: Any, fingerprint: str) -> None:
        self.path, self.fingerprint = Path(path), fingerprint
        self.path.mkdir(parents=True, exist_ok=True)

    def _of_partition(self, k: int) -> Path:
        return self.path / f"partition-{k:05d}.npz"

    def save(self, saved: Saved) -> None:
        """Write all files; each replaces the one before at once, or not at all."""
        mark = np.array(self.fingerprint)
        for k, dual in enumerate(saved.duals):
            write_whole(self._of_partition(k), number=saved.number, mark=mark, dual=dual)
        own = {name: getattr(saved, name) for name in ("number", "u", "memory", "best", "counts")}
        write_whole(self.path / _DRIVER, mark=mark, **own)

    def load(self, sizes: list[int]) -> Saved | None:
        """What was saved; None if nothing was. Partitions whose files are damaged start at 0."""
        own = self._read(self.path / _DRIVER)
        if own is None:
            return None
        number, duals, same = int(own["number"]), [], True
        for k, size in enumerate(sizes):
            found = self._read(self._of_partition(k))
            same &= found is not None and int(found["number"]) == number
            duals.append(np.zeros(size) if found is None else found["dual"])
        u = own["u"] if same else np.empty(0)
        return Saved(number, duals, u, own["memory"], own["best"], own["counts"])

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            with np.load(path) as file:
                found = dict(file)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            return None  # it is damaged, and any start will do
        if str(found["mark"]) != self.fingerprint:
            raise ValueError(
                f"checkpoint {self.path} belongs to another problem, other partitions or another "
                "scheme: choose an empty folder, or delete it"
            )
        return found


def write_whole(path: Path, **arrays: Any) -> None:
    """Write a file such that whoever reads it, at any time, finds the old or the new one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    sync(path.parent)
