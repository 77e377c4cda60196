"""A loss with an offset for each sample: φ(z + o; y).

Kernels know a sample by its target alone, so that the target carries the offset: as a complex
number y + i·o, or for a block loss y + i·k, where k is the row of the sample's offsets. Parts of
the samples then need nothing but their targets.

Losses of y − z alone (``of_difference = True``) need no wrapper: an offset lowers their targets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.kernels import helper
from dualgap.compile.rules import (
    conj,
    conj_size,
    curvature,
    dual_step,
    dual_step_into,
    face,
    project,
    project_into,
    slope,
    slope_into,
    target_size,
    value,
    value_size,
)
from dualgap.linalg.validate import Floats


class Offset(NamedTuple):
    """A loss of one decision value; its conjugate is φ*(−a; y) + a·o."""

    base: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)  # constants and what only Python asks for

    def value(self, z, y):
        return value(self.base, z + y.imag, y.real)

    def slope(self, z, y):
        return slope(self.base, z + y.imag, y.real)

    def curvature(self, z, y):
        return curvature(self.base, z + y.imag, y.real)

    def conj(self, a, y):
        return conj(self.base, a, y.real) + a * y.imag

    def target_size(self, y):
        return target_size(self.base, y.real)

    def value_size(self, z, y):
        return value_size(self.base, z + y.imag, y.real)

    def conj_size(self, a, y):
        return conj_size(self.base, a, y.real)

    def project(self, a, y):
        return project(self.base, a, y.real)

    def dual_step(self, a, z, q, y):
        return dual_step(self.base, a, z + y.imag, q, y.real)


class OffsetOfPieces(Offset):
    """The same for a loss whose conjugate is made of pieces."""

    __slots__ = ()

    def face(self, a, y):
        low, high, bend, tilt = face(self.base, a, y.real)
        return low, high, bend, tilt + y.imag


class BlockOffset(NamedTuple):
    """A block loss; ``offsets`` has a row for each sample."""

    base: Any
    offsets: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def offset_size(self, y):
        total = 0.0
        for o in self.offsets[int(y.imag)]:
            total += o * o
        return total**0.5

    def value(self, z, y):
        return value(self.base, z + self.offsets[int(y.imag)], y.real)

    def slope_into(self, z, y, out):
        slope_into(self.base, z + self.offsets[int(y.imag)], y.real, out)

    def conj(self, a, y):
        return conj(self.base, a, y.real) + _product(a, self.offsets[int(y.imag)], int(y.real))

    def project_into(self, a, y, out):
        project_into(self.base, a, y.real, out)

    def dual_step_into(self, a, z, q, y, out):
        dual_step_into(self.base, a, z + self.offsets[int(y.imag)], q, y.real, out)


@helper
def _product(a: Any, offsets: Any, y: int) -> float:
    """a·o, where the entry of a for y is the sum of the others' negatives."""
    total = 0.0
    for k in range(len(a)):
        if k != y:
            total += a[k] * (offsets[k] - offsets[y])
    return total


def with_offset(loss: Any, y: Any, offset: Floats, *, block: bool) -> tuple[Any, Any]:
    """A loss and targets that stand for φ(z + o; y)."""
    if block:
        return BlockOffset(loss, offset), y + 1j * np.arange(len(y))
    if getattr(loss, "of_difference", False):
        return loss, y - offset
    return (OffsetOfPieces if hasattr(loss, "face") else Offset)(loss), y + 1j * offset


def own_classes(y: Any) -> Any:
    """For targets of a block loss, the class of each sample as an index."""
    return np.real(y).astype(np.int64)
