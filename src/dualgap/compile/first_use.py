"""First fits to small data run as plain Python, which takes less than loading compiled kernels.

A fit to a few hundred samples takes some hundredths of a second as plain Python. Numba takes two or
three tenths to be imported and to load compiled kernels, and some seconds to compile them. So
compiled kernels are bought when renting has become as dear: once a process has interpreted small
kernels for a quarter of a second, it loads those that the cache has. Those that it has not are
ordered from a process in the background (``background.py``), and interpreted meanwhile. Where there
is none, the first fit of each class of estimators is interpreted, and later ones compile.

Compiled sums may have another order, so that the last bits of an interpreted fit are others.
Whoever gives a seed gets compiled kernels at once, and so does whoever sets
``DUALGAP_COMPILE=always``.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np


class Tuning(NamedTuple):
    """When plain Python does; seconds are those of the processor, not of a busy machine's clock."""

    largest: int = 1 << 15  # numbers in the arrays of a call; Python takes 0.1 µs for each visit
    rent: float = 0.25  # seconds of a process; Numba and the kernels of a fit take as long to load
    patience: float = 5.0  # seconds of a fit; compiling all its kernels takes as long, or longer


TUNING = Tuning()


class _Fit(threading.local):
    """What this thread is doing."""

    waits = False  # it fits a model without a seed
    first = False  # a model of a class that this process had not fitted
    spent = 0.0  # seconds of this fit in interpreted kernels
    interprets = False  # it is inside one


class Process:
    """What all threads have done."""

    spent = 0.0  # seconds in interpreted kernels
    fitted: ClassVar[set[Any]] = set()  # classes


_fit = _Fit()


@contextlib.contextmanager
def first_fit(model: Any) -> Iterator[None]:
    """Around a fit without a seed, whose small kernels may be interpreted."""
    kind = type(model)
    first = kind not in Process.fitted
    Process.fitted.add(kind)
    if _fit.waits:  # a fit inside of another
        yield
        return
    _fit.waits = True
    _fit.first, _fit.spent = first, 0.0
    try:
        yield
    finally:
        _fit.waits = False


def may_interpret(args: Any) -> bool:
    """Whether plain Python does for a call, without a look at the cache."""
    return _fit.interprets or (_fit.waits and Process.spent <= TUNING.rent and _are_small(args))


def may_wait(kernel: Any) -> None:
    """Prepare a kernel for calls for which no compiled form is there yet."""
    compiled = kernel.compiled
    if compiled is kernel.py_func:
        return
    compile_now = compiled._compile_for_args

    def choose(*args: Any) -> Any:
        """What is to be called with these arguments."""
        if may_interpret(args) or _shall_wait(kernel, args):
            return lambda *args: interpret(kernel, args)
        return compile_now(*args)

    compiled._compile_for_args = choose


def _shall_wait(kernel: Any, args: Any) -> bool:
    """Whether to interpret a call after all, since compiling would take longer."""
    if not _fit.waits or _fit.spent > TUNING.patience or not _are_small(args):
        return False
    if kernel.is_cached(args):
        return False
    from dualgap.compile import background

    return background.compiles(kernel, args) or _fit.first


def interpret(kernel: Any, args: Any) -> Any:
    """Run a kernel as the Python function that it is."""
    if _fit.interprets:
        return kernel.py_func(*args)
    written = [(array, array.copy()) for array in _arrays(args) if array.flags.writeable]
    began = time.thread_time()
    _fit.interprets = True
    try:
        with np.errstate(all="ignore"):
            return kernel.py_func(*args)
    except (ArithmeticError, ValueError):  # machine code has infinities and NaN there
        for array, before in written:
            array[...] = before
        _fit.interprets = False
        waits, _fit.waits = _fit.waits, False
        try:
            return kernel.compiled(*args)
        finally:
            _fit.waits = waits
    finally:
        _fit.interprets = False
        took = time.thread_time() - began
        _fit.spent += took
        Process.spent += took


def _are_small(args: Any) -> bool:
    return bool(sum(array.size for array in _arrays(args)) <= TUNING.largest)


def _arrays(args: Any) -> Iterator[Any]:
    for arg in args:
        if isinstance(arg, np.ndarray):
            yield arg
        elif isinstance(arg, tuple):
            yield from _arrays(arg)
