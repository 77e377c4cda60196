"""All that knows Numba, with ``intrinsics.py``: options, dispatch, and the cache on disk.

Numba's cache checks only the file of the kernel itself; our folders are named after the sources of
this package and the code of the user's classes in the signature, so an edited rule never meets a
stale kernel.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numba
import platformdirs
from numba.core import caching, types
from numba.core.dispatcher import Dispatcher
from numba.extending import overload

from dualgap.compile.fingerprint import fingerprint
from dualgap.compile.sources import is_source, source_hash

# Compiled functions need no wrapper for C, since their addresses are not used; those that only
# kernels call need none for Python either. Each wrapper takes time to compile.
_LEAN: Any = {"nogil": True, "no_cfunc_wrapper": True}
_CALLED: Any = {**_LEAN, "no_cpython_wrapper": True}
# Sums may be reordered (SIMD) and multiply-adds fused; infinities and NaN keep their meaning.
_LOOP: Any = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
# Inlined always: otherwise LLVM may call a rule and pass every field of every array each time.
RULE: Any = {"forceinline": True, "no_cfunc_wrapper": True}
_OPTIONS: dict[str, Any] = {
    "kernel": {**_LEAN, **_LOOP},
    "ordered_kernel": {**_LEAN, **_LOOP, "fastmath": {"contract", "nsz"}},
    "inner": {**_CALLED, **_LOOP, "forceinline": False},
    "ordered_inner": {**_CALLED, **_LOOP, "fastmath": {"contract", "nsz"}, "forceinline": False},
    "helper": {**_CALLED, "forceinline": True},
    "careful": {**_CALLED, "fastmath": False, "error_model": "numpy"},
    "ordered": {
        **_CALLED, "fastmath": {"contract"}, "error_model": "numpy", "forceinline": True,
    },
}  # fmt: skip


def dispatch(call: Any, name: str, default: Callable[..., Any] | None) -> None:
    """Have kernels that call ``call`` run the method ``name`` of its first argument."""

    @overload(call, strict=False, jit_options=RULE)
    def choose(obj: Any, *args: Any) -> Any:
        return getattr(getattr(obj, "instance_class", None), name, default)


def callable_by_kernels(function: Any, kind: str) -> None:
    """Have kernels that call the function find its compiled form; for Python it stays plain."""
    compiled = numba.njit(**_OPTIONS[kind])(function)
    if isinstance(compiled, Dispatcher):
        function.compiled = compiled  # its type does not keep it alive
        function._numba_type_ = compiled._numba_type_


def cached(function: Any, kind: str) -> Any:
    """The compiled form of a kernel, with its cache; the function itself if Numba is off."""
    compiled = numba.njit(**_OPTIONS[kind])(function)
    if isinstance(compiled, Dispatcher):
        compiled._cache = _cache_in(cache_folder(), function, _KernelCache)
        cast(Any, compiled).compile = _without_collections(compiled.compile)
    return compiled


def _without_collections(compile_or_load: Callable[..., Any]) -> Callable[..., Any]:
    """The compiler makes millions of objects, most of which live until it ends: Python would look
    for garbage among them for an eighth of the time."""

    @functools.wraps(compile_or_load)
    def run(sig: Any) -> Any:
        collects = gc.isenabled()
        gc.disable()
        try:
            return compile_or_load(sig)
        finally:
            if collects:
                gc.enable()

    return run


def signature(compiled: Any, args: Any) -> tuple[Any, ...]:
    return tuple(compiled.typeof_pyval(arg) for arg in args)


def is_cached(compiled: Any, args: Any) -> bool:
    """Whether there is no need to compile for these arguments."""
    if not os.path.exists(compiled._cache._cache_file._index_path):
        return False  # before Numba sets itself up, which takes a while
    return bool(compiled._cache.holds(signature(compiled, args), compiled.targetctx))


def is_ours(sig: Any) -> bool:
    """Whether all classes in a signature are made from our sources."""
    return not any(True for _ in _outside_classes(sig))


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
