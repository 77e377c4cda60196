"""What can be wrong with a data set."""


class DatasetNotFoundError(FileNotFoundError):
    """No file with the data set was found, and none could be downloaded."""


class ColumnError(ValueError):
    """A table is there, but not the columns that were asked for."""


class DatasetDamagedError(OSError):
    """A file is there, but it does not hold what it should."""
