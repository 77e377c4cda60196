"""How plain Python becomes machine code, as the rest of the package sees it.

``generic``  a rule such as ``value(loss, z, y)`` that runs the method of that name of its first
             argument, in plain Python and, with static dispatch, inside kernels. A loss, penalty
             or matrix is a ``NamedTuple`` whose methods are its rules; no registration needed.
``kernel``   a compiled loop, cached on disk.
``ordered_kernel``  one whose rounding errors a proof counts on.
``inner``    a long function that only kernels call; ``ordered_inner`` one that ordered kernels do.
``helper``   a small scalar function that rules call; ``careful`` and ``ordered`` one that cancels
             on purpose.

Numba takes a quarter of a second to import, and a first small fit needs no compiled kernel
(``first_use.py``). So these decorators note what is to be compiled, and ``machine`` imports Numba
when the first kernel is. What only kernels call stays a plain function for Python.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from dualgap.compile import first_use

F = TypeVar("F", bound=Callable[..., Any])

_lock = threading.RLock()


class _Numba:
    """Whether it has been imported, and what it is to be told when it is."""

    machine: Any = None
    declared: ClassVar[list[Callable[[Any], None]]] = []


def machine() -> Any:
    """The module that knows Numba, after it has been told all that kernels call."""
    if _Numba.machine is None:
        with _lock:
            from dualgap.compile import intrinsics, machine  # noqa: F401

            while _Numba.declared:
                _Numba.declared.pop(0)(machine)
            _Numba.machine = machine
    return _Numba.machine


def _declare(action: Callable[[Any], None]) -> None:
    with _lock:
        if _Numba.machine is None:
            _Numba.declared.append(action)
        else:
            action(_Numba.machine)


def generic(stub: F, default: Callable[..., Any] | None = None) -> F:
    """Make a function that dispatches to the method of the same name of its first argument.

    ``default`` is for classes without that method.
    """
    name = stub.__name__

    @functools.wraps(stub)
    def call(obj: Any, *args: Any) -> Any:
        return getattr(type(obj), name, default)(obj, *args)

    del call.__wrapped__  # Numba would compile the empty stub
    _declare(lambda machine: machine.dispatch(call, name, default))
    return call  # type: ignore[return-value]


def generic_with_default(rule: F) -> F:
    """The same for a rule that says itself what to do for classes without the method."""
    return generic(rule, rule)


def helper(function: F) -> F:
    """A scalar function for use inside rules and kernels."""
    return _called_by_kernels(function, "helper")


def careful(function: F) -> F:
    """A helper whose sums keep their order, also inside kernels: a − b − c is not a − (b + c)."""
    return _called_by_kernels(function, "careful")


def ordered(function: F) -> F:
    """The same where products may be fused with sums, for loops that take many of them at once."""
    return _called_by_kernels(function, "ordered")


def inner(function: F) -> F:
    """A function too long to be inlined, which only kernels can call; it is cached with them."""
    return _called_by_kernels(function, "inner")


def ordered_inner(function: F) -> F:
    """The same as part of an ordered kernel."""
    return _called_by_kernels(function, "ordered_inner")


def kernel(function: F) -> F:
    """Compile a loop over arrays and NamedTuples; it neither prints, stops nor draws numbers."""
    return _kernel(function, "kernel")


def ordered_kernel(function: F) -> F:
    """The same without leave to reorder sums: its rounding errors are those of the text."""
    return _kernel(function, "ordered_kernel")


def _called_by_kernels(function: F, kind: str) -> F:
    if not _is_off():
        _declare(lambda machine: machine.callable_by_kernels(function, kind))
    return function


def _kernel(function: F, kind: str) -> F:
    return function if _is_off() else Kernel(function, kind)  # type: ignore[return-value]


def _is_off() -> bool:
    """Whether all is to run as plain Python: NUMBA_DISABLE_JIT=1, or the same said to Numba."""
    if "numba" in sys.modules:
        return bool(sys.modules["numba"].config.DISABLE_JIT)
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


class Kernel:
    """A function that is compiled, or loaded from the cache, when a call needs it."""

    def __init__(self, function: Callable[..., Any], kind: str) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._kind = kind
        self._compiled: Any = None
        self._run: Callable[..., Any] = self._before_numba

    def __call__(self, *args: Any) -> Any:
        return self._run(*args)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    @property
    def _numba_type_(self) -> Any:
        return self.compiled._numba_type_  # for kernels that call this one

    @property
    def compiled(self) -> Any:
        """Numba's dispatcher."""
        with _lock:
            if self._compiled is None:
                self._compiled = self._run = machine().cached(self.py_func, self._kind)
                first_use.may_wait(self)
        return self._compiled

    @property
    def signatures(self) -> list[Any]:
        """The types of arguments for which machine code is there."""
        return getattr(self._compiled, "signatures", [])

    def is_cached(self, args: Any) -> bool:
        """Whether there is no need to compile for these arguments."""
        return bool(machine().is_cached(self.compiled, args))

    def _before_numba(self, *args: Any) -> Any:
        if first_use.may_interpret(args):
            return first_use.interpret(self, args)
        return self.compiled(*args)
