"""A state as a file: an npz of plain arrays with a JSON header. Reading it executes nothing.

A state is made of dicts with names as keys, tuples, arrays, numbers, words and None. Numbers come
back bit for bit. The header, written last, lists all arrays with their checksums, so that a file
that was torn, truncated or damaged is told from a whole one before anything in it is used.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dualgap.files.archive import Archive

VERSION = 1
_MARK = "dualgap-checkpoint"  # the first member: how such a file begins, also if it is damaged
_HEADER = "header.json"
_NAME_AT = 30  # where a zip file has the name of its first member
_LONGEST = 2**24  # bytes of a header, which has a line for each array and number
# What a header raises that is not what it should be; archives have an error of their own.
_BROKEN = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


class DamagedError(ValueError):
    """A file that cannot be read, with the reason in words."""


class ForeignError(ValueError):
    """A file that is no checkpoint at all, or one of a newer version."""


def write(file: BinaryIO, state: dict[str, Any]) -> None:
    """Write a state to an open file."""
    arrays: dict[str, Any] = {}
    tree = _encoded(state, "state", arrays)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_MARK, f"{VERSION}\n")
        for name, array in arrays.items():
            with archive.open(name, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        sums = {info.filename: [info.file_size, info.CRC] for info in archive.infolist()}
        header = {"version": VERSION, "members": sums, "state": tree}
        archive.writestr(_HEADER, json.dumps(header))


def read(path: Path) -> dict[str, Any]:
    """The state in a file; raises ``DamagedError`` or ``ForeignError``."""
    _refuse_foreign(path)
    try:
        with Archive(path, stored=True) as archive:
            header = json.loads(archive.read(_HEADER, _LONGEST))
            if header["version"] > VERSION:
                raise ForeignError(
                    f"{path} was written by a newer dualgap (format {header['version']}, known are "
                    f"those up to {VERSION}): upgrade dualgap, or give another checkpoint"
                )
            left = _listed(archive, header["members"])
            decoded = _decoded(header["state"], archive, left)
            for name in left:  # what the state does not mention must be whole as well
                archive.read(name, archive.size)
    except ForeignError:
        raise
    except _BROKEN as error:
        raise DamagedError(str(error) or type(error).__name__) from error
    if not isinstance(decoded, dict):
        raise DamagedError("it holds no state")
    return decoded


def _refuse_foreign(path: Path) -> None:
    """A file that does not begin like a checkpoint must be neither believed nor overwritten."""
    with open(path, "rb") as file:
        begin = file.read(_NAME_AT + len(_MARK))
    expected = b"PK\x03\x04"
    same = begin[: len(expected)] == expected[: len(begin)]
    name = begin[_NAME_AT:]
    if not (same and name == _MARK.encode()[: len(name)]):
        raise ForeignError(
            f"{path} is not a checkpoint of dualgap: give another path, or remove that file"
        )


def _listed(archive: Archive, sums: dict[str, list[int]]) -> set[str]:
    """The members, if they are those that the header lists."""
    found = {name: list(archive.stated(name)) for name in archive.names if name != _HEADER}
    if found != sums:
        raise ValueError("its parts are not those that its header lists")
    return set(found)


def _encoded(value: Any, name: str, arrays: dict[str, Any]) -> Any:
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


def _decoded(value: Any, archive: Archive, left: set[str]) -> Any:
    """A value, whose arrays are no longer ``left``; reading one checks its checksum."""
    if not isinstance(value, dict):
        return value
    (kind, inside), *_ = value.items()
    if kind == "array":
        left.remove(inside)
        return archive.array(inside)
    if kind == "dict":
        return {key: _decoded(part, archive, left) for key, part in inside.items()}
    if kind == "tuple":
        return tuple(_decoded(part, archive, left) for part in inside)
    raise ValueError(f"{kind!r} is no part of a state")


def sync(folder: Path) -> None:
    """Make renames in a folder outlast a power cut, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
