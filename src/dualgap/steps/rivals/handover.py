"""The results of another library's loop, one at a time: a callback turned inside out.

The loop runs in a thread that hands over an item and waits until the next one is wanted. Strictly
one of the two sides runs at a time, so nothing depends on how threads are scheduled.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")

WORKER = "dualgap-handover"  # the name of each worker thread


class _Closed(BaseException):
    """Unwinds the worker's stack; not an Exception, which the loop in between might catch."""


class Giver(Generic[Item]):
    """The worker's side. It has no reference to the other, which can thus be garbage-collected."""

    def __init__(self) -> None:
        self.wanted, self.given = threading.Semaphore(0), threading.Semaphore(0)
        self.items: list[Item] = []
        self.error: BaseException | None = None
        self.closed = self.done = False

    def give(self, item: Item) -> None:
        """Hand over an item and wait until the next one is wanted."""
        self.items.append(item)
        self.given.release()
        self.wait()

    def wait(self) -> None:
        self.wanted.acquire()
        self.check()

    def check(self) -> None:
        """End the worker if no more items are wanted; call it between pieces of long work."""
        if self.closed:
            raise _Closed

    def run(self, work: Callable[[Giver[Item]], Any]) -> None:
        try:
            self.wait()
            work(self)
        except _Closed:
            pass
        except BaseException as error:  # raised again where the items are wanted
            self.error = error
        finally:
            self.done = True
            self.given.release()


class Handover(Generic[Item]):
    """Iterates over what ``work(giver)`` gives.

    The worker starts with the first item. It ends with its work, with ``close``, when this object
    is garbage-collected, or with the process. ``work`` must not refer to this object's owner.
    """

    def __init__(self, work: Callable[[Giver[Item]], Any]) -> None:
        self._giver: Giver[Item] = Giver()
        self._worker = threading.Thread(
            target=self._giver.run, args=(work,), name=WORKER, daemon=True
        )
        self._end = weakref.finalize(self, _end, self._giver, self._worker)

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        giver = self._giver
        if not giver.done and not giver.closed:
            if self._worker.ident is None:
                self._worker.start()
            giver.wanted.release()
            giver.given.acquire()
        if giver.items:
            return giver.items.pop()
        if giver.error is not None:
            error, giver.error = giver.error, None
            raise error
        raise StopIteration

    def close(self) -> None:
        """End the worker, after at most one piece of its work."""
        self._end()


def _end(giver: Giver[Any], worker: threading.Thread) -> None:
    giver.closed = True
    giver.wanted.release()
    # Garbage may be collected in the worker itself, which cannot wait for its own end.
    if worker.ident is not None and worker is not threading.current_thread():
        worker.join()
