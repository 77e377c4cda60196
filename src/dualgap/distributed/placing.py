"""Which worker should hold which partition: evenly, and with as few moves as possible."""

from __future__ import annotations

from collections.abc import Sequence


def placed(before: dict[int, str], workers: Sequence[str], size: int) -> dict[int, str]:
    """A worker for each of ``size`` partitions; those with a place keep it if that is fair."""
    most = -(-size // len(workers))
    lists: dict[str, list[int]] = {worker: [] for worker in workers}
    homeless = []
    for k in range(size):
        home = before.get(k)
        if home in lists and len(lists[home]) < most:
            lists[home].append(k)
        else:
            homeless.append(k)
    for k in homeless:
        min(lists.values(), key=len).append(k)
    while True:
        few, many = min(lists.values(), key=len), max(lists.values(), key=len)
        if len(many) - len(few) < 2:
            return {k: worker for worker, own in lists.items() for k in own}
        few.append(many.pop())
