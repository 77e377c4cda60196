"""The problems whose rounds and seconds are measured, by name.

Data sets are read from the folder that DUALGAP_DATA names, the others are generated.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dualgap import Problem
from dualgap.datasets import load


class Task(NamedTuple):
    """A problem, and the most rounds that it may take."""

    problem: Callable[[], Problem]
    most: int


@cache
def _read(name: str) -> tuple[Any, Any]:
    data = load(name, download=False)
    return data.X, data.y


@cache
def _numbers(n: int, d: int) -> tuple[Any, Any]:
    """Gaussian features and a noisy linear target."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X @ rng.standard_normal(d) / np.sqrt(d) + rng.standard_normal(n)


def _signs(n: int, d: int) -> tuple[Any, Any]:
    X, y = _numbers(n, d)
    return X, np.sign(y)


def _named(name: str, loss: str, penalty: str = "l2", lam: float | None = None) -> Problem:
    X, y = _read(name)
    return Problem(X, y, loss, penalty, lam or 1.0 / len(y), intercept=True)


def _tall(loss: str, penalty: str, lam: float) -> Problem:
    data = _numbers(2_000_000, 30) if loss == "squared" else _signs(2_000_000, 30)
    return Problem(*data, loss, penalty, lam, intercept=True)


def _square(loss: str) -> Problem:
    X, y = _signs(40_000, 500)
    return Problem(X, y, loss, "l2", 1.0 / len(y), intercept=True)


COVTYPE, CLASSES = "covtype.binary.scale01", "covtype.multi.scale01"
TEXT = "rcv1_subsets.binary"
TASKS: dict[str, Task] = {
    "covtype logistic": Task(lambda: _named(COVTYPE, "logistic"), 40),
    "covtype hinge": Task(lambda: _named(COVTYPE, "hinge"), 40),
    "covtype squared hinge": Task(lambda: _named(COVTYPE, "squared-hinge"), 40),
    "covtype 7 classes": Task(lambda: _named(CLASSES, "softmax"), 40),
    "2e6 x 30 logistic": Task(lambda: _tall("logistic", "l2", 1e-6), 40),
    "2e6 x 30 Lasso": Task(lambda: _tall("squared", "l1", 0.01), 40),
    "40,000 x 500 squared hinge": Task(lambda: _square("squared-hinge"), 40),
    "40,000 x 500 hinge": Task(lambda: _square("hinge"), 40),
    "rcv1 logistic": Task(lambda: _named(TEXT, "logistic"), 150),
    "rcv1 L1 logistic": Task(lambda: _named(TEXT, "logistic", "l1", 1e-4), 150),
    "rcv1 Lasso": Task(lambda: _named(TEXT, "squared", "l1", 3e-4), 150),
}
