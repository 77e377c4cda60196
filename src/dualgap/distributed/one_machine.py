"""Whether one machine would do: a cluster on one machine only adds exchanges."""

from __future__ import annotations

import os
from typing import Any

from dualgap.distributed.engines.protocol import Engine
from dualgap.distributed.tuning import TUNING


def advice(engine: Engine, nbytes: float, path: Any) -> str | None:
    """Words for data of some size, read from a file if there is a ``path``; None if they are few,
    or if there are several machines."""
    if nbytes < TUNING.worth_a_word or not engine.on_this_machine:
        return None
    size = f"{nbytes / 1e9:.2g} GB"
    if path is not None:
        return (
            f"{path} takes {size} and all workers are on this machine, which reads it faster alone:"
            f" dualgap.datasets.convert({path!r}, folder) once, then dualgap.datasets.open_folder("
            "folder) gives X and y, which stay on disk"
        )
    if nbytes > 0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        return None
    return (
        f"the data take {size} and all workers are on this machine, whose memory holds them: "
        "the estimators of dualgap and dualgap.solve fit them without exchanges"
    )
