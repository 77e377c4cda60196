"""Arrays in NPY format from untrusted files. The header is matched, not evaluated."""

from __future__ import annotations

import math
import re
import struct
import sys
from typing import Any, NamedTuple

import numpy as np

from dualgap.files.errors import ArchiveError
from dualgap.files.limits import LIMITS

_MAGIC = b"\x93NUMPY"
_LENGTH_FORMAT = {1: "<H", 2: "<I"}  # of the header's length, by version
_MAX_DIMENSIONS = 8
# A header is the text of a dict with these entries.
_FIELDS = {
    "descr": re.compile(
        r"""['"]descr['"]\s*:\s*['"]([<>|]?(?:b1|[iu][1248]|f[248]|U[1-9]\d{0,8}))['"]"""
    ),
    "order": re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)"""),
    "shape": re.compile(r"""['"]shape['"]\s*:\s*\(([\d\s,]*)\)"""),
}
_PUNCTUATION = re.compile(r"\{[\s,]*\}\s*")


class ArrayHeader(NamedTuple):
    """The type and shape of an array."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """In Python's integers, which do not overflow."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @classmethod
    def from_json(cls, dtype: Any, shape: Any) -> ArrayHeader:
        """From JSON, where shapes are lists."""
        return cls(str(dtype), tuple(shape))


def read_header(stream: Any, name: str) -> tuple[ArrayHeader, bool, int]:
    """The header, whether the array is stored by columns, and how many bytes were read."""
    begin = _read(stream, 8, name)
    if begin[:6] != _MAGIC or begin[6] not in _LENGTH_FORMAT or begin[7] != 0:
        raise ArchiveError(f"{name} is not an array in the NPY format 1.0 or 2.0")
    form = _LENGTH_FORMAT[begin[6]]
    size = struct.calcsize(form)
    (length,) = struct.unpack(form, _read(stream, size, name))
    if length > LIMITS.npy_header:
        raise ArchiveError(f"{name} has an NPY header of {length} bytes")
    text = _read(stream, length, name).decode("latin1")
    fields = {}
    for field, pattern in _FIELDS.items():
        match = pattern.search(text)
        if match is None:
            raise ArchiveError(
                f"{name} is not an array of plain numbers or text (see {field} in its NPY header). "
                "Pickles, for example, are not read"
            )
        fields[field] = match
        # Each match is removed, so that no text can count as two fields.
        text = text[: match.start()] + text[match.end() :]
    if not _PUNCTUATION.fullmatch(text):
        raise ArchiveError(f"{name} has an NPY header with unknown entries")
    dtype = np.dtype(fields["descr"][1]).str
    shape = tuple(int(part) for part in fields["shape"][1].split(",") if part.strip())
    if len(shape) > _MAX_DIMENSIONS:
        raise ArchiveError(f"{name} has {len(shape)} dimensions")
    return ArrayHeader(dtype, shape), fields["order"][1] == "True", 8 + size + length


def check_text(data: bytearray, header: ArrayHeader, name: str) -> None:
    """Refuse characters beyond Unicode, which would make a later reader fail."""
    if "U" in header.dtype and len(data):
        codes = np.frombuffer(data, f"{header.dtype[0]}u4")
        if codes.max() > sys.maxunicode:
            raise ArchiveError(f"{name} is an array of text, but not all of it is text")


def _read(stream: Any, size: int, name: str) -> bytes:
    out: bytes = stream.read(size)
    if len(out) < size:
        raise ArchiveError(f"{name} ends within its NPY header")
    return out
