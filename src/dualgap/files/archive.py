"""ZIP archives of arrays from anybody: nothing is executed, and nothing grows beyond what was said.

Three places state how large a member is: the directory of the archive, the NPY header in front of
the numbers, and, for whoever has one, a list in a header of one's own. They must agree before any
memory is asked for. A deflated member is unpacked piece by piece and never past the size that the
directory states, so that a bomb is cut short; what the directory itself may state is limited by
``most`` bytes in all, and by what deflate can make of the bytes that are there.
"""

from __future__ import annotations

import errno
import math
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple

import numpy as np

LEAST = 2**30  # bytes that any archive may hold, however well they were compressed ...
_UNPACKED = 8  # ... or so many times its own size: numbers that differ compress no better
_DEFLATE = 1032  # deflate makes no more of a byte
_MAGIC = b"\x93NUMPY"
_LONGEST = 10_000  # bytes of an NPY header; plain ones have 118
_PIECE = 1 << 20
_LENGTH = {1: "<H", 2: "<I"}  # of the length of a header, by version
# An NPY header is the text of a dict; it is matched, not evaluated.
_FIELDS = {
    "descr": re.compile(
        r"""['"]descr['"]\s*:\s*['"]([<>|]?(?:b1|[iu][1248]|f[248]|U[1-9]\d{0,8}))['"]"""
    ),
    "order": re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)"""),
    "shape": re.compile(r"""['"]shape['"]\s*:\s*\(([\d\s,]*)\)"""),
}
_PUNCTUATION = re.compile(r"\{[\s,]*\}\s*")
# What zipfile and zlib raise for archives that are not what they should be.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    EOFError,
    OverflowError,
    NotImplementedError,  # a compression that this Python does not have
    RuntimeError,  # a password
)


class ArchiveError(ValueError):
    """An archive that is damaged or states what it does not hold, in words."""


class TooLargeError(ArchiveError):
    """One that may be whole, but states more than is allowed."""


def largest(size: int) -> int:
    """How many bytes of numbers a file of so many bytes may stand for, unless somebody says more.

    Long arrays of one number compress a thousand to one, so no ratio tells them from bombs: any
    file may stand for a gigabyte, and a large one, which somebody has brought here, for what
    numbers that differ can be compressed to.
    """
    return max(LEAST, _UNPACKED * size)


class Plain(NamedTuple):
    """What is stated of an array."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """In Python's integers, which do not overflow."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @classmethod
    def of(cls, dtype: Any, shape: Any) -> Plain:
        """From JSON, where shapes are lists."""
        return cls(str(dtype), tuple(shape))


class Archive:
    """An open archive whose directory makes sense. Use it as a context manager.

    ``most`` is the sum of the sizes of all members that is accepted; by default a gigabyte, or
    eight times the size of the file. ``stored`` refuses compressed members.
    """

    def __init__(self, path: Path, most: int | None = None, *, stored: bool = False) -> None:
        self._file: BinaryIO = open(path, "rb")  # noqa: SIM115 (closed by __exit__)
        try:
            self.size = self._file.seek(0, 2)
            self.most = largest(self.size) if most is None else most
            with _in_words("the directory of the archive is damaged"):
                self._zip = zipfile.ZipFile(self._file)
                self._members = self._checked(stored)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()
        self._file.close()

    @property
    def names(self) -> list[str]:
        """Of the members, in the order of the directory."""
        return list(self._members)

    def stated(self, name: str) -> tuple[int, int]:
        """The size and the checksum that the directory has for a member."""
        member = self._member(name)
        return member.file_size, member.CRC

    def read(self, name: str, most: int) -> bytes:
        """A member as it is, of at most so many bytes."""
        size = self._member(name).file_size
        if size > most:
            raise TooLargeError(
                f"{name} is said to have {size:,} bytes, where {most:,} are allowed"
            )
        with self._opened(name) as stream:
            return bytes(_exactly(stream, size, name))

    def array(self, name: str, stated: Plain | None = None) -> Any:
        """A member in the NPY format; ``stated`` is what a header says of it."""
        size = self._member(name).file_size
        with self._opened(name) as stream:
            found, fortran, before = _npy_header(stream, name)
            if stated is not None and found != stated:
                raise ArchiveError(
                    f"{name} is an array of {found.dtype} with shape {found.shape}, where the "
                    f"header has {stated.dtype} with shape {stated.shape}"
                )
            if before + found.nbytes != size:
                raise ArchiveError(
                    f"{name} is said to have shape {found.shape}, which does not go with its "
                    f"{size} bytes"
                )
            data = _exactly(stream, found.nbytes, name)
            _refuse_no_text(data, found, name)
            return np.ndarray(found.shape, found.dtype, data, order="F" if fortran else "C")

    # --- the directory ----------------------------------------------------------------------------

    def _checked(self, stored: bool) -> dict[str, zipfile.ZipInfo]:
        members: dict[str, zipfile.ZipInfo] = {}
        whole = packed = 0
        for member in self._zip.infolist():
            name = member.filename
            if name in members:
                raise ArchiveError(f"{name} occurs twice")
            members[name] = member
            _refuse_odd(member, stored)
            whole += member.file_size
            packed += member.compress_size
        if packed > self.size:  # members that share their bytes
            raise ArchiveError("its members are said to be longer than the file")
        if whole > self.most:
            raise TooLargeError(
                f"its members are said to have {whole:,} bytes, where {self.most:,} are allowed"
            )
        return members

    def _member(self, name: str) -> zipfile.ZipInfo:
        if not isinstance(name, str) or name not in self._members:
            raise ArchiveError(f"it has no member {name}")
        return self._members[name]

    @contextmanager
    def _opened(self, name: str) -> Iterator[Any]:
        with _in_words(f"{name} is damaged"), self._zip.open(self._members[name]) as stream:
            yield stream


def _refuse_odd(member: zipfile.ZipInfo, stored: bool) -> None:
    name, size, packed = member.filename, member.file_size, member.compress_size
    if member.flag_bits & 0x1:
        raise ArchiveError(f"{name} is encrypted")
    if member.compress_type == zipfile.ZIP_STORED:
        fits = size == packed
    elif member.compress_type == zipfile.ZIP_DEFLATED and not stored:
        fits = size <= _DEFLATE * packed
    else:
        kinds = "stored" if stored else "stored or deflated"
        raise ArchiveError(f"{name} is packed in a way other than {kinds}")
    if not fits:
        raise ArchiveError(f"{name} is said to have {size} bytes, which {packed} cannot hold")


# --- members --------------------------------------------------------------------------------------


def _exactly(stream: Any, size: int, name: str) -> bytearray:
    """So many bytes and no more, which also checks their checksum."""
    out = bytearray()
    while len(out) < size:
        piece = stream.read(min(_PIECE, size - len(out)))
        if not piece:
            raise ArchiveError(f"{name} ends after {len(out)} of {size} bytes")
        out += piece
    stream.read(1)  # the checksum is looked at where a member ends
    return out


def _npy_header(stream: Any, name: str) -> tuple[Plain, bool, int]:
    """What an array is, whether by columns, and how many bytes say so."""
    begin = _some(stream, 8, name)
    if begin[:6] != _MAGIC or begin[6] not in _LENGTH or begin[7] != 0:
        raise ArchiveError(f"{name} is not an array in the NPY format 1.0 or 2.0")
    form = _LENGTH[begin[6]]
    size = struct.calcsize(form)
    (length,) = struct.unpack(form, _some(stream, size, name))
    if length > _LONGEST:
        raise ArchiveError(f"{name} has an NPY header of {length} bytes")
    text = _some(stream, length, name).decode("latin1")
    fields = {}
    for field, pattern in _FIELDS.items():
        match = pattern.search(text)
        if match is None:
            raise ArchiveError(
                f"{name} is no array of plain numbers or text (by the {field} in its NPY header): "
                "pickles, for one, are not read"
            )
        fields[field] = match
        text = text[: match.start()] + text[match.end() :]
        # One after the other, so that no text can stand for two of them.
    if not _PUNCTUATION.fullmatch(text):
        raise ArchiveError(f"{name} has an NPY header with more than an array has")
    dtype = np.dtype(fields["descr"][1]).str
    shape = tuple(int(part) for part in fields["shape"][1].split(",") if part.strip())
    if len(shape) > 8:
        raise ArchiveError(f"{name} has {len(shape)} dimensions")
    return Plain(dtype, shape), fields["order"][1] == "True", 8 + size + length


def _refuse_no_text(data: bytearray, found: Plain, name: str) -> None:
    """Characters beyond Unicode would make whoever reads them fail, later on."""
    if "U" in found.dtype and len(data):
        codes = np.frombuffer(data, f"{found.dtype[0]}u4")
        if codes.max() > sys.maxunicode:
            raise ArchiveError(f"{name} is an array of text, but not all of it is text")


def _some(stream: Any, size: int, name: str) -> bytes:
    out: bytes = stream.read(size)
    if len(out) < size:
        raise ArchiveError(f"{name} ends within its NPY header")
    return out


@contextmanager
def _in_words(what: str) -> Iterator[None]:
    """One kind of error for whatever a damaged archive may cause; not for disks that fail."""
    try:
        yield
    except ArchiveError:
        raise
    except _BROKEN as error:
        raise ArchiveError(f"{what} ({str(error) or type(error).__name__})") from error
    except OSError as error:
        if error.errno not in (errno.EINVAL, None):
            raise
        raise ArchiveError(f"{what} ({error})") from error
