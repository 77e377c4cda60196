"""Tables: which columns are features, the target and weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dualgap.datasets.errors import ColumnError
from dualgap.linalg.validate import unknown

_SHOWN, _LONGEST = 10, 40  # names of columns in an error, and letters of a name


class Wanted(NamedTuple):
    """Which columns mean what, by name, or by number from 1 where there are no names.

    ``features`` None: all that are left.
    """

    target: str | None = None
    weights: str | None = None
    drop: Sequence[str] = ()
    features: Sequence[str] | None = None
    target_needed: bool = True
    offset: str | None = None


class Roles(NamedTuple):
    """The same as places of columns."""

    names: list[str]
    features: list[int]
    target: int | None
    weights: int | None
    offset: int | None

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(self.names[k] for k in self.features)


class Columns(NamedTuple):
    """The columns of a table; y has numbers or words."""

    X: Any
    y: Any
    weights: Any
    offset: Any
    features: tuple[str, ...]


def short(names: Sequence[str]) -> list[str]:
    """Names for an error message, shortened: if a file is not a table, a name may be a line."""
    return [name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..." for name in names]


def roles(path: Path, names: list[str], wanted: Wanted) -> Roles:
    """Which column is the target, which the weights, which the offsets, which are features."""
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise ColumnError(f"{path} has two columns of the name {twice!r}")
    if wanted.target is None and wanted.target_needed:
        shown = ", ".join(short(names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
        raise ColumnError(f"say which column of {path} is the target: --target NAME, of {shown}")

    def place(name: str | None, needed: bool = True) -> int | None:
        if name is None or (name not in names and not needed):
            return None
        if name not in names:
            raise ColumnError(f"{path}: {unknown('the column', name, short(names), _SHOWN)}")
        return names.index(name)

    target = place(wanted.target, wanted.target_needed)
    weights, offset = place(wanted.weights), place(wanted.offset)
    others = {target, weights, offset, *(place(name) for name in wanted.drop)}
    features = (
        [k for k in range(len(names)) if k not in others]
        if wanted.features is None
        else [k for k in map(place, wanted.features) if k is not None]
    )
    if not features:
        raise ColumnError(f"{path} has no column that is left for features")
    return Roles(names, features, target, weights, offset)
