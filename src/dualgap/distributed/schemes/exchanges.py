"""Questions about sums over all samples: one exchange for each, counted with its bytes."""

from __future__ import annotations

from typing import Any

from dualgap.distributed.engines.protocol import Engine, PartitionTask
from dualgap.distributed.messages import PartitionSums, WorkTime


class Exchanges:
    """The exchanges of a run so far: their number, and bytes to and from all partitions.

    ``times``: how long partitions worked since the driver has read it last.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.count = self.sent = self.received = 0
        self.times: list[WorkTime] = []

    def ask(self, task: PartitionTask, message: Any, size: int) -> PartitionSums:
        """What the answers of a task add up to; ``size``: the bytes of the message."""
        return self._counted(self.engine.total(task, message, PartitionSums.plus), size)

    def run(self, task: PartitionTask, message: Any, size: int) -> PartitionSums:
        """The same for a task that changes dual variables."""
        return self._counted(self.engine.run_total(task, message, PartitionSums.plus), size)

    def _counted(self, total: PartitionSums, size: int) -> PartitionSums:
        self.count += 1
        self.sent += self.engine.size * size
        self.received += total.sent
        self.times += total.times
        return total
