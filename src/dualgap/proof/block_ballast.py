"""The ballast of a loss of many classes with an intercept, in time that grows with K².

A dual variable that moves takes from its label what it gives to another class: it is an edge of a
graph of classes. An imbalance can be taken up if the edges of the ballast connect the classes that
have one. The longest edges that do so form a forest (Kruskal 1956).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.compile.kernels import kernel
from dualgap.linalg.validate import Floats
from dualgap.losses.offset import own_classes


def forest_of_candidates(
    problem: Any, room: Floats, x: Floats
) -> tuple[list[tuple[int, int]], Floats]:
    """Pairs of a sample and the class that moves, and how far: a forest of the samples that can
    move furthest for their label and class, in units of the constraint of the free feature x."""
    best = np.full((problem.width, problem.width), -1)
    _find_roomiest(problem.y, problem.c, room, x, best, np.zeros(best.shape))
    labels, classes = np.nonzero(best >= 0)
    samples = best[labels, classes]
    far = room[samples, classes]
    sizes = np.abs(problem.c[samples] * far * x[samples])
    places = _forest(labels, classes, samples, sizes)
    found = [(int(samples[e]), int(classes[e])) for e in places]
    return found, far[places]


@kernel
def _find_roomiest(y: Any, c: Any, room: Any, x: Any, best: Any, most: Any) -> None:
    for i in range(len(y)):
        label = int(y[i].real)
        for k in range(room.shape[1]):
            size = (c[i] * room[i, k] * x[i]) ** 2
            if k != label and most[label, k] < size < np.inf:
                best[label, k], most[label, k] = i, size


def spanning_forest(candidates: Any) -> list[int]:
    """The same from candidates of several partitions: their places."""
    own = candidates
    sizes = np.abs(own.c * own.room * own.X[:, own.free[0]])
    return _forest(own_classes(own.y), own.classes, own.samples, sizes)


def _forest(labels: Any, classes: Any, samples: Any, sizes: Floats) -> list[int]:
    """The places of edges that connect as many classes as possible, the longest first; each of
    another sample."""
    parent: dict[int, int] = {}
    used: set[int] = set()
    found: list[int] = []

    def root(k: int) -> int:
        while parent.setdefault(k, k) != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    for e in np.argsort(-sizes, kind="stable").tolist():
        one, other, sample = root(int(labels[e])), root(int(classes[e])), int(samples[e])
        if one != other and sample not in used and 0.0 < sizes[e] < np.inf:
            parent[one] = other
            used.add(sample)
            found.append(e)
    return found
