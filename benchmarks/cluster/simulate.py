"""How long a fit would take on a larger cluster: arithmetic, with measured constants.

- A node has one core and one partition. It makes the tasks of a round as fast as one core here does
  (``local_seconds`` measures them on a small partition, in seconds of its thread).
- Newton steps take as many exchanges as measured (``rounds.py``), whatever the number of
  partitions, and ``PROOF`` more for the proof.
- An exchange takes ``LATENCY`` for each level of a binary tree, along which workers fetch the
  coefficients from each other at ``BANDWIDTH``. The driver receives one answer after the other.
- ``SERIAL``: the driver solves a sample of 64 MB while the workers wait.
- No node fails, and none is slower than the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil, log2
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cluster.data import rows
from benchmarks.cluster.table import table
from dualgap.distributed.data.block import Block, ModelSpec, RawData, Totals
from dualgap.distributed.messages import compact
from dualgap.distributed.schemes.newton_tasks import (
    ProductQuestion,
    Question,
    hessian_product,
    sample_sums,
)
from dualgap.losses import Logistic
from dualgap.penalties import L2

SAMPLES, ENTRIES = 1e9, 50
LATENCY = 0.03  # seconds: a round of Dask futures, as measured for short vectors
BANDWIDTH = 1.25e9  # bytes per second: 10 Gbit/s
NODES = (1, 2, 4, 8, 16, 32, 64)
PROOF = 8
SERIAL = 5.0


class Case(NamedTuple):
    """Exchanges to the gap, bytes out and back, and seconds that one core needs for a sample."""

    name: str
    rounds: int
    out: float
    back: float
    sample: float
    serial: float


def _block(n: int, d: int, *, dense: bool) -> Block:
    X, y = rows(n, d, ENTRIES, even=True)
    X = np.ascontiguousarray(X.toarray()[:, :ENTRIES]) if dense else X
    totals = Totals(X.shape[1], n, float(n), 1, n, np.array([-1.0, 1.0]))
    return Block(RawData(X, y), ModelSpec(Logistic(), L2(), 1e-6, True), totals)


def local_seconds(block: Block, task: Callable[..., Any], question: Callable[[int], Any]) -> float:
    """Seconds of a sample in a task, on one core: the least of a few."""
    a, least = np.zeros(block.n), np.inf
    for turn in range(5):
        asked = question(turn)
        began = time.thread_time()
        task(block, a, 0, asked)
        least = min(least, time.thread_time() - began)
    return least / block.n


def cases() -> list[Case]:
    """Few features with whole Hessians, and a million of them by products."""
    few, many = _block(100_000, 400, dense=True), _block(100_000, 1_000_000, dense=False)

    def whole(turn: int) -> Question:
        at = compact(np.full(few.d, 0.01 * turn))
        return Question(at, at, 1.0, 0.0, True, (0.5, 0.25))

    def product(turn: int) -> ProductQuestion:
        at = compact(np.full(many.d, 0.01))
        return ProductQuestion(at, compact(np.full(many.d, 1.0 + turn)))

    size = float(few.d)
    return [
        Case("50 features, Hessians", 8, 16.0 * size, 4.0 * size**2,
             local_seconds(few, sample_sums, whole), SERIAL),
        Case("1e6 features, products", 40, 16e6, 8e6,
             local_seconds(many, hessian_product, product), 0.0),
    ]  # fmt: skip


def seconds(case: Case, nodes: int) -> tuple[float, float, float]:
    """Of a fit, of the local work of a round, and of its exchange."""
    levels = max(ceil(log2(nodes)), 1)
    local = case.sample * SAMPLES / nodes
    exchange = levels * (LATENCY + case.out / BANDWIDTH) + nodes * case.back / BANDWIDTH
    return (case.rounds + PROOF) * (local + exchange) + case.serial, local, exchange


def main() -> None:
    for case in cases():
        alone, lines = seconds(case, 1)[0], []
        for nodes in NODES:
            whole, local, exchange = seconds(case, nodes)
            memory = SAMPLES * ENTRIES * 12.0 / nodes / 1e9
            lines.append(
                [str(nodes), local, exchange, whole / 60.0, alone / whole, f"{memory:.0f}"]
            )
        print(f"{case.name}, {case.rounds} + {PROOF} exchanges:\n")
        names = "nodes,local s a round,exchange s,minutes,speed-up,GB a node"
        table(names.split(","), lines)


if __name__ == "__main__":
    main()
