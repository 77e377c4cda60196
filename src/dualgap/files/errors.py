"""Errors of files, and the exceptions that a damaged file can cause."""

from __future__ import annotations


class ArchiveError(ValueError):
    """An archive is damaged, or what it states contradicts what it holds."""


class TooLargeError(ArchiveError):
    """An archive may be intact, but states more than is allowed."""


# What decoding raises if a header is not what it should be.
MALFORMED = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)
