"""How much a file may make us read or allocate, before anything in it is believed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes. They trade the largest honest file against what a forged one can cost; none
    of them was measured, each is far above the sizes that dualgap writes.
    """

    # Any archive may unpack to this much: arrays of one number compress a thousand to one, so no
    # ratio tells them from bombs ...
    always_allowed: int = 2**30
    # ... and a large file to this many times its size: numbers that differ compress no better.
    unpacked_ratio: int = 8
    # No member can unpack to more than this many times its size: what deflate can do at best.
    deflate_ratio: int = 1032
    # Members are unpacked in chunks of this size, so one that lies about its size is cut short.
    chunk: int = 1 << 20
    # Headers of NPY members; NumPy writes 118 bytes for plain arrays.
    npy_header: int = 10_000
    # The header of a checkpoint has a line for each array and number of the state.
    checkpoint_header: int = 2**24
    # The header of a model, or this many times its size in the file: text compresses no better, and
    # JSON takes many times its length in memory.
    model_header: int = 2**22
    model_header_ratio: int = 32

    def unpacked(self, file_size: int) -> int:
        """The most that a file of this size may unpack to, unless the caller allows more."""
        return max(self.always_allowed, self.unpacked_ratio * file_size)


LIMITS = Limits()
