"""Helpers that the laws share: where they are checked, and how a broken one is reported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats

POINTS = np.concatenate([-np.geomspace(30, 1e-3, 12), [0.0], np.geomspace(1e-3, 30, 12)])
SLOPES = np.concatenate([-np.geomspace(5, 1e-6, 10), [0.0], np.geomspace(1e-6, 5, 10)])


def holds(condition: Any, sentence: str, **at: Any) -> None:
    if not condition:
        where = ", ".join(f"{name}={value!r}" for name, value in at.items())
        raise AssertionError(f"{sentence} (at {where})")


def room(*terms_: float) -> float:
    """How far rounding errors may move a sum of such terms."""
    return 1e-11 * (1.0 + sum(abs(term) for term in terms_))


def check_marginals(drawn: Any, p: Floats, draws: int) -> None:
    """``drawn`` holds each index as often as ``draws`` draws with probabilities p would."""
    counts, expected = np.bincount(drawn, minlength=len(p)), draws * p
    holds((counts[p == 0.0] == 0).all(), "a weight of zero is never drawn", counts=counts)
    sigma = np.sqrt(expected * (1.0 - p) + 1e-9)
    holds(
        (np.abs(counts - expected) <= 5.0 * sigma + 1.0).all(),
        "marginals differ from the weights",
        counts=counts,
        expected=expected,
    )


def check_compiled(compiled: Any, plain: Any, obj: Any, points: Iterable[tuple[Any, ...]]) -> None:
    """The compiled rules are the Python rules."""
    for point in points:
        expected = np.array(plain(*point), dtype=float)
        found = np.empty(len(expected))
        compiled(obj, *point, found)
        holds(
            np.allclose(found, expected, rtol=1e-12, atol=1e-12),
            "a compiled rule differs from the Python one",
            point=point,
            found=found,
            expected=expected,
        )
