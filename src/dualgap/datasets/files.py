"""Where data sets are searched for: the user's own folder, and the cache of downloads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import platformdirs

from dualgap.datasets.registry import PACKINGS

VARIABLE = "DUALGAP_DATA"
_ENDINGS = (*(f".svm{packing}" for packing in PACKINGS), *PACKINGS)


def data_folder() -> Path | None:
    """The folder that the user names in the environment, if any."""
    value = os.environ.get(VARIABLE)
    return Path(value).expanduser() if value else None


def cache_folder() -> Path:
    """The folder of downloads; it may not exist yet."""
    return Path(platformdirs.user_cache_dir("dualgap")) / "datasets"


def find(folder: Path, stems: Iterable[str]) -> Path | None:
    """The first file of these names, in any packing."""
    for stem in stems:
        for ending in _ENDINGS:
            path = folder / f"{stem}{ending}"
            if path.is_file():
                return path
    return None
