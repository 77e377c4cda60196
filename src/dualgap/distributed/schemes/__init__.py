"""Schemes: what the K partitions do between two exchanges of u, and why that is safe."""

from __future__ import annotations

from typing import Any

from dualgap.distributed.schemes.base import Scheme
from dualgap.distributed.schemes.local_steps import CocoaPlus, DisDCAScheme
from dualgap.distributed.schemes.newton import NewtonScheme
from dualgap.distributed.schemes.quartz import DistributedQuartz
from dualgap.linalg.validate import unknown

SCHEMES: dict[str, type[Scheme]] = {
    "cocoa+": CocoaPlus,
    "disdca": DisDCAScheme,
    "quartz": DistributedQuartz,
    "newton": NewtonScheme,
}


def scheme_named(name: Any) -> Scheme:
    """A new scheme, for one run."""
    if not isinstance(name, str) or name not in SCHEMES:
        raise ValueError(unknown("scheme", str(name), SCHEMES))
    return SCHEMES[name](name)
