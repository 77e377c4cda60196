"""Checkpoints of a run: when to write them, how to never lose one, and which one to resume from.

A file is written beside the old one, synced to disk, and then replaces it; the old one stays as
``<path>.previous``. A complete file therefore exists at any moment, whenever the process dies.
"""

from __future__ import annotations

import glob
import os
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from dualgap.files import checkpoint_file
from dualgap.files.checkpoint_file import DamagedError, ForeignError
from dualgap.files.identity import differences
from dualgap.files.replace import sync_folder
from dualgap.linalg.validate import number


class CheckpointWarning(UserWarning):
    """A checkpoint could not be read or written properly."""


class Checkpoint:
    """The checkpoint of a run at ``path``, written every ``every`` seconds."""

    def __init__(self, path: Any, every: Any) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise ValueError(f"checkpoint must be the path of a file, not {path!r}")
        self.path = Path(path)
        if self.path.is_dir():
            raise ValueError(f"checkpoint: {self.path} is a folder: give the path of a file")
        self.every = number(every, "checkpoint_every", 0.0)
        self.spare = self.path.with_name(f"{self.path.name}.previous")
        folder = self.path.parent
        if not folder.is_dir():
            raise ValueError(f"checkpoint: the folder {folder} does not exist: create it first")
        if not os.access(folder, os.W_OK):
            raise ValueError(f"checkpoint: the folder {folder} cannot be written to")
        # Named after this process: two runs with the same path must not write to the same file.
        own = f"{self.path.name}.{os.getpid()}"
        self._part, self._link = (folder / f"{own}{end}.part" for end in ("", ".link"))
        for left in folder.glob(f"{glob.escape(self.path.name)}.*.part"):
            left.unlink(missing_ok=True)  # of a run that was killed
        self.facts: dict[str, Any] = {}  # what each file holds besides the state of the run
        self._is_intact = True  # the file at the path may become ``.previous``
        self._written = time.monotonic()

    # --- reading --------------------------------------------------------------------------------

    def read(self) -> dict[str, Any] | None:
        """The last intact state; None if there is none to resume from."""
        problems = []
        for path in (self.path, self.spare):
            if not path.exists():
                continue
            try:
                found = checkpoint_file.read(path)
            except DamagedError as error:
                problems.append(f"{path} is damaged ({error})")
                self._is_intact = False
                continue
            if path == self.spare:
                lost = problems or [f"{self.path} is missing"]
                _warn(f"{lost[0]}: resuming from the previous one, {path}")
            return found
        if problems:
            _warn(f"{' and '.join(problems)}: nothing to resume from: the run starts over")
        return None

    def refuse_other(self, found: dict[str, Any], own: dict[str, str]) -> None:
        """Refuse the checkpoint of another problem or method."""
        words = differences(found.get("identity", {}), own)
        if words:
            raise ValueError(
                f"{self.path} is the checkpoint of another run: {words}. Give another path, or"
                f" delete it and {self.spare.name} to start over"
            )

    # --- writing --------------------------------------------------------------------------------

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._written >= self.every

    def write(self, state: dict[str, Any]) -> None:
        """Replace the last checkpoint. If that fails, the run continues with a warning."""
        try:
            with open(self._part, "wb") as file:
                checkpoint_file.write(file, {**self.facts, **state})
                file.flush()
                os.fsync(file.fileno())
            self._keep_previous()
            os.replace(self._part, self.path)
            sync_folder(self.path.parent)
            self._is_intact = True
        except OSError as error:
            _warn(f"{self.path} could not be written ({error}); the run continues without it")
            with suppress(OSError):
                self._part.unlink(missing_ok=True)
        self._written = time.monotonic()

    def _keep_previous(self) -> None:
        if not self._is_intact or not self.path.exists():
            return
        try:
            # Link first, so that the path exists at any moment.
            os.link(self.path, self._link)
            os.replace(self._link, self.spare)
            self._link.unlink(missing_ok=True)  # it stays if both names were one file already
        except OSError:  # a file system without links
            os.replace(self.path, self.spare)


def _warn(words: str) -> None:
    warnings.warn(f"checkpoint: {words}", CheckpointWarning, stacklevel=4)


__all__ = ["Checkpoint", "CheckpointWarning", "DamagedError", "ForeignError"]
