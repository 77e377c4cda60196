"""The first fit of a class to small data runs as plain Python, which takes less than compiling.

The kernels of an estimator take several seconds to compile, and a fit to a few hundred samples some
hundredths of a second as plain Python. So in the first fit of each class of estimators a kernel
that is not in the cache runs as what it is, a Python function, if its arrays are small; a second
fit compiles it. Compiled sums may have another order, so that the last bits of the first fit are
not those of the second. Whoever gives a seed gets compiled kernels at once, and so does whoever
sets ``DUALGAP_COMPILE=always``.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_LARGEST = 1 << 15  # numbers in the arrays of a call; loops in Python take 0.1 µs for each visit
_PATIENCE = 0.5  # seconds of a kernel as plain Python; compiling it takes as long, or longer

_thread = threading.local()  # ``waits``: in a first fit; ``interprets``: in a kernel of one
_fitted: set[Any] = set()  # classes


@contextlib.contextmanager
def first_fit(model: Any) -> Iterator[None]:
    """Around a fit: if it is the first of its class, small kernels are not compiled for it."""
    kind = type(model)
    outer = getattr(_thread, "waits", False)
    first = kind not in _fitted and model.random_state is None
    _fitted.add(kind)
    _thread.waits = outer or (first and os.environ.get("DUALGAP_COMPILE") != "always")
    try:
        yield
    finally:
        _thread.waits = outer


def never_called(compiled: Any) -> None:
    """Prepare a function without a wrapper for Python: there it is always plain."""
    function = compiled.py_func

    def add_overload(result: Any) -> None:  # without the table in which calls from Python look
        compiled.overloads[tuple(result.signature.args)] = result

    compiled.add_overload = add_overload
    compiled._compile_for_args = lambda *args: function


def follows(compiled: Any) -> None:
    """Prepare a function that kernels call: it is plain where they are."""
    function, compile_now = compiled.py_func, compiled._compile_for_args

    def choose(*args: Any) -> Any:
        return function if getattr(_thread, "interprets", False) else compile_now(*args)

    compiled._compile_for_args = choose


def may_wait(compiled: Any, is_cached: Callable[..., bool]) -> None:
    """Prepare a kernel, which Python calls."""
    function, compile_now = compiled.py_func, compiled._compile_for_args
    cached: dict[Any, bool] = {}  # by kinds of arguments
    spent = 0.0  # seconds

    def choose(*args: Any) -> Any:
        """What is to be called with these arguments, for which there is no compiled kernel yet."""
        if getattr(_thread, "interprets", False):
            return function
        waits = getattr(_thread, "waits", False) and spent <= _PATIENCE and _are_small(args)
        if not waits:
            return compile_now(*args)
        kind = tuple(_kind(arg) for arg in args)
        if kind not in cached:
            cached[kind] = is_cached(args)
        return compile_now(*args) if cached[kind] else interpret

    @functools.wraps(function)
    def interpret(*args: Any) -> Any:
        nonlocal spent
        written = [(array, array.copy()) for array in _arrays(args) if array.flags.writeable]
        began = time.perf_counter()
        _thread.interprets = True
        try:
            with np.errstate(all="ignore"):
                return function(*args)
        except (ArithmeticError, ValueError):  # machine code has infinities and NaN there
            for array, before in written:
                array[...] = before
            return compile_now(*args)(*args)
        finally:
            _thread.interprets = False
            spent += time.perf_counter() - began

    compiled._compile_for_args = choose


def _are_small(args: Any) -> bool:
    return bool(sum(array.size for array in _arrays(args)) <= _LARGEST)


def _arrays(args: Any) -> Iterator[Any]:
    for arg in args:
        if isinstance(arg, np.ndarray):
            yield arg
        elif isinstance(arg, tuple):
            yield from _arrays(arg)


def _kind(arg: Any) -> Any:
    """What compiled code depends on, or a little more."""
    if isinstance(arg, np.ndarray):
        return arg.dtype.char, arg.ndim, arg.flags.c_contiguous, arg.flags.writeable
    if isinstance(arg, tuple):
        return type(arg), *(_kind(item) for item in arg)
    return type(arg)
