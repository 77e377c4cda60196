"""Coverage looks away while Numba compiles, which takes twice as long when every line is traced."""

import functools
import sys

from numba.core.dispatcher import _FunctionCompiler


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
