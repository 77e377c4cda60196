"""The protocol between the driver and an engine: the only place where the two meet.

An engine keeps, for every partition, its data (a block) and its dual variables, wherever it wants
to: in this process, on Dask workers, in the processes of an MPI job. The driver keeps only vectors
as long as u, and copies of the dual variables in case they are lost. It works with the partitions
by tasks alone:

    task(block, a, k, message) -> (answer, new a)

``a`` are the dual variables of partition ``k``; the driver sends the same ``message`` to all
partitions. A task must be a function at the top level of a module, so that it can be pickled. It
must not change its arguments, since an engine may run it again, anywhere. It must not use the
clock or the number of workers for its result. Then results do not depend on the engine: answers
arrive in the order of partitions, so what the driver adds up has the same bits on any number of
workers.

The calls of a driver:

    engine.run(task, message)            a round: the new dual variables replace the old ones
    engine.ask(task, message)            a question: dual variables stay as they are
    engine.transform(function, message)  block = function(block, k, message), also after a failure
    engine.keep()                        make a copy of all dual variables, elsewhere
    engine.copy(), engine.put(duals)     read and write all dual variables; both make a copy

When workers fail, the engine loads their data again, restores their dual variables from the last
copy and raises ``PartitionsLostError``. Dual variables of any age are feasible, so the driver only
has to compute u again (``driver/state.py``). Tasks that do not depend on u are simply repeated
(``retry_until_stable``).

To add a scheme, write one file in ``schemes/`` with a subclass of ``Scheme`` (``schemes/base.py``)
and the tasks that it needs, and add one line to ``SCHEMES`` in ``schemes/__init__.py``. Dual
methods override ``steps``, a function that a partition runs in each round. Methods with another
exchange have a driver of their own, as ``driver/newton_rounds.py`` for Newton steps. Failures,
checkpoints, gap checks and proofs are the driver's business. To add an engine, subclass ``Engine``
and add one line to ``run_with_engine``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dualgap.distributed.data.block import Block
from dualgap.distributed.messages import in_pairs
from dualgap.linalg import parallel
from dualgap.linalg.validate import Floats
from dualgap.steps.base import dual_start

Transform = Callable[[Any, int, Any], Any]
PartitionTask = Callable[[Any, Any, int, Any], tuple[Any, Any]]


class PartitionsLostError(RuntimeError):
    """Some partitions are back at older dual variables, to which the driver's u does not belong."""

    def __init__(self, partitions: Sequence[int]) -> None:
        self.partitions = list(partitions)
        names = ", ".join(map(str, self.partitions))
        super().__init__(f"partitions {names} were restored from their last copy")


class Engine(ABC):
    """All partitions, and the workers that run tasks on them."""

    size: int  # the number of partitions
    on_this_machine = False  # whether all workers are known to be on this machine

    @property
    @abstractmethod
    def workers(self) -> int:
        """The number of workers at present."""

    @abstractmethod
    def run(self, task: PartitionTask, message: Any) -> list[Any]:
        """Run the task on each partition and keep the dual variables that it returns.

        Raises ``PartitionsLostError`` once lost dual variables are restored from the last copy, or
        are 0 if there is none.
        """

    @abstractmethod
    def ask(self, task: PartitionTask, message: Any) -> list[Any]:
        """The same for a task that leaves dual variables as they are."""

    def total(self, task: PartitionTask, message: Any, add: Callable[[Any, Any], Any]) -> Any:
        """The answers of ``ask`` added up in pairs, as ``messages.in_pairs`` does."""
        return in_pairs(self.ask(task, message), add)

    def run_total(self, task: PartitionTask, message: Any, add: Callable[[Any, Any], Any]) -> Any:
        """The same for ``run``."""
        return in_pairs(self.run(task, message), add)

    @abstractmethod
    def transform(self, function: Transform, message: Any, *, anew: bool = False) -> None:
        """Replace the data of each partition k by ``function(data, k, message)``.

        ``anew``: the function may also have the data as they were read, so that a partition that is
        read again needs none of the earlier transforms.
        """

    @abstractmethod
    def keep(self) -> None:
        """Make a copy of all dual variables, from which lost ones are restored."""

    @abstractmethod
    def copy(self) -> list[Floats]:
        """The dual variables of all partitions, which become their last copy."""

    @abstractmethod
    def put(self, duals: Sequence[Floats | None]) -> None:
        """Give each partition its dual variables, which become its last copy.

        None stands for those that a fit starts from."""

    @abstractmethod
    def close(self) -> None:
        """Release the data."""


def retry_until_stable(action: Callable[[], Any]) -> Any:
    """Repeat the action until no partition is lost meanwhile.

    It ends: an engine gives up, with another error, on a partition that it loses time and again.
    """
    while True:
        try:
            return action()
        except PartitionsLostError:
            continue


def run_task(task: PartitionTask, block: Any, a: Any, k: int, message: Any) -> tuple[Any, Any]:
    """Run a task in one thread: engines keep the cores busy by running several tasks at once.

    Without dual variables, a task gets those that a fit starts from.
    """
    with parallel.at_most(1):
        if a is None and isinstance(block, Block):
            a = dual_start(block, None)
        return task(block, a, k, message)


@contextmanager
def naming_partition(k: int) -> Iterator[None]:
    """Errors raised within say which partition they are about."""
    try:
        yield
    except Exception as error:
        raise about_partition(k, error) from error


def about_partition(k: int, error: BaseException) -> Exception:
    """The error, with the number of the partition in front of its message."""
    for kind in (ValueError, TypeError, MemoryError, OSError):
        if isinstance(error, kind):
            return kind(f"partition {k}: {error}")
    return RuntimeError(f"partition {k}: {type(error).__name__}: {error}")
