"""Kernels compiled by a process in the background, while small fits run as plain Python.

A fit that misses kernels in the cache orders them: for each kernel and the types of its arguments
it puts a file into the folder ``orders`` of the cache, and starts a process of the lowest priority
that compiles what is ordered into the cache, and ends. A lock sees to it that there is one such
process at a time on a machine. It belongs to nobody: it goes on when its parent ends, for some
seconds, and never for longer than ten minutes. An order that was begun is not begun again, so what
cannot be compiled is tried once.

Nothing is started by a worker of joblib, multiprocessing or MPI, in tests, by continuous
integration, where the cache cannot be written, or with ``DUALGAP_COMPILE=foreground``.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Tuning(NamedTuple):
    """How long the process in the background may take."""

    longest: float = 600.0  # seconds; the kernels of a fit take 5 to 10
    for_lock: float = 2.0  # seconds in which another process may be looking whether it is held


TUNING = Tuning()

_CODE = "from dualgap.compile.background import work; work()"
# Set in tests, by services that run them, and by launchers of many processes.
_UNWELCOME = ("CI", "PYTEST_VERSION", "PYTEST_CURRENT_TEST", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
              "PMIX_RANK", "SLURM_PROCID")  # fmt: skip
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

_started: list[Any] = []  # the process that this one started last


# --- for those who order --------------------------------------------------------------------------


def compiles(kernel: Any, args: Any) -> bool:
    """Order a kernel for such arguments; False if nobody in the background will compile it."""
    if not _is_welcome():
        return False
    try:
        order = _order(kernel, args)
        return order is not None and _place(order, _folder())
    except (OSError, pickle.PicklingError, subprocess.SubprocessError):
        return False


def _is_welcome() -> bool:
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return (
        os.environ.get("DUALGAP_COMPILE") not in ("always", "foreground")
        and not any(os.environ.get(name) for name in _UNWELCOME)
        and not getattr(main, "name", "").startswith("unittest")
        and multiprocessing.parent_process() is None
        and "python" in os.path.basename(sys.executable or "").lower()
    )


def _folder() -> Path:
    """Where orders lie."""
    from dualgap.compile.kernels import machine

    folder: Path = machine().cache_folder() / "orders"
    folder.mkdir(exist_ok=True)
    return folder


def _order(kernel: Any, args: Any) -> bytes | None:
    """The kernel and the types of its arguments; None if another process cannot find them."""
    from dualgap.compile.kernels import machine

    function, sig = kernel.py_func, machine().signature(kernel.compiled, args)
    known = getattr(sys.modules.get(function.__module__), function.__name__, None) is kernel
    if not known or not function.__module__.startswith("dualgap.") or not machine().is_ours(sig):
        return None
    return pickle.dumps((function.__module__, function.__name__, sig))


def _place(order: bytes, folder: Path) -> bool:
    path = folder / f"{hashlib.sha256(order).hexdigest()[:24]}.order"
    if _begun(path).exists():
        return _is_at_work(folder)  # or it could not be compiled
    if not path.exists():
        partial = folder / f"{uuid.uuid4().hex}.partial"
        partial.write_bytes(order)
        partial.replace(path)
    return _is_at_work(folder) or _start(folder)


def _begun(order: Path) -> Path:
    return order.with_suffix(".begun")


def _is_at_work(folder: Path) -> bool:
    if _started and _started[0].poll() is None:
        return True
    with _lock(folder) as mine:
        return not mine


def _start(folder: Path) -> bool:
    """Start the process; False if the last one failed."""
    if _started and _started[0].poll() != 0:
        return False
    package = Path(__file__).parents[2]
    places = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        **dict.fromkeys(_ONE_THREAD, "1"),
        "DUALGAP_COMPILE": "always",
        "NUMBA_CACHE_DIR": str(folder.parents[1]),
        "PYTHONPATH": os.pathsep.join(places),
    }
    options: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    if sys.platform == "win32":
        options["creationflags"] = (
            subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS
        )
    else:
        options["start_new_session"] = True  # Ctrl-C and a closed terminal are not for it
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _CODE, str(folder)],
        cwd=folder, env=environment, **options,
    )  # fmt: skip
    # Somebody has to wait for it, or it stays in the table of processes after its end.
    _started[:] = [process]
    threading.Thread(target=process.wait, daemon=True, name="dualgap-background").start()
    return True


# --- in the background ----------------------------------------------------------------------------


def work() -> None:
    """Compile what is ordered in the folder that the command line names."""
    folder = Path(sys.argv[1])
    if folder != _folder():
        return  # those are orders for other sources
    if hasattr(os, "nice"):
        os.nice(5)
    alarm = threading.Timer(TUNING.longest, os._exit, [1])
    alarm.daemon = True
    alarm.start()
    with _lock(folder, TUNING.for_lock) as mine:
        while mine and (order := _next(folder)):
            _begun(order).touch()
            with contextlib.suppress(Exception):  # who needs the kernel sees the error
                _compile(*pickle.loads(order.read_bytes()))
            order.unlink()


def _next(folder: Path) -> Path | None:
    orders = [path for path in folder.glob("*.order") if not _begun(path).exists()]
    return min(orders, key=lambda path: path.stat().st_mtime_ns, default=None)


def _compile(module: str, name: str, sig: Any) -> None:
    getattr(importlib.import_module(module), name).compiled.compile(sig)


# --- both -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def _lock(folder: Path, patience: float = 0.0) -> Iterator[bool]:
    """Whether this process has the lock of the folder; it ends with the block or the process."""
    until = time.monotonic() + patience
    with open(folder / "lock", "a+b") as file:
        while not (mine := _take(file)) and time.monotonic() < until:
            time.sleep(0.05)
        yield mine


def _take(file: Any) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
