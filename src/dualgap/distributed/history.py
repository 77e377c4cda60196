"""What a distributed fit writes down of each round."""

from __future__ import annotations

from dualgap.linalg.validate import Floats
from dualgap.run.solution import History


class RoundHistory(History):
    """A row for each round, and one for the start; to the columns of ``History`` come

    ``work``           local epochs, or τ
    ``round_seconds``  of the round, from the driver's point of view
    ``local_seconds``  of the busiest process in it
    ``sent``           bytes of u and of coefficients to be judged, for all partitions
    ``received``       bytes of what u changes by, from all partitions
    ``workers``        how many there were
    ``lost``           partitions that were set back before the round
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
