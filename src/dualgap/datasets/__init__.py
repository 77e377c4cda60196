"""Data sets: ``load("w8a")`` finds or downloads one of the papers; matrices on disk."""

from dualgap.datasets.errors import DatasetDamagedError, DatasetNotFoundError
from dualgap.datasets.load import Dataset, load, locate
from dualgap.datasets.on_disk import CSRWriter, open_folder
from dualgap.datasets.registry import names
from dualgap.datasets.text import convert

__all__ = [
    "CSRWriter",
    "Dataset",
    "DatasetDamagedError",
    "DatasetNotFoundError",
    "convert",
    "load",
    "locate",
    "names",
    "open_folder",
]
