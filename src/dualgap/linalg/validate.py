"""Checks of what a user passes; each message names the argument and says what would do."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

# Beyond these sizes squares overflow or vanish in float64.
LARGEST, SMALLEST = 1e150, 1e-150


class NotFiniteError(ValueError):
    """X has entries that are NaN or infinite."""


def finite_vector(value: Any, name: str, length: int) -> Floats:
    """A contiguous float64 vector of a given length without NaN or infinity."""
    vector = real_array(value, name)
    if vector.ndim == 0:
        raise ValueError(f"{name} must be a vector of numbers, not {value!r}")
    if vector.ndim != 1:
        raise ValueError(
            f"{name} must have one dimension, not shape {vector.shape}: use {name}.ravel()"
        )
    if len(vector) != length:
        raise ValueError(f"{name} has {len(vector)} entries where {length} are needed")
    vector = np.ascontiguousarray(vector, dtype=np.float64)
    if not np.isfinite(vector).all():
        where = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise ValueError(f"{name}[{where}] is {vector[where]}: remove or fill in such entries")
    return vector


def finite_matrix(value: Any, name: str, shape: tuple[int, int]) -> Floats:
    """A contiguous float64 matrix of a given shape without NaN or infinity."""
    matrix = real_array(value, name)
    if matrix.shape != shape:
        hint = f": use {name}.T" if matrix.shape == shape[::-1] else ""
        raise ValueError(f"{name} must have shape {shape}, not {matrix.shape}{hint}")
    return finite_vector(matrix.ravel(), name, matrix.size).reshape(shape)


def real_array(value: Any, name: str) -> np.ndarray[Any, Any]:
    """An array of real numbers, of any real dtype."""
    refuse_lazy(value, name)
    if isinstance(value, np.ma.MaskedArray) and np.any(value.mask):
        raise ValueError(f"{name} has masked entries: remove or fill them in")
    if hasattr(value, "toarray"):
        raise ValueError(f"{name} must be dense: use {name}.toarray().ravel()")
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":
            if any(isinstance(item, str) for item in array.flat):
                raise ValueError("it holds strings")
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, not {array.dtype}")
    return array


def refuse_lazy(value: Any, name: str) -> None:
    """Refuse a collection of Dask, which NumPy would read into the memory of this process."""
    if hasattr(value, "__dask_graph__"):
        raise ValueError(
            f"{name} is a collection of Dask, and this would read all of it into memory: the "
            "estimators and functions of dualgap.distributed leave it where it is, and "
            f"{name}.compute() is for data that fit into memory"
        )


def number(
    value: Any, name: str, low: float, high: float = np.inf, *, open_low: bool = False
) -> float:
    """A float in an interval; ``open_low`` leaves its lower end out."""
    if isinstance(value, (str, bool, np.bool_)):
        raise ValueError(f"{name} must be a number, not {value!r}")
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, not {value!r}") from None
    if not (low < result <= high or (result == low and not open_low)):
        sign = ">" if open_low else ">="
        upper = "" if high == np.inf else f" and <= {high:g}"
        raise ValueError(f"{name} must be {sign} {low:g}{upper}, not {result}")
    return result


def whole(value: Any, name: str, low: int) -> int:
    """An integer of at least ``low``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    if value < low:
        raise ValueError(f"{name} must be at least {low}, not {value}")
    return int(value)


def positive(value: Any, name: str) -> float:
    """A number > 0 whose square neither overflows nor vanishes."""
    result = number(value, name, -np.inf)
    if not SMALLEST <= result <= LARGEST:
        raise ValueError(f"{name} must be positive, from {SMALLEST:g} to {LARGEST:g}, not {result}")
    return result


def intercept_of(intercept: Any) -> bool | str:
    """True, False or "penalised"."""
    if isinstance(intercept, (bool, np.bool_)):
        return bool(intercept)
    if isinstance(intercept, str) and intercept == "penalised":
        return intercept
    raise ValueError(f'intercept must be True, False or "penalised", not {intercept!r}')


def with_rules(
    obj: Any, what: str, registry: Mapping[str, Any], rules: Sequence[str], example: str
) -> Any:
    """A loss or penalty, or the one that a name stands for, that answers all rules."""
    obj = named(obj, registry, what)
    if isinstance(obj, type):
        raise ValueError(f"{what} must be an object, not a class: write {obj.__name__}()")
    kind: Any = type(obj)
    missing = _lacks(kind, tuple(rules))
    if missing or not isinstance(obj, tuple):
        raise ValueError(
            f"{what} must be a {what} object such as {example}, not {obj!r}"
            + (f" (it lacks {', '.join(missing)})" if missing else "")
        )
    return obj


@lru_cache(maxsize=1000)
def _lacks(kind: type, rules: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(rule for rule in rules if not hasattr(kind, rule))


def unknown(what: str, name: str, known: Iterable[str], most: int = 50) -> str:
    """Words for a name that is not known, with the one that may have been meant.

    At most ``most`` of those that are known are listed.
    """
    known = list(known)
    close = difflib.get_close_matches(name.lower(), known, 1)
    meant = f" (did you mean {close[0]!r}?)" if close else ""
    listed = ", ".join(known[:most]) + (", ..." if len(known) > most else "")
    return f"{what} {name!r} is unknown{meant}; known are {listed}"


def named(obj: Any, registry: Mapping[str, Callable[[], Any]], what: str) -> Any:
    """An object, or the one that its name stands for."""
    if not isinstance(obj, str):
        return obj
    if obj not in registry:
        raise ValueError(unknown(what, obj, registry))
    return registry[obj]()
