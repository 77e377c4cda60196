"""What a checkpoint belongs to: the problem, the method and the chance that it was made with.

Data are known by a digest of their bytes; losses, penalties, steps and samplings by the name of
their class and their parameters. What a user's own function does cannot be compared, only its name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.methods import Method
from dualgap.problem import Problem

_PIECE = 1 << 24  # bytes that are read at a time, so that memory maps stay on disk
ANY = "any"  # of a generator that nobody asked for


def identity(problem: Problem, method: Method, random_state: Any) -> dict[str, str]:
    """What must be the same if a run is to go on, by name and in a few words."""
    return {
        "X": digest_of_data(problem.X),
        "y": digest(problem.y),
        "sample_weight": digest(problem.c),
        "loss": described(problem.loss),
        "penalty": described(problem.penalty),
        "lam": repr(problem.lam),
        "intercept": f"{problem.intercept!r} ({problem.constant!r})",
        "the method": described(method.step),
        "the sampling": described(method.sampling),
        "random_state": _chance(random_state),
    }


def differences(stored: dict[str, str], own: dict[str, str]) -> str:
    """What is not the same, in words; empty if all is."""
    words = []
    for name, value in own.items():
        found = stored.get(name, "missing")
        if found == value or (name == "random_state" and ANY in (found, value)):
            continue
        short = max(len(found), len(value)) <= 150 and not _is_digest(value)
        words.append(f"{name} was {found} and is {value}" if short else f"{name} was different")
    return "; ".join(words)


def described(thing: Any) -> str:
    """The class and the parameters of a loss, penalty, step or sampling."""
    if isinstance(thing, np.ndarray):
        return digest(thing)
    if isinstance(thing, (bool, int, float, str, type(None), np.generic)):
        return repr(thing.item() if isinstance(thing, np.generic) else thing)
    kind = thing if callable(thing) and hasattr(thing, "__qualname__") else type(thing)
    name = f"{kind.__module__}.{kind.__qualname__}".replace("dualgap.", "")
    fields: dict[str, Any] = {}
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = {f.name: getattr(thing, f.name) for f in dataclasses.fields(thing) if f.compare}
    elif hasattr(thing, "_asdict"):
        fields = thing._asdict()
    elif isinstance(thing, (tuple, list)):
        fields = {str(k): part for k, part in enumerate(thing)}
    return f"{name}({', '.join(f'{key}={described(fields[key])}' for key in fields)})"


def digest(*arrays: Any) -> str:
    """Of the types, shapes and bytes of arrays that lie in one piece."""
    found = hashlib.blake2b(digest_size=16)
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        flat = array.reshape(-1, order="A")
        step = max(1, _PIECE // max(array.itemsize, 1))
        for first in range(0, len(flat), step):
            found.update(np.ascontiguousarray(flat[first : first + step]).data)
    return f"#{found.hexdigest()}"


def digest_of_data(X: Any) -> str:
    """Of X as it is stored."""
    if storage.is_sparse(X):
        used = int(X.indptr[-1])
        return f"{X.format} {digest(X.data[:used], X.indices[:used], X.indptr)}"
    if X.flags.c_contiguous or X.flags.f_contiguous:
        return f"{'C' if X.flags.c_contiguous else 'F'} {digest(X)}"
    return f"rows {digest(*X)}"


def _is_digest(value: str) -> bool:
    return "#" in value


def _chance(random_state: Any) -> str:
    """Of the generator as it is before the run draws from it."""
    if random_state is None:
        return ANY
    state = np.random.default_rng(random_state).bit_generator.state
    return digest(np.frombuffer(json.dumps(plain(state), sort_keys=True).encode(), np.uint8))


def plain(state: Any) -> Any:
    """The state of a generator in lists, numbers and words."""
    if isinstance(state, dict):
        return {key: plain(value) for key, value in state.items()}
    if isinstance(state, np.ndarray):
        return state.tolist()
    return state.item() if isinstance(state, np.generic) else state
