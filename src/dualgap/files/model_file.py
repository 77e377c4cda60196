"""A model as a file: plain JSON, or NPZ for large ones. Reading it executes nothing.

JSON holds everything, numbers to the last bit; NPZ holds the same with arrays apart, which its
header lists with dtype, shape and checksum. Both have the version of the format and a checksum, so
that a file that was changed or damaged is told from a good one: its proof is that of the very
coefficients that were written. What a file says of sizes is checked before memory is asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.files.archive import Archive, ArchiveError, Plain, TooLargeError, largest
from dualgap.files.model import Model, model_of
from dualgap.files.model_tree import as_model, as_tree
from dualgap.linalg.validate import whole
from dualgap.problem import Problem
from dualgap.run.solution import Solution

VERSION, _FORMAT, _HEADER = 1, "dualgap model", "model"
_LIST = "arrays"  # in the header of an NPZ: name -> dtype, shape, checksum
# A header of a few megabytes, or so many times its part of the file: text that compresses better
# is none, and JSON takes many times its length in memory.
_TEXT, _TEXT_RATIO = 2**22, 32
ENDINGS = (".json", ".npz")
_BROKEN = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
    MemoryError,
)


class ModelFileError(ValueError):
    """A file that holds no model, with the reason in words."""


class ForeignFileError(ModelFileError):
    """A file of another kind altogether: neither JSON nor an archive."""


def save_model(
    path: str | os.PathLike[str],
    problem: Problem,
    solution: Solution,
    *,
    feature_names: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    classes: Sequence[Any] | None = None,
) -> Path:
    """Write a solution as a model that ``load_model`` and the command ``dualgap predict`` read.

    The ending of ``path`` says how: .json, which people can read, or .npz, which takes less room.
    ``settings`` are numbers and words of your own to be kept with it; ``classes`` are labels for
    predictions, in the order of those in y.
    """
    where = check_ending(path)
    model = model_of(problem, solution, feature_names, settings, classes)
    tree = {"format": _FORMAT, "version": VERSION, **as_tree(model)}
    part = where.with_name(f"{where.name}.{uuid.uuid4().hex}.part")
    try:
        (_write_npz if where.suffix == ".npz" else _write_json)(part, tree)
        os.replace(part, where)
    finally:
        part.unlink(missing_ok=True)
    return where


def check_ending(path: str | os.PathLike[str]) -> Path:
    """The path, if a model can be written there by its name."""
    where = Path(path)
    if where.suffix not in ENDINGS:
        raise ValueError(f"a model is written to a file that ends in .json or .npz, not {where}")
    if where.is_dir() or not where.absolute().parent.is_dir():
        raise ValueError(
            f"{where} is a folder" if where.is_dir() else f"there is no folder {where.parent}"
        )
    return where


def load_model(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Model:
    """Read what ``save_model`` or ``dualgap fit`` has written. No code in it is executed.

    A file whose arrays are said to take more than ``max_bytes`` is refused, before they are read;
    by default that is a gigabyte, or eight times the size of the file if that is more.
    """
    where = Path(path)
    limit = None if max_bytes is None else whole(max_bytes, "max_bytes", 1)
    with open(where, "rb") as file:
        packed = file.read(4) == b"PK\x03\x04"
        size = file.seek(0, os.SEEK_END)
    most = largest(size) if limit is None else limit
    try:
        tree = _read_npz(where, most) if packed else _read_json(where)
        return as_model(tree, most // 8)
    except ModelFileError:
        raise
    except TooLargeError as error:
        raise ModelFileError(f"{where}: {error}: give load_model a larger max_bytes") from error
    except _BROKEN as error:
        why = str(error) or type(error).__name__
        raise ModelFileError(f"{where} is damaged ({why}): write it anew") from error


# --- files ----------------------------------------------------------------------------------------


def _write_json(path: Path, tree: dict[str, Any]) -> None:
    tree = _plain(tree)
    tree = {**tree, "checksum": _checksum(tree)}
    lines = (
        f" {json.dumps(key)}: {json.dumps(part, allow_nan=False)}" for key, part in tree.items()
    )
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _read_json(path: Path) -> dict[str, Any]:
    text = path.read_bytes()
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip()[:1] == b"{":
            why = error if isinstance(error, json.JSONDecodeError) else "no JSON to its end"
            raise ModelFileError(f"{path} is damaged ({why}): write it anew") from None
        raise ForeignFileError(
            f"{path} is not a model of dualgap, which would be JSON or NPZ"
        ) from None
    return _checked(path, tree)


def _write_npz(path: Path, tree: dict[str, Any]) -> None:
    arrays: dict[str, Any] = {}
    tree = _plain(tree, arrays)
    tree[_LIST] = {name: _stated(array) for name, array in arrays.items()}
    header = json.dumps({**tree, "checksum": _checksum(tree)}, allow_nan=False).encode()
    arrays[_HEADER] = np.frombuffer(header, np.uint8)
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)


def _read_npz(path: Path, most: int) -> dict[str, Any]:
    with Archive(path, most) as archive:
        member = f"{_HEADER}.npy"
        if member not in archive.names:
            raise ModelFileError(f"{path} is an archive, but not a model of dualgap")
        if archive.stated(member)[0] > max(_TEXT, _TEXT_RATIO * archive.size):
            raise ArchiveError("its header is longer than one can be")
        text = archive.array(member)
        tree = _checked(path, json.loads(text.tobytes()))
        names = [name for name in archive.names if name != member]
        listed = tree.pop(_LIST, None)
        if listed is None:  # as files were written at first
            arrays = {name: archive.array(name) for name in names}
        elif set(names) == {f"{name}.npy" for name in listed}:
            arrays = {f"{name}.npy": _listed(archive, name, *listed[name]) for name in listed}
        else:
            raise ArchiveError("its members are not those that its header lists")
    return dict(_restored(tree, {name.removesuffix(".npy"): arrays[name] for name in arrays}))


def _stated(array: Any) -> list[Any]:
    return [array.dtype.str, list(array.shape), _digest(array)]


def _listed(archive: Archive, name: str, dtype: Any, shape: Any, digest: Any) -> Any:
    array = archive.array(f"{name}.npy", Plain.of(dtype, shape))
    if _digest(array) != digest:
        raise ArchiveError(f"{name} is not the array that its header lists")
    return array


def _digest(array: Any) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()


def _checked(path: Path, tree: Any) -> dict[str, Any]:
    if not isinstance(tree, dict) or tree.get("format") != _FORMAT:
        raise ModelFileError(f"{path} is JSON, but not a model of dualgap")
    if tree["version"] > VERSION:
        raise ModelFileError(
            f"{path} was written by a newer dualgap (format {tree['version']}, known are those up "
            f"to {VERSION}): upgrade dualgap"
        )
    found = tree.pop("checksum", None)
    if found != _checksum(tree):
        raise ModelFileError(
            f"{path} has changed since it was written, so that its proof is none: write it anew"
        )
    return tree


def _checksum(tree: dict[str, Any]) -> str:
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


# --- trees of plain values ------------------------------------------------------------------------


def _plain(value: Any, arrays: dict[str, Any] | None = None, name: str = "") -> Any:
    """The same for JSON; with ``arrays``, arrays go there and leave their names."""
    if isinstance(value, dict):
        return {str(k): _plain(v, arrays, f"{name}.{k}".lstrip(".")) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        if arrays is not None and value.dtype.kind in "biufU":
            arrays[name] = value
            return {"array": name}
        return _plain(value.tolist())
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)  # JSON has no word for it
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"{name or 'a label'} is {type(value).__name__}, which no file can hold")


def _restored(value: Any, arrays: dict[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    if set(value) == {"array"}:
        return arrays[value["array"]]
    return {key: _restored(part, arrays) for key, part in value.items()}
