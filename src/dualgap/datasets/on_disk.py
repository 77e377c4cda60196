"""A sparse matrix on disk: a folder of .npy arrays and a JSON header, read as memory maps.

    header.json   format, version, shape, types; written last, so an incomplete folder is never read
    data.npy, indices.npy, indptr.npy   the rows, one after the other, as CSR has them
    y.npy         a target for each row

Opening the folder executes nothing, and only ``y`` is read into memory.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.datasets.errors import DatasetDamagedError
from dualgap.datasets.load import Dataset
from dualgap.datasets.read import labels

VERSION, _FORMAT, _HEADER = 1, "dualgap csr", "header.json"
_ARRAYS = ("data", "indices", "indptr", "y")
_CHUNK = 1 << 20  # entries that are rewritten at a time: bounds the memory; not measured
LARGEST_INT32 = 2**31 - 1


class OnDisk(sp.csr_array):  # type: ignore[misc]
    """A CSR array over memory maps. Methods should not copy it; its slices are in memory."""

    on_disk = True


def open_folder(folder: str | os.PathLike[str]) -> Dataset:
    """The data in a folder that ``convert`` or ``CSRWriter`` wrote; X stays on disk.

    ``Problem`` reads X in place, and ``solve`` then chooses methods that do not copy it. Two
    classes get the labels -1 and +1, as in ``load``.
    """
    data = open_as_it_is(folder)
    return replace(data, y=labels(data.y))


def open_as_it_is(folder: str | os.PathLike[str]) -> Dataset:
    """The same with the original labels."""
    path = Path(folder)
    header = _header(path)
    arrays = {name: _mapped(path, name, header[name]) for name in _ARRAYS}
    (n, p), entries = header["shape"], header["data"][1]
    bounds = arrays["indptr"]
    sizes = header["indptr"][1], header["indices"][1], header["y"][1]
    if sizes != (n + 1, entries, n) or bounds[0] != 0 or bounds[-1] != entries:
        raise _damaged(path, "its arrays do not fit together")
    parts = arrays["data"], arrays["indices"], bounds
    X = OnDisk(parts, shape=(n, p))
    return Dataset(path.name, X, np.array(arrays["y"]), False, f"{path}, {header['source']}")


def _header(path: Path) -> dict[str, Any]:
    try:
        header = json.loads((path / _HEADER).read_text())
        known = header["format"] == _FORMAT
        newer = known and header["version"] > VERSION
        lacks = {"shape", "source", *_ARRAYS} - set(header)
    except FileNotFoundError:
        raise DatasetDamagedError(
            f"{path} was not made by dualgap convert: it has no {_HEADER}"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path, f"{_HEADER}: {error}") from error
    if newer:
        raise DatasetDamagedError(
            f"{path} was made by a newer dualgap (format {header['version']}, this one knows up "
            f"to {VERSION}): upgrade dualgap"
        )
    if not known or lacks:
        raise _damaged(path, f"{_HEADER} is not one of ours")
    return dict(header)


def _mapped(path: Path, name: str, expected: list[Any]) -> Any:
    try:
        array = np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise _damaged(path, f"{name}.npy: {error}") from error
    if [array.dtype.str, *array.shape] != expected:
        raise _damaged(path, f"{name}.npy is not the array that {_HEADER} describes")
    return array


def _damaged(path: Path, why: str) -> DatasetDamagedError:
    return DatasetDamagedError(f"{path} is damaged ({why}): convert the data again")


class CSRWriter:
    """Writes rows to such a folder block by block; only one block is in memory.

    ``with CSRWriter(folder) as out: out.append(X, y)``. The folder appears when everything is
    written; after an interruption nothing remains under its name.
    """

    def __init__(self, folder: str | os.PathLike[str], dtype: Any = np.float64) -> None:
        self.folder = Path(folder)
        if self.folder.exists():
            raise FileExistsError(f"{self.folder} exists already: remove it, or name another")
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64, not {dtype!r}")
        self.width, self.entries = 0, 0
        self.source = "written block by block"
        self._part = self.folder.with_name(f"{self.folder.name}.part")
        _clear(self._part)
        self._part.mkdir(parents=True)
        kinds = (self.dtype, np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.float64))
        self._arrays = {
            name: _Growing(self._part / f"{name}.npy", kind) for name, kind in zip(_ARRAYS, kinds)
        }
        self._arrays["indptr"].append(np.zeros(1, np.int64))

    @property
    def rows(self) -> int:
        """How many rows are written."""
        return self._arrays["y"].length

    def append(self, X: Any, y: Any) -> None:
        """Add rows: a CSR matrix, or anything that SciPy converts to one, and a target for each."""
        X = sp.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        y = np.asarray(y, dtype=np.float64)
        if y.shape != (X.shape[0],):
            raise ValueError(f"y must have {X.shape[0]} entries, one for each row, not {y.shape}")
        self.width = max(self.width, X.shape[1])
        if X.shape[1] > LARGEST_INT32 and self._arrays["indices"].dtype == np.int32:
            self._rewrite("indices", np.int64)
        self._arrays["data"].append(X.data)
        self._arrays["indices"].append(X.indices)
        self._arrays["indptr"].append(self.entries + X.indptr[1:].astype(np.int64))
        self._arrays["y"].append(y)
        self.entries += int(X.indptr[-1])

    def finish(self, n_features: int | None = None, first: int = 0) -> Path:
        """Complete the folder. ``first``: the index that the first feature was written with."""
        width = self.width - first
        if n_features is not None and n_features < width:
            raise ValueError(f"n_features is {n_features}, but a row has an entry at {width}")
        width = max(width, n_features or 0)
        if self.rows == 0 or width <= 0:
            raise ValueError(f"there is nothing to write: {self.rows} rows and {width} features")
        # SciPy wants one type for both arrays, otherwise it makes a copy in memory.
        wide = max(self.entries, width) > LARGEST_INT32
        index = np.dtype(np.int64 if wide else np.int32)
        for name, shift in (("indices", first), ("indptr", 0)):
            if self._arrays[name].dtype != index or shift:
                self._rewrite(name, index, shift)
        described = {}
        for name, array in self._arrays.items():
            array.close()
            described[name] = [array.dtype.str, array.length]
        header = {
            "format": _FORMAT,
            "version": VERSION,
            "shape": [self.rows, width],
            "source": self.source,
            **described,
        }
        with open(self._part / _HEADER, "w") as file:
            json.dump(header, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        self._part.rename(self.folder)
        return self.folder

    def _rewrite(self, name: str, dtype: Any, shift: int = 0) -> None:
        """Give an array another type, a piece at a time."""
        old = self._arrays[name]
        old.close()
        new = _Growing(self._part / f"{name}.new.npy", np.dtype(dtype))
        values = np.load(old.path, mmap_mode="r") if old.length else np.empty(0, old.dtype)
        for start in range(0, old.length, _CHUNK):
            new.append(values[start : start + _CHUNK].astype(dtype) - np.dtype(dtype).type(shift))
        del values
        new.flush()
        os.replace(new.path, old.path)
        new.path = old.path
        self._arrays[name] = new

    def __enter__(self) -> CSRWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._part.exists():
            self.finish()
        for array in self._arrays.values():
            array.close()
        _clear(self._part)


class _Growing:
    """A vector in a .npy file that grows until it is closed."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self.path, self.dtype, self.length = path, dtype, 0
        self._file = open(path, "w+b")  # noqa: SIM115 - closed by ``close``
        self._begin = self._write_header()

    def _write_header(self) -> int:
        self._file.seek(0)
        described = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(self._file, described)
        return self._file.tell()

    def append(self, values: Any) -> None:
        np.ascontiguousarray(values, dtype=self.dtype).tofile(self._file)
        self.length += len(values)

    def flush(self) -> None:
        """Bring the header up to date, and everything to the disk."""
        # NumPy pads headers to a multiple of 64 bytes: those of a vector are as long as each other.
        if self._write_header() != self._begin:
            raise AssertionError("the header of a vector has grown")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.seek(0, os.SEEK_END)

    def close(self) -> None:
        if not self._file.closed:
            self.flush()
            self._file.close()


def _clear(part: Path) -> None:
    """Remove what an interrupted conversion left."""
    if part.exists():
        known = {_HEADER, *(f"{name}{end}.npy" for name in _ARRAYS for end in ("", ".new"))}
        if not part.is_dir() or {entry.name for entry in part.iterdir()} - known:
            raise FileExistsError(f"{part} is in the way: remove it")
        shutil.rmtree(part)
