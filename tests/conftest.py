"""Coverage looks away while Numba compiles: tracing every line would take twice as long.

And kernels are compiled at once, since the last bits of interpreted first fits are others. Where
shells start the tests in the background, Ctrl-C is ignored: tests that send it need it back.
"""

import functools
import os
import signal
import sys

import pytest
from numba.core.dispatcher import _FunctionCompiler

from dualgap.compile import first_use


def untraced(method):
    """The same method, without the trace function of its thread."""

    @functools.wraps(method)
    def run(*args):
        tracer = sys.gettrace()
        sys.settrace(None)
        try:
            return method(*args)
        finally:
            sys.settrace(tracer)

    return run


_FunctionCompiler.compile = untraced(_FunctionCompiler.compile)

os.environ.setdefault("DUALGAP_COMPILE", "always")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def interpreted(monkeypatch):
    """Kernels run as plain Python where they are not compiled yet, as in first fits to small data.

    For laws that need each rule on a few samples, and not the seconds in which it is compiled. A
    test that takes longer than that compiles after all.
    """
    monkeypatch.setattr(first_use, "TUNING", first_use.TUNING._replace(rent=2.0))
    monkeypatch.setattr(first_use.Process, "spent", 0.0)
    monkeypatch.setattr(first_use._fit, "waits", True)
