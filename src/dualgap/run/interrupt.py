"""Ctrl-C waits for the end of the round, so that a checkpoint keeps a consistent state."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def deferred() -> Iterator[Callable[[], bool]]:
    """Inside, the first Ctrl-C only makes the function return True; a second one interrupts."""
    usual = signal.default_int_handler
    asked = threading.Event()

    def ask(number: int, frame: Any) -> None:
        asked.set()
        signal.signal(signal.SIGINT, usual)

    own_thread = threading.current_thread() is threading.main_thread()
    # Custom SIGINT handlers are left in place.
    if not own_thread or signal.getsignal(signal.SIGINT) is not usual:
        yield asked.is_set
        return
    signal.signal(signal.SIGINT, ask)
    try:
        yield asked.is_set
    finally:
        if signal.getsignal(signal.SIGINT) is ask:
            signal.signal(signal.SIGINT, usual)
