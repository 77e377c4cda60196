"""Methods as people write them on a line: ``spdc``, ``adasdca+(m=50)``, ``quartz(option=II)``."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from dualgap.linalg.validate import unknown
from dualgap.methods.registry import METHODS, Method
from dualgap.samplings.words import parts


def method_of(words: str) -> Method:
    """The method; parameters are those of its step and of its sampling."""
    name, values, named = parts(words)
    if name not in METHODS or (name == "auto" and named):
        raise ValueError(unknown("method", name, ["auto", *METHODS]))
    method = METHODS[name]
    if values:
        raise ValueError(f"{words!r}: name the parameters, {_known(method)}")
    for key, value in named.items():
        both: tuple[Any, Any] = (method.sampling, method.step)
        where = [part for part in both if key in _parameters(part)]
        if not where:
            raise ValueError(f"{words!r}: {name} has no parameter {key!r}, {_known(method)}")
        new = replace(where[0], **{key: value})
        changed: dict[str, Any] = {"sampling" if where[0] is method.sampling else "step": new}
        method = replace(method, **changed)
    return method


def _parameters(part: Any) -> list[str]:
    return [field.name for field in fields(part) if field.init and field.compare]


def _known(method: Method) -> str:
    """The parameters, for a message."""
    found = [*_parameters(method.sampling), *_parameters(method.step)]
    return f"as in name({found[0]}=...); it has {', '.join(found)}" if found else "it has none"
