"""Dual variables of a checkpoint: one file for each partition, written by the process that has it.

So they never pass through the driver, and the folder must be one that all processes share. The
driver's own file says which of them belong to it: they are numbered, and each keeps its
predecessor, in case a run dies while they are being replaced.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

from dualgap.distributed.data.block import Block
from dualgap.distributed.engines.protocol import Engine, retry_until_stable
from dualgap.files import checkpoint_file
from dualgap.files.checkpoint_file import DamagedError
from dualgap.linalg.validate import Floats
from dualgap.run.checkpoint import Checkpoint, CheckpointWarning
from dualgap.steps.base import vector


class _Files(NamedTuple):
    """A folder, and the number of the checkpoint."""

    folder: str
    number: int

    def of_partition(self, k: int) -> Checkpoint:
        return Checkpoint(Path(self.folder) / f"partition-{k}.checkpoint", 0.0)


def store(block: Block, a: Floats, k: int, files: _Files) -> tuple[str | None, Floats]:
    """Write the dual variables of a partition; returns what went wrong (a task)."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            files.of_partition(k).write({"number": files.number, "dual": a})
        except ValueError as error:  # no such folder here
            return str(error), a
    return (str(told[0].message) if told else None), a


def fetch(block: Block, a: Floats, k: int, files: _Files) -> tuple[str | None, Floats]:
    """Take over the dual variables of this number; returns why that failed (a task)."""
    try:
        own = files.of_partition(k)
    except ValueError as error:
        return str(error), a
    for path in (own.path, own.spare):
        try:
            found = checkpoint_file.read(path)
            if found["number"] == files.number:
                return None, vector(found, "dual", block.dual_size)
        except (OSError, DamagedError, KeyError, ValueError):
            continue
    return f"{own.path} has no dual variables of checkpoint {files.number}", a


def store_all(engine: Engine, folder: Path, number: int) -> bool:
    """Write those of all partitions; returns whether all could."""
    return _all_well(engine.ask(store, _Files(str(folder.absolute()), number)))


def fetch_all(engine: Engine, folder: Path, number: int) -> None:
    """Take over those of all partitions that can be read; the others start again."""
    files = _Files(str(folder.absolute()), number)
    _all_well(retry_until_stable(lambda: engine.run(fetch, files)))


def _all_well(told: list[Any]) -> bool:
    failed = [(k, words) for k, words in enumerate(told) if words is not None]
    if failed:
        k, words = failed[0]
        warnings.warn(
            f"checkpoint: dual variables of {len(failed)} partitions are missing, of partition {k} "
            f"since {words}. All workers must share the folder.",
            CheckpointWarning,
            stacklevel=3,
        )
    return not failed
