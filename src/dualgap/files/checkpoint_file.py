"""The state of a run as a file: an archive of arrays with a JSON header. Reading executes nothing.

A state consists of dicts with names as keys, tuples, arrays, numbers, text and None. Numbers come
back bit for bit. The header is written last and lists all arrays with their checksums, so a torn,
truncated or damaged file is recognised before anything in it is used.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dualgap.files.archive import Archive, ArchiveWriter
from dualgap.files.errors import MALFORMED
from dualgap.files.limits import LIMITS

VERSION = 1
_MARK = "dualgap-checkpoint"  # the first member, by which even a damaged file is recognised
_HEADER = "header.json"
_ZIP_BEGIN = b"PK\x03\x04"
_NAME_AT = 30  # where a ZIP file has the name of its first member


class DamagedError(ValueError):
    """A checkpoint cannot be read; the message says why."""


class ForeignError(ValueError):
    """A file is not a checkpoint, or one of a newer version."""


def write(file: BinaryIO, state: dict[str, Any]) -> None:
    """Write a state to an open file."""
    arrays: dict[str, Any] = {}
    tree = _encoded(state, "state", arrays)
    with ArchiveWriter(file) as archive:
        archive.text(_MARK, f"{VERSION}\n")
        for name, array in arrays.items():
            archive.array(name, array)
        header = {"version": VERSION, "members": archive.members, "state": tree}
        archive.text(_HEADER, json.dumps(header))


def read(path: Path) -> dict[str, Any]:
    """Read a state; raises ``DamagedError`` or ``ForeignError``."""
    _refuse_foreign(path)
    try:
        with Archive(path, stored=True) as archive:
            header = json.loads(archive.read(_HEADER, LIMITS.checkpoint_header))
            if header["version"] > VERSION:
                raise ForeignError(
                    f"{path} was written by a newer dualgap (format {header['version']}, this one "
                    f"knows up to {VERSION}): upgrade dualgap, or give another checkpoint"
                )
            unread = _listed(archive, header["members"])
            decoded = _decoded(header["state"], archive, unread)
            for name in unread:  # members that the state does not mention must be intact as well
                archive.read(name, archive.size)
    except ForeignError:
        raise
    except MALFORMED as error:
        raise DamagedError(str(error) or type(error).__name__) from error
    if not isinstance(decoded, dict):
        raise DamagedError("it holds no state")
    return decoded


def _refuse_foreign(path: Path) -> None:
    """Refuse a file that does not begin like a checkpoint: it must not be overwritten either."""
    with open(path, "rb") as file:
        begin = file.read(_NAME_AT + len(_MARK))
    is_zip = begin[: len(_ZIP_BEGIN)] == _ZIP_BEGIN[: len(begin)]
    name = begin[_NAME_AT:]
    if not (is_zip and name == _MARK.encode()[: len(name)]):
        raise ForeignError(
            f"{path} is not a checkpoint of dualgap: give another path, or remove that file"
        )


def _listed(archive: Archive, sums: dict[str, list[int]]) -> set[str]:
    """The names of the members, if they are the ones that the header lists."""
    found = {name: archive.stated(name) for name in archive.names if name != _HEADER}
    if found != sums:
        raise ValueError("its members are not those that its header lists")
    return set(found)


def _encoded(value: Any, name: str, arrays: dict[str, Any]) -> Any:
    """A value for JSON; arrays are added to ``arrays`` and replaced by their names."""
    if isinstance(value, np.ndarray):
        arrays[f"{name}.npy"] = value
        return {"array": f"{name}.npy"}
    if isinstance(value, dict):
        return {
            "dict": {key: _encoded(part, f"{name}.{key}", arrays) for key, part in value.items()}
        }
    if isinstance(value, (tuple, list)):
        return {"tuple": [_encoded(part, f"{name}.{k}", arrays) for k, part in enumerate(value)]}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{name} is {type(value).__name__}, which a checkpoint cannot hold")


def _decoded(value: Any, archive: Archive, unread: set[str]) -> Any:
    """The value of JSON; its arrays are removed from ``unread``."""
    if not isinstance(value, dict):
        return value
    (kind, inside), *_ = value.items()
    if kind == "array":
        unread.remove(inside)
        return archive.array(inside)
    if kind == "dict":
        return {key: _decoded(part, archive, unread) for key, part in inside.items()}
    if kind == "tuple":
        return tuple(_decoded(part, archive, unread) for part in inside)
    raise ValueError(f"a state cannot hold {kind!r}")
