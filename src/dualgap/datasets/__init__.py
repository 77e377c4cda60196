"""Data sets: ``load("w8a")`` finds or downloads a set by its name; matrices on disk."""

from dualgap.datasets.errors import DatasetDamagedError, DatasetNotFoundError
from dualgap.datasets.load import Dataset, load, locate, names
from dualgap.datasets.on_disk import CSRWriter, open_folder
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
