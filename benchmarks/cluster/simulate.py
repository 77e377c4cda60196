"""How long a fit would take on a larger cluster: arithmetic, with these assumptions.

- A node has ``CORES`` cores. Each core reads as many entries per second as one was measured to read
  here, and holds one partition.
- Rounds to a gap depend on the number of partitions as measured with up to 64 of them at λ = 1/n,
  as if the number of samples made no difference. Beyond 64 partitions they grow with the number of
  partitions, which is the worst that theory allows.
- The driver sends u to each node and gets as much back, one node after the other, at ``BANDWIDTH``;
  each exchange takes ``LATENCY`` besides. (A tree would take log₂ of the nodes instead.)
- No node fails, and none is slower than the others.
"""

from __future__ import annotations

SAMPLES, ENTRIES, FEATURES = 1e9, 50, 1e6
CORES = 1
LATENCY = 0.03  # seconds: a round of Dask futures, as measured for short vectors
BANDWIDTH = 1.25e9  # bytes per second: 10 Gbit/s
NODES = (1, 2, 4, 8, 16, 32, 64)
EPOCHS = 4


def scaled(rounds: dict[int, float], speed: float) -> tuple[list[str], list[list[object]]]:
    """Header and rows of a table: nodes, rounds, seconds of a round and of a fit, memory."""
    lines: list[list[object]] = []
    alone = 0.0
    for nodes in NODES:
        partitions = nodes * CORES
        needed = rounds.get(partitions) or rounds[max(rounds)] * partitions / max(rounds)
        local = (EPOCHS + 1) * SAMPLES * ENTRIES / partitions / speed
        exchange = LATENCY + 2.0 * nodes * 8.0 * FEATURES / BANDWIDTH
        hours = needed * (local + exchange) / 3600.0
        alone = alone or hours
        memory = SAMPLES * (ENTRIES * 12.0 + 40.0) / nodes / 1e9
        lines.append(
            [str(nodes), f"{needed:.0f}", local, exchange, hours, alone / hours, f"{memory:.0f}"]
        )
    names = ["nodes", "rounds", "local s a round", "exchange s", "hours", "speed-up", "GB a node"]
    return names, lines
