"""What is run: a problem (data, loss, penalty, λ), a contender, a seed and limits."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dualgap import datasets
from dualgap.datasets.open import open_data
from dualgap.files.describe import identity_text
from dualgap.methods import METHODS
from dualgap.problem import Problem
from papers import made
from papers.sources import code_of


@dataclass(frozen=True)
class ProblemSpec:
    """A problem in words that a file can hold.

    ``data``  a name of ``dualgap.datasets``, or of ``made.py`` for constructed data, or the path
              of a file of one's own
    ``lam``   a number, "1/n" or "1/sqrt(n)"
    ``rows``  use only this many rows, drawn at random: for quick runs
    ``cut``   keep only this many columns, then remove empty rows and columns
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
    legend: str = ""  # if several contenders share a line of the legend

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
    """When a run ends: at a certified gap, or after a number of epochs or seconds."""

    gap: float
    epochs: int
    seconds: float | None = None


@dataclass(frozen=True)
class Run:
    """One contender on one problem with one seed. ``timed`` runs have the machine to themselves."""

    problem: ProblemSpec
    contender: Contender
    seed: int
    limits: Limits
    timed: bool = False

    @property
    def spec(self) -> dict[str, Any]:
        """What the result depends on."""
        step, sampling = self.contender.step, self.contender.sampling
        spec: dict[str, Any] = {
            "code": code_of(self.problem.loss, self.problem.penalty, step, sampling),
            "data": self.problem.data,
            "rows": self.problem.rows,
            "cut": self.problem.cut,
            "loss": self.problem.loss,
            "penalty": self.problem.penalty,
            "lam": self.problem.lam,
            "step": identity_text(step),
            "sampling": identity_text(sampling),
            "seed": self.seed,
            "gap": self.limits.gap,
            "epochs": self.limits.epochs,
            "seconds": self.limits.seconds,
        }
        return spec

    @property
    def weight(self) -> float:
        """A guess of the seconds, for the progress bar."""
        n, entries = extent(self.problem)
        passes = self.limits.epochs * (n if self.contender.sampling.refresh == "step" else 4.0)
        guess = 3e-9 * entries * passes
        return float(min(guess, self.limits.seconds or math.inf)) + 0.1


def seeds(run: Run, count: int) -> tuple[Run, ...]:
    """The same run with the seeds 0, 1, ..."""
    return tuple(replace(run, seed=seed) for seed in range(count))


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with its data."""

    problem: Problem
    name: str
    synthetic: bool
    source: str


def file_of(spec: ProblemSpec) -> str | None:
    """The name of the data file; None if the data are constructed or not available."""
    if Path(spec.data).is_file():
        return f"{spec.data} {_digest(spec.data)}"
    path = None if made.is_made(spec.data) else datasets.locate(spec.data)
    return None if path is None else path.name


@lru_cache(maxsize=2)
def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]


@lru_cache(maxsize=2)
def instance(spec: ProblemSpec) -> Instance:
    """Load a problem. Data that are not available are replaced by a labelled stand-in."""
    name, synthetic, source, X, y = _sampled(spec.data, spec.rows, spec.cut)
    lam = {"1/n": 1.0 / len(y), "1/sqrt(n)": len(y) ** -0.5}.get(str(spec.lam), spec.lam)
    problem = Problem(X, y, spec.loss, spec.penalty, float(lam))
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
    if Path(data).is_file():
        table = open_data(data)
        return datasets.Dataset(Path(data).name, table.X, table.y, False, f"your file {data}")
    # reproduce.py has downloaded what is available.
    return datasets.load(data, missing="synthetic", download=False)


@lru_cache(maxsize=64)
def extent(spec: ProblemSpec) -> tuple[float, float]:
    """Roughly how many samples and entries a problem has, without loading it."""
    if made.is_made(spec.data):
        return made.extent(spec.data)
    entry = datasets.registry.ENTRIES.get(spec.data)
    if entry is None:  # one's own
        problem = instance(spec).problem
        return float(problem.n), float(problem.entries)
    n = min(entry.n, spec.rows or entry.n)
    d = min(entry.d, spec.cut or entry.d)
    return float(n), float(n * d * entry.density)
