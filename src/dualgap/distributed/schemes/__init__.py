"""Schemes: what the K partitions do between two exchanges of u, and why that is safe."""

from __future__ import annotations

from typing import Any

from dualgap.distributed.data.block import Block
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


def scheme_named(name: Any, skeleton: Block, work: Any) -> Scheme:
    """A new scheme, for one run; "auto" is the one that needs the fewest rounds, but schemes with
    epochs if ``work`` says how many."""
    if isinstance(name, str) and name == "auto":
        if not (isinstance(work, str) and work == "auto"):
            return CocoaPlus("cocoa+", how="since work says how many epochs", chosen=True)
        newton = NewtonScheme("newton", chosen=True)
        refusal = newton.refusal(skeleton)
        if refusal is None:
            return newton
        return CocoaPlus("cocoa+", how=f"since for Newton steps {refusal}", chosen=True)
    if not isinstance(name, str) or name not in SCHEMES:
        raise ValueError(unknown("scheme", str(name), ["auto", *SCHEMES]))
    return SCHEMES[name](name)
