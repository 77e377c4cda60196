"""Downloads from the LIBSVM site, and checksums that tell when a file has changed since."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path
from typing import Any

from dualgap.datasets.errors import DatasetDamagedError

BASE_URL = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
ATTEMPTS = 3
PAUSE = 1.0  # seconds before the second attempt, twice as many before the third
TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two pieces


class DownloadError(OSError):
    """A download that failed, with the reason in words."""


def download(file: str, folder: Path, known: str | None) -> Path:
    """Fetch a file of the LIBSVM site into a folder; it appears there only when complete."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DownloadError(f"the folder {folder} cannot be made ({error.strerror})") from error
    part = folder / f"{file}.{uuid.uuid4().hex}.part"
    try:
        _fetch(BASE_URL + file, part)
        if known is not None and not matches(part, known):
            raise DownloadError(
                f"{BASE_URL}{file} does not have the known checksum {known}: the download was"
                " damaged, or the site has a new version"
            )
        path = folder / file
        os.replace(part, path)
        return path
    finally:
        part.unlink(missing_ok=True)


def matches(path: Path, known: str) -> bool:
    """Whether a file has a checksum, written ``algorithm:digest``."""
    import pooch

    algorithm, digest = known.split(":")
    return bool(pooch.file_hash(os.fspath(path), alg=algorithm) == digest)


def remember(path: Path) -> None:
    """Write down the checksum of a file that was found good."""
    import pooch

    _note(path).write_text(f"{pooch.file_hash(os.fspath(path), alg='sha256')}  {path.name}\n")


def check_unchanged(path: Path) -> None:
    """Refuse a file that is not the one whose checksum was written down."""
    note = _note(path)
    words = note.read_text().split() if note.is_file() else []
    if words and not matches(path, f"sha256:{words[0]}"):
        raise DatasetDamagedError(
            f"{path} has changed since it was downloaded: its checksum is not the one in"
            f" {note.name}. Delete both files to download it again"
        )


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _fetch(url: str, part: Path) -> None:
    import pooch
    from requests import exceptions as problems

    passing = (problems.ConnectionError, problems.Timeout, problems.ChunkedEncodingError)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with _Bar(url) as bar:
                pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT)(url, os.fspath(part), None)
            return
        except problems.HTTPError as error:
            status = error.response.status_code if error.response is not None else 0
            if status < 500 or attempt == ATTEMPTS:
                why = "there is no such file" if status == 404 else "the server refuses"
                raise DownloadError(f"{url}: {why} (HTTP {status})") from error
        except passing as error:
            if attempt == ATTEMPTS:
                late = isinstance(error, problems.Timeout)
                why = "does not answer in time" if late else "cannot be reached"
                raise DownloadError(f"{url}: the server {why} ({ATTEMPTS} attempts)") from error
        except OSError as error:
            raise DownloadError(f"{url}: {error}") from error
        time.sleep(attempt * PAUSE)


class _Bar:
    """A progress bar of Rich behind the four names that pooch calls; silent off a terminal."""

    total = 0

    def __init__(self, url: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        self._progress = Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal
        )
        self._task = self._progress.add_task(url.rsplit("/", 1)[-1], total=None)

    def __enter__(self) -> _Bar:
        if not self._progress.disable:
            self._progress.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if not self._progress.disable:  # older versions of Rich print an empty line
            self._progress.stop()

    def update(self, size: int) -> None:
        self._progress.update(self._task, advance=size, total=self.total or None)

    def reset(self) -> None:
        self._progress.reset(self._task)

    def close(self) -> None:
        """The bar is taken away on exit, also after an error."""
