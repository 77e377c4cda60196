"""What an experiment consists of: a task (data, loss, penalty, λ), contenders, seeds and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from dualgap import __version__, datasets
from dualgap.methods import METHODS
from dualgap.problem import Problem
from papers import made


@dataclass(frozen=True)
class Task:
    """A problem, in words that can be kept in a file.

    ``data``  a name of ``datasets``, or of ``made`` for data that is constructed
    ``lam``   a number, or "1/n", or "1/sqrt(n)"
    ``rows``  only so many rows, taken at random: for quick looks
    ``cut``   only so many columns of these, empty rows and columns removed
    """

    data: str
    loss: str
    lam: float | str
    penalty: str = "l2"
    rows: int | None = None
    cut: int | None = None


@dataclass(frozen=True)
class Contender:
    """A method in a race; ``style`` picks colour and marker, the same in all figures of a paper."""

    label: str
    step: Any
    sampling: Any
    style: int = 0
    dashed: bool = False
    legend: str = ""  # where several share a line of the legend

    @classmethod
    def named(cls, label: str, method: str, style: int, **changes: Any) -> Contender:
        """A method by name; ``changes`` replace its step or sampling."""
        chosen = METHODS[method]
        return cls(
            label,
            changes.pop("step", chosen.step),
            changes.pop("sampling", chosen.sampling),
            style,
            **changes,
        )


@dataclass(frozen=True)
class Limits:
    """When a run ends: at a certified gap, after so many epochs, or after so many seconds."""

    gap: float
    epochs: int
    seconds: float | None = None


@dataclass(frozen=True)
class Run:
    """One contender on one task with one seed. ``timed`` runs have the machine for themselves."""

    task: Task
    contender: Contender
    seed: int
    limits: Limits
    timed: bool = False

    @property
    def spec(self) -> dict[str, Any]:
        """What the result depends on."""
        spec: dict[str, Any] = {
            "version": __version__,
            "data": self.task.data,
            "rows": self.task.rows,
            "cut": self.task.cut,
            "loss": self.task.loss,
            "penalty": self.task.penalty,
            "lam": self.task.lam,
            "step": repr(self.contender.step),
            "sampling": repr(self.contender.sampling),
            "seed": self.seed,
            "gap": self.limits.gap,
            "epochs": self.limits.epochs,
            "seconds": self.limits.seconds,
        }
        return spec

    @property
    def weight(self) -> float:
        """A guess of the work, for the progress bar; runs without a limit of time count double."""
        n, entries = extent(self.task)
        passes = self.limits.epochs * (n if self.contender.sampling.refresh == "step" else 4.0)
        guess = 3e-9 * entries * passes
        return float(min(guess, self.limits.seconds or math.inf)) + 0.1


def seeds(run: Run, count: int) -> tuple[Run, ...]:
    """The same run with the seeds 0, 1, ..."""
    return tuple(replace(run, seed=seed) for seed in range(count))


@dataclass(frozen=True, eq=False)
class Instance:
    """A task with its data."""

    problem: Problem
    name: str
    synthetic: bool
    source: str


def file_of(task: Task) -> str | None:
    """The name of the file that the task reads; None for data that is made or cannot be had."""
    path = None if made.is_made(task.data) else datasets.locate(task.data)
    return None if path is None else path.name


@lru_cache(maxsize=2)
def instance(task: Task) -> Instance:
    """The problem behind a task. Data that cannot be had is replaced by a labelled stand-in."""
    name, synthetic, source, X, y = _sampled(task.data, task.rows, task.cut)
    lam = {"1/n": 1.0 / len(y), "1/sqrt(n)": len(y) ** -0.5}.get(str(task.lam), task.lam)
    problem = Problem(X, y, task.loss, task.penalty, float(lam))
    return Instance(problem, name, synthetic, source)


@lru_cache(maxsize=2)
def _sampled(data: str, rows: int | None, cut: int | None) -> tuple[str, bool, str, Any, Any]:
    found = _loaded(data)
    X, y, name = found.X, found.y, found.name
    if not made.is_made(data) and data not in name:
        name = f"{name} (for {data})"
    rng = np.random.default_rng(0)
    if rows is not None and rows < X.shape[0]:
        kept = np.sort(rng.choice(X.shape[0], rows, replace=False))
        X, y = X[kept], y[kept]
    if cut is not None and cut < X.shape[1]:
        X = X[:, np.sort(rng.choice(X.shape[1], cut, replace=False))]
    if cut is not None:
        filled = np.flatnonzero(X.getnnz(axis=1))
        X, y = X[filled], y[filled]
        X = X[:, np.flatnonzero(X.getnnz(axis=0))]
    if X.shape != found.X.shape:
        name = f"part of {name}"
    return name, found.synthetic, found.source, X, y


@lru_cache(maxsize=2)
def _loaded(data: str) -> Any:
    if made.is_made(data):
        return made.load(data)
    # Whatever can be had has been fetched beforehand: see reproduce.py.
    return datasets.load(data, missing="synthetic", download=False)


@lru_cache(maxsize=64)
def extent(task: Task) -> tuple[float, float]:
    """About how many samples and entries a task has, without loading it."""
    if made.is_made(task.data):
        return made.extent(task.data)
    entry = datasets.registry.ENTRIES[task.data]
    n = min(entry.n, task.rows or entry.n)
    d = min(entry.d, task.cut or entry.d)
    return float(n), float(n * d * entry.density)
