"""Losses, penalties, steps and samplings as a name with parameters, and the texts made of these.

``identity_text``  what a checkpoint compares: every parameter, arrays by their digests
``as_python``      an expression that makes the object again
``short_name``     for people: the parameters that differ from the defaults, without arrays
``as_tree``        what a model file keeps: a name of a registry and plain values; ``from_tree``
                   reads it back
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dualgap.files.digest import digest

UNKNOWN = "..."  # stands for what as_python cannot write on a line
_MAX_WRITTEN = 8  # entries of an array that as_python writes out
_FAMILIES = "losses", "penalties", "samplings", "steps"
# A class of dualgap by its module, as dualgap 0.1 named it: steps.coordinate.Coordinate(
_FULL_PATH = re.compile(rf"(?<![\w.])({'|'.join(_FAMILIES)})(?:\.\w+)*\.(\w+)\(")


class Description(NamedTuple):
    """The class of an object and its parameters, in the order of the constructor.

    ``family`` is "losses", "penalties", "samplings" or "steps"; for a user's class its module.
    """

    family: str
    name: str
    parameters: dict[str, Any]
    defaults: Mapping[str, Any]
    later: frozenset[str] = frozenset()  # parameters that the class did not have at first

    @classmethod
    def of(cls, thing: Any) -> Description | None:
        """The description of a dataclass or NamedTuple; None for anything else."""
        if isinstance(thing, type):
            return None
        if dataclasses.is_dataclass(thing):
            fields = [f for f in dataclasses.fields(thing) if f.init and f.compare]
            parameters = {f.name: getattr(thing, f.name) for f in fields}
            defaults: Mapping[str, Any] = {f.name: f.default for f in fields}
            later = frozenset(f.name for f in fields if f.metadata.get("later"))
        elif hasattr(thing, "_asdict"):
            parameters, defaults = thing._asdict(), thing._field_defaults
            later = frozenset()
        else:
            return None
        return cls(_family(type(thing)), type(thing).__qualname__, parameters, defaults, later)

    @property
    def changed(self) -> dict[str, Any]:
        """The parameters that are not known to equal their defaults."""
        return {
            name: value
            for name, value in self.parameters.items()
            if not _equal(value, self.defaults.get(name, dataclasses.MISSING))
        }


def _family(kind: Any) -> str:
    """The public module of a class of dualgap, which stays when files move."""
    package, _, inside = str(kind.__module__).partition(".")
    return inside.split(".")[0] if package == "dualgap" else str(kind.__module__)


def _equal(value: Any, default: Any) -> bool:
    if type(value) is not type(default) or isinstance(value, np.ndarray):
        return False
    return bool(value == default)


# --- for checkpoints ------------------------------------------------------------------------------


def identity_text(thing: Any) -> str:
    """Family, class and parameters. A user's function is known by its name only.

    A parameter that came ``later`` is left out if it has its default: files of earlier versions
    do not know it.
    """
    if isinstance(thing, np.ndarray):
        return digest(thing)
    if isinstance(thing, (bool, int, float, str, type(None), np.generic)):
        return repr(thing.item() if isinstance(thing, np.generic) else thing)
    found = Description.of(thing)
    if found is not None:
        family, name = found.family, found.name
        changed = found.changed
        parameters = {
            key: value
            for key, value in found.parameters.items()
            if key not in found.later or key in changed
        }
    else:
        kind = thing if callable(thing) and hasattr(thing, "__qualname__") else type(thing)
        family, name, parameters = _family(kind), kind.__qualname__, {}
        if isinstance(thing, (tuple, list)):
            parameters = {str(k): part for k, part in enumerate(thing)}
    inside = ", ".join(f"{key}={identity_text(value)}" for key, value in parameters.items())
    return f"{family}.{name}({inside})"


def normalised(identity: str) -> str:
    """An identity text of any version with the names that ``identity_text`` gives today."""
    return _FULL_PATH.sub(r"\1.\2(", identity)


# --- for people -----------------------------------------------------------------------------------


def as_python(value: Any) -> str:
    """An expression that makes ``value`` again (``import dualgap as dg``); "..." if none does."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # JSON's strings are Python's as well
    if isinstance(value, (bool, int, float, type(None))):
        return repr(value)
    if isinstance(value, np.ndarray):
        fits = value.ndim == 1 and len(value) <= _MAX_WRITTEN
        return as_python(value.tolist()) if fits else UNKNOWN
    if isinstance(value, list):
        return f"[{', '.join(map(as_python, value))}]"
    found = Description.of(value)
    if found is None:
        return UNKNOWN
    inside = ", ".join(f"{name}={as_python(part)}" for name, part in found.changed.items())
    package = f"dg.{found.family}." if type(value).__module__.startswith("dualgap.") else ""
    return f"{package}{found.name}({inside})"


def by_name(thing: Any, registry: Mapping[str, Any]) -> str:
    """A Python expression: the registered name if every parameter has its default."""
    found = Description.of(thing)
    if found is not None and not found.changed:
        for name, kind in registry.items():
            if type(thing) is kind:
                return as_python(name)
    return as_python(thing)


def short_name(thing: Any) -> str:
    """The class and the parameters that differ from the defaults, without arrays."""
    found = Description.of(thing)
    if found is None:
        return type(thing).__name__
    parts = [
        f"{name}={short_name(part) if isinstance(part, tuple) else part}"
        for name, part in found.changed.items()
        if isinstance(part, tuple) or np.ndim(part) == 0
    ]
    return f"{found.name}({', '.join(parts)})" if parts else found.name


# --- for model files ------------------------------------------------------------------------------


def as_tree(thing: Any, registry: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The registered name of a loss or penalty with its parameters."""
    found = Description.of(thing)
    names = [name for name, kind in registry.items() if type(thing) is kind]
    if found is None or not names:
        raise ValueError(
            f"the {what} {thing!r} is not one of dualgap's: a reader of the file would not have it"
        )
    parameters = {
        key: as_tree(value, registry, what) if isinstance(value, tuple) else value
        for key, value in found.parameters.items()
    }
    return {"name": names[0], **parameters}


def from_tree(
    tree: Mapping[str, Any], registry: Mapping[str, Any], number: Callable[[Any], Any]
) -> Any:
    """The object; ``number`` turns a parameter of the file into a number or an array."""
    parts = dict(tree)
    kind = registry[parts.pop("name")]
    return kind(
        **{
            key: from_tree(value, registry, number) if isinstance(value, Mapping) else number(value)
            for key, value in parts.items()
        }
    )
