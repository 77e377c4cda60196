"""How arguments are written in Python, so that a run can be repeated by what is printed of it."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np

UNKNOWN = "..."  # stands for what takes more than a line
_SHORT = 8  # entries of an array that is written out


def spelled(value: Any) -> str:
    """An expression that makes ``value`` again (``import dualgap as dg``); "..." if none does."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # Python reads it as well
    if isinstance(value, (bool, int, float, type(None))):
        return repr(value)
    if isinstance(value, np.ndarray):
        return spelled(value.tolist()) if value.ndim == 1 and len(value) <= _SHORT else UNKNOWN
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    fields = _fields(value)
    if fields is None:
        return UNKNOWN
    return f"{_name(type(value))}({', '.join(f'{k}={spelled(v)}' for k, v in fields.items())})"


def _fields(value: Any) -> dict[str, Any] | None:
    """The arguments of a loss, penalty, step or sampling that are not the defaults."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        listed = {
            field.name: (getattr(value, field.name), field.default)
            for field in dataclasses.fields(value)
            if field.init
        }
    elif hasattr(value, "_asdict"):
        defaults = value._field_defaults
        listed = {
            name: (part, defaults.get(name, dataclasses.MISSING))
            for name, part in value._asdict().items()
        }
    else:
        return None
    return {name: part for name, (part, usual) in listed.items() if not _same(part, usual)}


def _same(part: Any, usual: Any) -> bool:
    return type(part) is type(usual) and not isinstance(part, np.ndarray) and bool(part == usual)


def _name(kind: type) -> str:
    package, _, inside = kind.__module__.partition(".")
    return f"dg.{inside.split('.')[0]}.{kind.__name__}" if package == "dualgap" else kind.__name__
