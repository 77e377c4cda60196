"""ZIP archives of arrays and text, behind checkpoints and model files.

Reading executes nothing and trusts nothing. Up to three places state how large a member is: the
directory of the archive, the NPY header of the array, and a list in the header of the file. They
must agree before memory is allocated. A compressed member is unpacked in chunks, never beyond the
size in the directory; what the directory may state is limited (limits.py).
"""

from __future__ import annotations

import errno
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dualgap.files import npy
from dualgap.files.errors import MALFORMED, ArchiveError, TooLargeError
from dualgap.files.limits import LIMITS
from dualgap.files.npy import ArrayHeader

# What zipfile and zlib raise for a damaged archive.
_BROKEN = (
    *MALFORMED,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,  # a compression method that this Python lacks
    RuntimeError,  # a password
)


class ArchiveWriter:
    """Writes members to an open file. Use it as a context manager."""

    def __init__(self, file: BinaryIO, *, compressed: bool = False) -> None:
        kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
        self._zip = zipfile.ZipFile(file, "w", kind)

    def __enter__(self) -> ArchiveWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    @property
    def members(self) -> dict[str, list[int]]:
        """The size and the checksum of each member so far, by name."""
        return {info.filename: [info.file_size, info.CRC] for info in self._zip.infolist()}

    def text(self, name: str, content: str) -> None:
        """Add a text."""
        self._zip.writestr(name, content)

    def array(self, name: str, array: Any) -> None:
        """Add an array in NPY format."""
        with self._zip.open(name, "w", force_zip64=True) as member:
            np.lib.format.write_array(member, array, allow_pickle=False)


class Archive:
    """An open archive whose directory has been checked. Use it as a context manager.

    ``limit`` bounds the total size of all members; by default a gigabyte, or eight times the size
    of the file if that is more. ``stored`` refuses compressed members.
    """

    def __init__(self, path: Path, limit: int | None = None, *, stored: bool = False) -> None:
        self._file: BinaryIO = open(path, "rb")  # noqa: SIM115 (closed by __exit__)
        try:
            self.size = self._file.seek(0, 2)
            self.limit = LIMITS.unpacked(self.size) if limit is None else limit
            with _in_words("the directory of the archive is damaged"):
                self._zip = zipfile.ZipFile(self._file)
                self._members = self._checked(stored)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    @property
    def names(self) -> list[str]:
        """The names of the members, in the order of the directory."""
        return list(self._members)

    def stated(self, name: str) -> list[int]:
        """The size and the checksum of a member, according to the directory."""
        member = self._member(name)
        return [member.file_size, member.CRC]

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of a member, at most ``limit``."""
        size = self._member(name).file_size
        if size > limit:
            raise TooLargeError(f"{name} claims {size:,} bytes, but at most {limit:,} are allowed")
        with self._opened(name) as stream:
            return bytes(_read_exactly(stream, size, name))

    def array(self, name: str, stated: ArrayHeader | None = None) -> Any:
        """An array in NPY format; ``stated`` is what the header of the file says of it."""
        size = self._member(name).file_size
        with self._opened(name) as stream:
            found, fortran, before = npy.read_header(stream, name)
            if stated is not None and found != stated:
                raise ArchiveError(
                    f"{name} is an array of {found.dtype} with shape {found.shape}, but the header "
                    f"states {stated.dtype} with shape {stated.shape}"
                )
            if before + found.nbytes != size:
                raise ArchiveError(
                    f"{name} claims the shape {found.shape}, which does not fit its {size} bytes"
                )
            data = _read_exactly(stream, found.nbytes, name)
            npy.check_text(data, found, name)
            return np.ndarray(found.shape, found.dtype, data, order="F" if fortran else "C")

    def _checked(self, stored: bool) -> dict[str, zipfile.ZipInfo]:
        """The members by name, if the directory makes sense."""
        members: dict[str, zipfile.ZipInfo] = {}
        unpacked = packed = 0
        for member in self._zip.infolist():
            name = member.filename
            if name in members:
                raise ArchiveError(f"{name} occurs twice")
            members[name] = member
            _check_member(member, stored)
            unpacked += member.file_size
            packed += member.compress_size
        if packed > self.size:  # members that share their bytes
            raise ArchiveError("its members claim to be longer than the file")
        if unpacked > self.limit:
            raise TooLargeError(
                f"its members claim {unpacked:,} bytes, but at most {self.limit:,} are allowed"
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


def _check_member(member: zipfile.ZipInfo, stored: bool) -> None:
    name, size, packed = member.filename, member.file_size, member.compress_size
    if member.flag_bits & 0x1:
        raise ArchiveError(f"{name} is encrypted")
    if member.compress_type == zipfile.ZIP_STORED:
        fits = size == packed
    elif member.compress_type == zipfile.ZIP_DEFLATED and not stored:
        fits = size <= LIMITS.deflate_ratio * packed
    else:
        kinds = "stored" if stored else "stored or deflated"
        raise ArchiveError(f"{name} is packed in a way other than {kinds}")
    if not fits:
        raise ArchiveError(f"{name} claims {size} bytes, which {packed} cannot hold")


def _read_exactly(stream: Any, size: int, name: str) -> bytearray:
    """The next ``size`` bytes, which must be the last ones: zipfile then compares the checksum."""
    out = bytearray()
    while len(out) < size:
        piece = stream.read(min(LIMITS.chunk, size - len(out)))
        if not piece:
            raise ArchiveError(f"{name} ends after {len(out)} of {size} bytes")
        out += piece
    stream.read(1)  # zipfile checks the checksum at the end of a member
    return out


@contextmanager
def _in_words(what: str) -> Iterator[None]:
    """Turn what a damaged archive causes into an ``ArchiveError``; failures of the disk pass."""
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
