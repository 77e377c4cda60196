"""The history of a distributed fit: one row for each round."""

from __future__ import annotations

from dualgap.linalg.validate import Floats
from dualgap.run.solution import History


class RoundHistory(History):
    """A row for the start and one for each round, with more columns than ``History``.

    ``work``           local epochs, or τ
    ``round_seconds``  seconds of the round, measured by the driver
    ``local_seconds``  seconds that the busiest process worked in it
    ``sent``           bytes of u and of coefficients for gap checks, to all partitions
    ``received``       bytes of changes of u, from all partitions
    ``workers``        the number of workers
    ``lost``           partitions that were restored from a copy before the round
    """

    columns = (
        *History.columns,
        "work", "round_seconds", "local_seconds", "sent", "received", "workers", "lost",
    )  # fmt: skip

    work: Floats
    round_seconds: Floats
    local_seconds: Floats
    sent: Floats
    received: Floats
    workers: Floats
    lost: Floats
