"""Any data that a user can name: a file, a folder of ``convert``, or a data set."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dualgap.datasets.csv_text import read_csv
from dualgap.datasets.errors import DatasetDamagedError, DatasetNotFoundError
from dualgap.datasets.load import load
from dualgap.datasets.on_disk import open_as_it_is
from dualgap.datasets.parquet import read_parquet
from dualgap.datasets.read import Counting, read_libsvm
from dualgap.datasets.registry import PACKINGS
from dualgap.datasets.tables import Wanted

_CSV, _PARQUET = (".csv", ".tsv"), (".parquet", ".pq")
_LIBSVM = (".svm", ".libsvm")


@dataclass(frozen=True, eq=False)
class Table:
    """Data as they are: labels are not changed. ``y`` is None if there is no target."""

    name: str
    X: Any
    y: Any
    weights: Any
    features: tuple[str, ...] | None
    source: str
    zero_based: bool | None = None  # LIBSVM text: whether features were counted from 0
    offset: Any = None


def open_data(
    what: str,
    wanted: Wanted = Wanted(),
    *,
    n_features: int | None = None,
    zero_based: Counting = "auto",
    download: bool = True,
) -> Table:
    """Read a file in LIBSVM, CSV or Parquet format, open a folder, or load a data set by name.

    ``wanted`` says which columns of a table mean what; ``n_features`` adds the empty features that
    LIBSVM text does not show at its end, and ``zero_based`` says how it counts them.
    """
    path = Path(what)
    if path.is_dir():
        data = open_as_it_is(path)
        _refuse_columns(wanted, f"{path} is a folder of dualgap convert")
        return Table(data.name, data.X, data.y, None, None, data.source)
    if not path.exists():
        return _by_name(what, wanted, n_features, zero_based, download)
    kind = _kind(path, wanted)
    if kind == "libsvm":
        _refuse_columns(wanted, f"{path} is taken to be in LIBSVM format")
        rows = read_libsvm(path, n_features, zero_based)
        if rows.X.shape[1] == 0:
            raise DatasetDamagedError(f"{path} has no features: each line has a target only")
        source = os.fspath(path)
        return Table(path.name, rows.X, rows.y, None, None, source, rows.zero_based)
    found = (read_csv if kind == "csv" else read_parquet)(path, wanted)
    own = found.X, found.y, found.weights, found.features
    return Table(path.name, *own, os.fspath(path), offset=found.offset)


def is_table(what: str) -> bool:
    """Whether a name says that a file is a table, whose columns have names."""
    return _unpacked(what).endswith((*_CSV, *_PARQUET))


def _is_file_name(what: str) -> bool:
    """Whether a name can hardly be meant for that of a data set."""
    return _unpacked(what) != what.lower() or is_table(what) or what.endswith((*_LIBSVM, ".txt"))


def _kind(path: Path, wanted: Wanted) -> str:
    if _unpacked(path.name).endswith(_PARQUET):
        return "parquet"
    named = is_table(path.name) or wanted.target is not None  # a target is a column of a table
    return "csv" if named and not _unpacked(path.name).endswith(_LIBSVM) else "libsvm"


def _unpacked(name: str) -> str:
    name = name.lower()
    for packing in PACKINGS[1:]:
        name = name.removesuffix(packing)
    return name


def _refuse_columns(wanted: Wanted, why: str) -> None:
    for option in ("target", "weights", "offset"):
        if getattr(wanted, option) is not None:
            raise ValueError(f"--{option} is for tables, and {why}, whose columns have no names")


def _by_name(
    what: str, wanted: Wanted, n_features: int | None, zero_based: Counting, download: bool
) -> Table:
    if Path(what).name != what or not what:
        raise FileNotFoundError(f"there is no file {what!r}")
    try:
        data = load(what, download=download, n_features=n_features, zero_based=zero_based)
    except DatasetNotFoundError as error:
        if _is_file_name(what):
            raise FileNotFoundError(f"there is no file {what!r} in this folder") from None
        raise DatasetNotFoundError(f"there is no file {what!r}, and {error}") from None
    _refuse_columns(wanted, f"{what} is a data set")
    return Table(data.name, data.X, data.y, None, data.features, data.source, data.zero_based)
