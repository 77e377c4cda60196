"""The data sets of the papers: ``load("w8a")`` finds or downloads one."""

from dualgap.datasets.errors import DatasetDamagedError, DatasetNotFoundError
from dualgap.datasets.load import Dataset, load, locate
from dualgap.datasets.registry import names

__all__ = ["Dataset", "DatasetDamagedError", "DatasetNotFoundError", "load", "locate", "names"]
