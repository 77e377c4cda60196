"""A progress line: how far the gap has come towards the target, on a logarithmic scale."""

from __future__ import annotations

import math
from types import TracebackType
from typing import Any


class Progress:
    """Shows the gap, the passes and the time left while it is entered."""

    def __init__(self) -> None:
        self.first = math.nan
        self._bar: Any = None

    def __enter__(self) -> Progress:
        # Imported late: it is slow to import and rarely needed.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("gap {task.fields[gap]:.1e} of {task.fields[target]:.1e}"),
            BarColumn(20),  # so that the line fits into 80 columns
            TextColumn("{task.fields[words]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),  # standard output is for results
        )
        self._bar.start()
        self._task = self._bar.add_task("", total=1.0, gap=math.inf, target=0.0, words="")
        return self

    def show(self, passes: float, gap: float, target: float) -> None:
        target = max(target, 1e-300)
        if not self.first < math.inf and gap > 0.0:
            self.first = gap
        done = 1.0
        if gap > target and self.first > target:
            done = math.log(self.first / gap) / math.log(self.first / target)
        words = self.words(passes)
        self._bar.update(self._task, completed=done, gap=gap, target=target, words=words)

    def words(self, passes: float) -> str:
        """What has been done, in front of the time that is left."""
        return f"{passes:,.0f} passes, left"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
