"""A model as a file: JSON, or NPZ for large models. Reading it executes nothing.

JSON holds everything, numbers to the last bit. NPZ holds the arrays as separate members; its header
lists them with dtype, shape and checksum. Both have a version and a checksum, so that a changed or
damaged file is recognised: its certificate is valid only for the coefficients that were written.
Sizes that a file states are checked before memory is allocated.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.files.archive import Archive, ArchiveWriter
from dualgap.files.errors import MALFORMED, ArchiveError, TooLargeError
from dualgap.files.limits import LIMITS
from dualgap.files.model import Model, model_of
from dualgap.files.model_tree import as_model, as_tree
from dualgap.files.npy import ArrayHeader
from dualgap.files.replace import replacing
from dualgap.linalg.validate import whole
from dualgap.problem import Problem
from dualgap.run.solution import Solution

VERSION, _FORMAT, _HEADER = 1, "dualgap model", "model"
_LIST = "arrays"  # in the header of an NPZ: name -> dtype, shape, checksum
ENDINGS = (".json", ".npz")


class ModelFileError(ValueError):
    """A file does not hold a model; the message says why."""


class ForeignFileError(ModelFileError):
    """A file is neither JSON nor an archive."""


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

    The ending of ``path`` chooses the format: .json, which people can read, or .npz, which is
    smaller. ``settings`` are numbers and text of your own to store with the model; ``classes`` are
    the labels for predictions, in the order of those in y.
    """
    where = check_ending(path)
    model = model_of(problem, solution, feature_names, settings, classes)
    tree = {"format": _FORMAT, "version": VERSION, **as_tree(model)}
    with replacing(where) as part:
        (_write_npz if where.suffix == ".npz" else _write_json)(part, tree)
    return where


def check_ending(path: str | os.PathLike[str]) -> Path:
    """The path of a model to write; refuses other endings and missing folders."""
    where = Path(path)
    if where.suffix not in ENDINGS:
        raise ValueError(f"a model is written to a file that ends in .json or .npz, not {where}")
    if where.is_dir() or not where.absolute().parent.is_dir():
        raise ValueError(
            f"{where} is a folder" if where.is_dir() else f"there is no folder {where.parent}"
        )
    return where


def load_model(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Model:
    """Read a file that ``save_model`` or ``dualgap fit`` wrote. No code in it is executed.

    A file whose arrays claim more than ``max_bytes`` is refused before they are read; the default
    is a gigabyte, or eight times the size of the file if that is more.
    """
    where = Path(path)
    allowed = None if max_bytes is None else whole(max_bytes, "max_bytes", 1)
    with open(where, "rb") as file:
        packed = file.read(4) == b"PK\x03\x04"
        size = file.seek(0, os.SEEK_END)
    limit = LIMITS.unpacked(size) if allowed is None else allowed
    try:
        tree = _read_npz(where, limit) if packed else _read_json(where)
        return as_model(tree, limit // 8)
    except ModelFileError:
        raise
    except TooLargeError as error:
        raise ModelFileError(f"{where}: {error}: give load_model a larger max_bytes") from error
    except (*MALFORMED, MemoryError) as error:
        raise _damaged(where, str(error) or type(error).__name__) from error


def _damaged(path: Path, why: Any) -> ModelFileError:
    return ModelFileError(f"{path} is damaged ({why}): write the model again")


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
            known = isinstance(error, json.JSONDecodeError)
            raise _damaged(path, error if known else "it is not JSON to its end") from None
        raise ForeignFileError(
            f"{path} is not a model of dualgap: it is neither JSON nor NPZ"
        ) from None
    return _checked(path, tree)


def _write_npz(path: Path, tree: dict[str, Any]) -> None:
    arrays: dict[str, Any] = {}
    tree = _plain(tree, arrays)
    tree[_LIST] = {name: _stated(array) for name, array in arrays.items()}
    header = json.dumps({**tree, "checksum": _checksum(tree)}, allow_nan=False).encode()
    with open(path, "wb") as file, ArchiveWriter(file, compressed=True) as archive:
        for name, array in arrays.items():
            archive.array(f"{name}.npy", array)
        archive.array(f"{_HEADER}.npy", np.frombuffer(header, np.uint8))


def _read_npz(path: Path, limit: int) -> dict[str, Any]:
    with Archive(path, limit) as archive:
        member = f"{_HEADER}.npy"
        if member not in archive.names:
            raise ModelFileError(f"{path} is an archive, but not a model of dualgap")
        longest = max(LIMITS.model_header, LIMITS.model_header_ratio * archive.size)
        if archive.stated(member)[0] > longest:
            raise ArchiveError("its header is too long")
        text = archive.array(member)
        tree = _checked(path, json.loads(text.tobytes()))
        names = [name for name in archive.names if name != member]
        listed = tree.pop(_LIST, None)
        if listed is None:  # as the first versions wrote files
            arrays = {name: archive.array(name) for name in names}
        elif set(names) == {f"{name}.npy" for name in listed}:
            arrays = {f"{name}.npy": _listed(archive, name, *listed[name]) for name in listed}
        else:
            raise ArchiveError("its members are not those that its header lists")
    return dict(_restored(tree, {name.removesuffix(".npy"): arrays[name] for name in arrays}))


def _stated(array: Any) -> list[Any]:
    return [array.dtype.str, list(array.shape), _digest(array)]


def _listed(archive: Archive, name: str, dtype: Any, shape: Any, digest: Any) -> Any:
    array = archive.array(f"{name}.npy", ArrayHeader.from_json(dtype, shape))
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
            f"{path} was written by a newer dualgap (format {tree['version']}, this one knows up "
            f"to {VERSION}): upgrade dualgap"
        )
    found = tree.pop("checksum", None)
    if found != _checksum(tree):
        raise ModelFileError(
            f"{path} has changed since it was written, so its certificate is no longer valid: "
            "write the model again"
        )
    return tree


def _checksum(tree: dict[str, Any]) -> str:
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


# --- trees of plain values ------------------------------------------------------------------------


def _plain(value: Any, arrays: dict[str, Any] | None = None, name: str = "") -> Any:
    """A value for JSON; arrays are added to ``arrays``, if given, and replaced by their names."""
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
        return str(value)  # JSON has no infinity
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(
        f"{name or 'a label'} is {type(value).__name__}, which a model file cannot hold"
    )


def _restored(value: Any, arrays: dict[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    if set(value) == {"array"}:
        return arrays[value["array"]]
    return {key: _restored(part, arrays) for key, part in value.items()}
