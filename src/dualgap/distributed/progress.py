"""The progress line of a distributed fit: the gap, rounds, and what each of them costs."""

from __future__ import annotations

from typing import Any

from dualgap.run.progress import Progress


class RoundProgress(Progress):
    """Rounds in place of passes, with the seconds and the bytes of the last one."""

    def __init__(self, driver: Any) -> None:
        super().__init__()
        self.driver = driver

    def words(self, passes: float) -> str:
        rows, rounds = self.driver.history, self.driver.rounds
        if len(rows) < 2:
            return f"{rounds} rounds, left"
        made = max(rows.iterations[-1] - rows.iterations[-2], 1.0)
        seconds = rows.round_seconds[-1] / made
        sent = (rows.sent[-1] + rows.received[-1]) / made
        return f"{rounds} rounds of {seconds:.2g} s, {short(sent)}, left"


def short(nbytes: float) -> str:
    """A number of bytes in few characters."""
    for unit in ("B", "KB", "MB"):
        if nbytes < 1000.0:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000.0
    return f"{nbytes:.3g} GB"
