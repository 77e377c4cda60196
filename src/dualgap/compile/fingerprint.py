"""A fingerprint of a user's class: of the code of its rules and of all that they refer to."""

from __future__ import annotations

import hashlib
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from dualgap.compile.sources import is_source

# What these hold is part of the Python that runs; our own sources have a hash of their own.
_KNOWN = ("math", "numpy", "builtins")
_CONSTANT = (int, float, str, bool, type(None))


def fingerprint(cls: type) -> str | None:
    """A digest that changes with the rules of a class; None if that cannot be told."""
    parts: list[str] = []
    if not _add_class(cls, parts, set()):
        return None
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _add_class(cls: type, parts: list[str], seen: set[int]) -> bool:
    parts.append(f"{cls.__module__}.{cls.__qualname__}")
    # Not what NamedTuple itself adds, which belongs to other modules.
    functions = [
        member
        for base in cls.__mro__
        if base not in (tuple, object)
        for member in vars(base).values()
        if isinstance(member, FunctionType) and member.__module__ == base.__module__
    ]
    return all([_add_function(function, parts, seen) for function in functions])


def _add_function(function: FunctionType, parts: list[str], seen: set[int]) -> bool:
    if id(function) in seen:
        return True
    seen.add(id(function))
    if function.__closure__ is not None:
        return False
    return _add_code(function.__code__, function.__globals__, parts, seen)


def _add_code(code: CodeType, namespace: dict[str, Any], parts: list[str], seen: set[int]) -> bool:
    parts.append(code.co_code.hex())
    told = True
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            told &= _add_code(constant, namespace, parts, seen)
        else:
            parts.append(repr(constant))
    for name in code.co_names:
        parts.append(name)
        if name in namespace:
            told &= _add_object(namespace[name], parts, seen)
    return told


def _add_object(obj: Any, parts: list[str], seen: set[int]) -> bool:
    obj = getattr(obj, "py_func", obj)  # a compiled helper
    origin = obj.__name__ if isinstance(obj, ModuleType) else getattr(obj, "__module__", "") or ""
    if origin.split(".")[0] in _KNOWN or is_source(origin) or isinstance(obj, BuiltinFunctionType):
        return True
    if isinstance(obj, _CONSTANT):
        parts.append(repr(obj))
        return True
    if isinstance(obj, FunctionType):
        return _add_function(obj, parts, seen)
    return isinstance(obj, type) and _add_class(obj, parts, seen)
