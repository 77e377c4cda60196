"""How plain Python becomes machine code; with ``prefetch.py``, all that knows Numba's internals.

``generic``  a rule such as ``value(loss, z, y)`` that runs the method of that name of its first
             argument, in plain Python and, with static dispatch, inside kernels. A loss, penalty
             or matrix is a ``NamedTuple`` whose methods are its rules; no registration needed.
``kernel``   a compiled loop, cached on disk. Numba's cache checks only the file of the kernel
             itself; our folders are named after the sources of this package and the code of the
             user's classes in the signature, so an edited rule never meets a stale kernel.
``ordered_kernel``  one whose rounding errors a proof counts on.
``inner``    a long function that only kernels call.
``helper``   a small scalar function that rules call; ``careful`` and ``ordered`` one that cancels
             on purpose.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs
from numba.core import caching, types
from numba.extending import overload

from dualgap.compile import first_use
from dualgap.compile.fingerprint import fingerprint
from dualgap.compile.sources import is_source, source_hash

F = TypeVar("F", bound=Callable[..., Any])

# Compiled functions need no wrapper for C, since their addresses are not used; those that only
# kernels call need none for Python either. Each wrapper takes time to compile.
_LEAN: Any = {"nogil": True, "no_cfunc_wrapper": True}
# Sums may be reordered (SIMD) and multiply-adds fused; infinities and NaN keep their meaning.
_KERNEL: Any = {**_LEAN, "fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
_ORDERED: Any = {**_KERNEL, "fastmath": {"contract", "nsz"}}
_INNER: Any = {**_KERNEL, "no_cpython_wrapper": True, "forceinline": False}
# Inlined always: otherwise LLVM may call a rule and pass every field of every array each time.
RULE: Any = {"forceinline": True, "no_cfunc_wrapper": True}


def generic(stub: F, default: Callable[..., Any] | None = None) -> F:
    """Make a function that dispatches to the method of the same name of its first argument.

    ``default`` is for classes without that method.
    """
    name = stub.__name__

    @functools.wraps(stub)
    def call(obj: Any, *args: Any) -> Any:
        return getattr(type(obj), name, default)(obj, *args)

    del call.__wrapped__  # Numba would compile the empty stub

    @overload(call, strict=False, jit_options=RULE)
    def choose(obj: Any, *args: Any) -> Any:
        return getattr(getattr(obj, "instance_class", None), name, default)

    return call


def generic_with_default(rule: F) -> F:
    """The same for a rule that says itself what to do for classes without the method."""
    return generic(rule, rule)


def helper(function: F) -> F:
    """Compile a scalar function for use inside rules and kernels."""
    return _called_by_kernels(numba.njit(forceinline=True, **_LEAN)(function))


def careful(function: F) -> F:
    """A helper whose sums keep their order, also inside kernels: a − b − c is not a − (b + c)."""
    return _called_by_kernels(numba.njit(fastmath=False, error_model="numpy", **_LEAN)(function))


def ordered(function: F) -> F:
    """The same where products may be fused with sums, for loops that take many of them at once."""
    options: Any = {"fastmath": {"contract"}, "error_model": "numpy", "forceinline": True}
    return _called_by_kernels(numba.njit(**options, **_LEAN)(function))


def inner(function: F) -> F:
    """A function too long to be inlined, which only kernels can call; it is cached with them."""
    compiled = numba.njit(**_INNER)(function)
    if _is_compiled(compiled):
        first_use.never_called(compiled)
    return compiled


def kernel(function: F) -> F:
    """Compile a loop over arrays and NamedTuples; it neither prints, stops nor draws numbers."""
    return _cached(function, _KERNEL)


def ordered_kernel(function: F) -> F:
    """The same without leave to reorder sums: its rounding errors are those of the text."""
    return _cached(function, _ORDERED)


def _cached(function: F, options: Any) -> F:
    compiled = numba.njit(**options)(function)
    if _is_compiled(compiled):
        compiled._cache = _cache_in(cache_folder(), function, _KernelCache)
        first_use.may_wait(compiled, functools.partial(_is_cached, compiled))
    return compiled


def _is_cached(compiled: Any, args: Any) -> bool:
    """Whether there is no need to compile for these arguments."""
    if not os.path.exists(compiled._cache._cache_file._index_path):
        return False  # before Numba sets itself up, which takes a while
    sig = tuple(compiled.typeof_pyval(arg) for arg in args)
    return bool(compiled._cache.holds(sig, compiled.targetctx))


def _called_by_kernels(compiled: Any) -> Any:
    if _is_compiled(compiled):
        first_use.follows(compiled)
    return compiled


def _is_compiled(function: Any) -> bool:
    """Not with NUMBA_DISABLE_JIT=1."""
    return isinstance(function, numba.core.dispatcher.Dispatcher)


@functools.cache
def cache_folder() -> Path:
    """A writable folder for compiled kernels, named after the sources they were made from."""
    own = numba.config.CACHE_DIR
    candidates = [own] if own else [platformdirs.user_cache_dir("dualgap"), tempfile.gettempdir()]
    for base in candidates:
        folder = Path(base) / f"kernels-{source_hash()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="dualgap-kernels-"))


def _cache_in(folder: Path, function: Callable[..., Any], kind: type) -> Any:
    # Numba reads its cache folder from the configuration at this moment only.
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = os.fspath(folder)
    try:
        cache = kind(function)
    finally:
        numba.config.CACHE_DIR = before
    # Numba numbers its files, so that two processes can write different kernels into one file, and
    # the index then names the wrong one for good. With unique names, the loser compiles again.
    cache._cache_file._data_name = lambda number: f"{function.__name__}-{uuid.uuid4().hex}.nbc"
    return cache


class _KernelCache(caching.FunctionCache):
    """Numba's cache, with a folder of its own for each set of classes from outside the package.

    An index names the classes of its signatures, and can only be read where they can be imported.
    """

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        home: Any = None
        try:  # whatever is wrong with a cache costs a compilation, not a fit
            home = self._home(sig)
            return home and caching.FunctionCache._load_overload(home, sig, target_context)
        except Exception:
            if home is not None:
                home.flush()
            return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(Exception):
            home = self._home(sig)
            if home is not None:
                caching.FunctionCache._save_overload(home, sig, data)

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether there is a kernel for these types of arguments; reads the index only."""
        home = self._home(sig)
        if home is None:
            return False
        key = home._index_key(sig, target_context.codegen())
        try:
            return key in home._cache_file._load_index()
        except Exception:  # unreadable: the cache is replaced when the kernel is compiled
            return False

    def _home(self, sig: Any) -> caching.FunctionCache | None:
        outside = set(_outside_classes(sig))
        if not outside:
            return self
        stamps = [fingerprint(cls) if _importable(cls) else None for cls in outside]
        known = sorted(stamp for stamp in stamps if stamp)
        if len(known) < len(stamps):
            return None
        folder = cache_folder() / "-".join(known)
        return _cache_in(folder, self._py_func, caching.FunctionCache)


def _outside_classes(sig: Any) -> Iterator[type]:
    """The NamedTuple classes in a signature that the hash of our sources does not cover."""
    for item in sig:
        if isinstance(item, types.BaseNamedTuple):
            cls = item.instance_class
            if not is_source(cls.__module__):
                yield cls
            yield from _outside_classes(item.types)


def _importable(cls: type) -> bool:
    # A class of a script or of a function body is another object in the next process.
    return cls.__module__ != "__main__" and "<locals>" not in cls.__qualname__
