"""One way to load a data set: from a folder, from the cache, from the web, or a stand-in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dualgap.datasets import fetch, small
from dualgap.datasets.errors import DatasetDamagedError, DatasetNotFoundError
from dualgap.datasets.files import VARIABLE, cache_folder, data_folder, find
from dualgap.datasets.read import Counting, check_shape, labels, read
from dualgap.datasets.registry import ALIASES, ENTRIES, Entry, stem
from dualgap.datasets.synthetic import stand_in
from dualgap.linalg.validate import unknown, whole


@dataclass(frozen=True, eq=False)
class Dataset:
    """Data and where they come from. ``name`` is what was read, to be put into titles."""

    name: str
    X: Any
    y: Any
    synthetic: bool
    source: str
    features: tuple[str, ...] | None = None  # their names, if they have any
    zero_based: bool | None = None  # whether a file counts them from 0

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Dataset({self.name!r}, {n} x {d}, {self.source})"


def names() -> list[str]:
    """The data sets that ``load`` knows where to find: of the papers, and small ones."""
    return [*ENTRIES, *small.NAMES]


def load(
    name: str,
    *,
    missing: Literal["raise", "synthetic"] = "raise",
    download: bool = True,
    n_features: int | None = None,
    zero_based: Counting = "auto",
) -> Dataset:
    """Load a data set by its name; two classes get the labels -1 and +1.

    ``name`` is one of ``names()`` or the name of a file in LIBSVM format, with or without ``.svm``
    and the suffix of its compression. ``load`` searches the folder that the environment variable
    DUALGAP_DATA names, then the cache; then it downloads a set of ``names()`` from the LIBSVM
    site, unless ``download`` is False. Small sets come with scikit-learn. If a folder has only a
    near relative of a paper's set, that is loaded, under its own name.

    For a file that belongs to another one, such as a test set, ``n_features`` adds empty features
    at the end, and ``zero_based`` says whether the first one has the index 0 ("auto": if
    some index is 0).

    When a set of ``names()`` cannot be had, ``missing="synthetic"`` returns generated data of the
    same shape, which say so in ``name`` and ``source``.
    """
    if missing not in ("raise", "synthetic"):
        raise ValueError(f"missing must be 'raise' or 'synthetic', not {missing!r}")
    if zero_based not in (True, False, "auto"):
        raise ValueError(f'zero_based must be True, False or "auto", not {zero_based!r}')
    if n_features is not None:
        whole(n_features, "n_features", 1)
    if not isinstance(name, str) or not name or Path(name).name != name:
        raise ValueError(f"name must be the name of a data set, such as 'w8a', not {name!r}")
    entry = ENTRIES.get(ALIASES.get(name, name))
    stems = entry.candidates if entry else (name,)
    folder, cache = data_folder(), cache_folder()
    path = find(folder, stems) if folder else None
    if path is not None:
        return _as_it_is(path, entry, n_features, zero_based)
    # A relative in the cache was downloaded for its own sake: it must not hide the set itself.
    path = find(cache, stems[:1])
    if path is not None:
        return _from_cache(path, entry, n_features, zero_based)
    if name in small.NAMES:
        X, y, features = small.load(name)
        return Dataset(name, X, labels(y), False, "a part of scikit-learn", features)
    searched = _searched(stems, folder, cache)
    if entry is None:
        raise DatasetNotFoundError(
            f"{unknown('data set', name, names())}; {searched}. Put a file of that name into one of"
            " these folders"
        )
    try:
        if not download:
            raise fetch.DownloadError("downloads are switched off")
        return _from_the_web(entry, cache)
    except fetch.DownloadError as error:
        if missing == "synthetic":
            return _synthetic(entry, str(error))
        raise DatasetNotFoundError(
            f"the data set {name!r} was not found: {searched}; and it could not be downloaded:"
            f" {error}. Put the file into one of these folders, or ask for generated data of the"
            " same shape with dualgap.datasets.load(name, missing='synthetic')"
        ) from error


def locate(name: str) -> Path | None:
    """The file that ``load`` would read, including a near relative; None if there is none."""
    entry = ENTRIES.get(ALIASES.get(name, name))
    stems = entry.candidates if entry else (name,)
    folder = data_folder()
    return (find(folder, stems) if folder else None) or find(cache_folder(), stems[:1])


def _as_it_is(
    path: Path, entry: Entry | None, n_features: int | None, zero_based: Counting
) -> Dataset:
    """A file of the user's own folder; oddities are reported, not refused."""
    own = entry is not None and stem(path.name) == entry.own
    rows = read(path, entry.d if entry is not None and own else n_features, zero_based)
    remarks = [f"{path.name} in the folder that {VARIABLE} names"]
    if entry is not None:
        if not own:
            remarks.append(f"in place of {entry.name}: {entry.notes[stem(path.name)]}")
        known = entry.hashes.get(path.name)
        if known is not None and not fetch.matches(path, known):
            remarks.append("its checksum is not that of the file on the LIBSVM site")
    source = "; ".join(remarks)
    return Dataset(stem(path.name), rows.X, rows.y, False, source, None, rows.zero_based)


def _from_cache(
    path: Path, entry: Entry | None, n_features: int | None, zero_based: Counting
) -> Dataset:
    fetch.check_unchanged(path)
    rows = read(path, entry.d if entry else n_features, zero_based)
    if entry is not None:
        check_shape(path, rows.X, entry)
    source = f"{path.name} in the cache of downloads"
    return Dataset(stem(path.name), rows.X, rows.y, False, source, None, rows.zero_based)


def _from_the_web(entry: Entry, cache: Path) -> Dataset:
    """The first of the entry's files on the LIBSVM site that can be had."""
    if not entry.files:
        raise fetch.DownloadError("it is not on the LIBSVM site")
    reasons = []
    for file in entry.files:
        try:
            path = fetch.download(file, cache, entry.hashes.get(file))
        except fetch.DownloadError as error:
            reasons.append(str(error))
            continue
        try:
            rows = read(path, entry.d)
            check_shape(path, rows.X, entry)
        except DatasetDamagedError as error:
            # The download is not the data set, so it must not be found next time.
            path.unlink(missing_ok=True)
            raise fetch.DownloadError(
                f"{fetch.BASE_URL}{file} was not the data set: {error}"
            ) from error
        fetch.remember(path)
        source = f"downloaded from {fetch.BASE_URL}{file}"
        return Dataset(stem(file), rows.X, rows.y, False, source, None, rows.zero_based)
    raise fetch.DownloadError("; ".join(reasons))


def _synthetic(entry: Entry, reason: str) -> Dataset:
    X, y = stand_in(entry)
    smaller = f", with {X.shape[0]:,} rows instead of {entry.n:,}" if X.shape[0] < entry.n else ""
    source = f"generated in the likeness of {entry.name}{smaller}, because the data could not be"
    return Dataset(f"{entry.name} (synthetic)", X, y, True, f"{source} had: {reason}")


def _searched(stems: tuple[str, ...], folder: Path | None, cache: Path) -> str:
    """Which folders were searched, and for which names."""
    wanted = " or ".join(f"{name}[.svm][.bz2|.gz|.xz]" for name in stems)
    if folder is None:
        first = f"the environment variable {VARIABLE}, which may name a folder, is not set"
    elif folder.is_dir():
        first = f"the folder {folder} ({VARIABLE}) has no file {wanted}"
    else:
        first = f"the folder {folder}, which {VARIABLE} names, does not exist"
    return f"{first}; the cache {cache} has no file {stems[0]}[.svm][.bz2|.gz|.xz]"
