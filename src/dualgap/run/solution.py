"""What a fit returns: coefficients, dual variables, certificate, history, and a status in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.proof.certificate import Certificate


class Status(str, Enum):
    """How a run ended. Each member is a sentence."""

    CONVERGED = "Converged: the certified gap is within the target."
    MAX_EPOCHS = "Stopped at max_epochs before the gap reached the target."
    MAX_SECONDS = "Stopped at max_seconds before the gap reached the target."
    INTERRUPTED = "Interrupted: this is the best certified model so far."
    CALLBACK = "Stopped by the callback: this is the best certified model so far."
    STALLED = "Stalled: nothing that the method visits makes any difference in float64."

    def __str__(self) -> str:
        return self.value


REMEDY = {
    Status.MAX_EPOCHS: "Raise max_epochs or tol, scale the features, or try another method.",
    Status.MAX_SECONDS: "Raise max_seconds or tol, scale the features, or try another method.",
    Status.STALLED: "Raise tol, or scale the features: rounding errors hide a smaller gap.",
}


def of_near_columns(near: tuple[int, ...]) -> str:
    """What helps where these columns of X, without a penalty, nearly follow from others."""
    if len(near) == 1:
        return (
            f"Column {near[0]} of X has no penalty and nearly follows from others: drop it, or use "
            "a small penalty."
        )
    names = ", ".join(map(str, near[:5])) + (", ..." if len(near) > 5 else "")
    return (
        f"Columns {names} of X have no penalty and nearly follow from others: drop some of them, "
        "or use a small penalty."
    )


def counted(number: float) -> str:
    """How many passes there were, as people write it."""
    return f"{number:,.0f}" if number >= 99.95 else f"{number:.3g}"


class History:
    """A row at the start and one per epoch; columns by name, as ``history.gap`` or ["gap"].

    ``epoch``              updates so far / number of coordinates
    ``passes``             how often the data was read so far, by updates and by the sampling
    ``updates``            coordinate updates so far
    ``iterations``         sets of coordinates visited so far; the same for serial samplings
    ``vector_operations``  dot products and additions with one coordinate's vector, those for the
                           sampling included
    ``seconds``            time spent, without the time for certificates that only the record needs
    ``primal``, ``dual``   best objective and best bound so far
    ``gap``                primal − dual
    """

    columns: tuple[str, ...] = (
        "epoch", "passes", "updates", "iterations", "vector_operations", "seconds", "primal",
        "dual", "gap",
    )  # fmt: skip

    epoch: Floats
    passes: Floats
    updates: Floats
    iterations: Floats
    vector_operations: Floats
    seconds: Floats
    primal: Floats
    dual: Floats
    gap: Floats

    def __init__(self, *rows: tuple[float, ...]) -> None:
        self._rows = list(rows)

    def append(self, *row: float) -> None:
        if len(row) != len(self.columns):
            raise ValueError(f"a row has {len(self.columns)} numbers, not {len(row)}")
        self._rows.append(row)

    @property
    def rows(self) -> list[tuple[float, ...]]:
        return list(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, column: str) -> Floats:
        if column not in self.columns:
            raise KeyError(f"{column!r} is not one of {', '.join(self.columns)}")
        at = self.columns.index(column)
        return np.array([row[at] for row in self._rows])

    def __getattr__(self, name: str) -> Floats:
        if name in self.columns:
            return self[name]
        raise AttributeError(name)

    def to_dict(self) -> dict[str, Floats]:
        """Columns by name; ``pandas.DataFrame(history.to_dict())`` makes a table."""
        return {name: self[name] for name in self.columns}

    def __repr__(self) -> str:
        return f"History({len(self)} rows: {', '.join(self.columns)})"


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of ``solve``. ``print(solution)`` says how it went in words.

    ``coef`` has shape (p,), for a loss of K classes (p, K); ``dual`` (n,) or (n, K). ``intercept``,
    which decision values have on top of X·coef, is a number or has shape (K,); 0 without one.
    ``dual`` is the point behind ``certificate.dual``; ``passes`` counts how often the data was read
    by updates and by the sampling. ``settings`` are the arguments of ``solve`` that were not its
    defaults, as one would write them; None if they are not known. ``interrupted`` says whether
    Ctrl-C came during the run, which may have converged all the same: callers with further runs
    should stop. ``near``: columns without a penalty that nearly follow from others, if the run has
    missed its target. ``problem`` is what was solved, and ``proof`` what the certificate rests on,
    if the coefficients are those that ``published`` asks for; copies elsewhere are without them.
    """

    coef: Floats = field(repr=False)
    intercept: Any = field(repr=False)
    dual: Floats = field(repr=False)
    certificate: Certificate
    history: History
    status: Status
    method: str
    target: float
    passes: float
    settings: dict[str, str] | None = field(default=None, repr=False)
    interrupted: bool = field(default=False, repr=False)
    near: tuple[int, ...] = field(default=(), repr=False)
    problem: Any = field(default=None, repr=False)
    proof: Any = field(default=None, repr=False)

    @property
    def converged(self) -> bool:
        """Whether the certified gap is within the target."""
        return self.status is Status.CONVERGED

    @property
    def name(self) -> str:
        """What ran, in a word or two."""
        name = self.method.split(":", maxsplit=1)[0]
        if name.startswith("auto ("):  # then comes what it chose, and why
            name = name.removeprefix("auto (").split(",", maxsplit=1)[0]
        return name

    @property
    def gaps(self) -> Floats:
        """The gap along the history; the last is the proven one, with its rounding errors."""
        gaps = self.history.gap
        gaps[-1] = self.certificate.gap
        return gaps

    @property
    def n_iter(self) -> float:
        """How many epochs there were, which is updates / number of coordinates."""
        return float(self.history.epoch[-1])

    def __str__(self) -> str:
        words = f"{self.certificate} after {counted(self.passes)} passes. {self.status}"
        if not self.converged:
            words += f" Target gap {self.target:.1e}."
        return f"{words} {self.remedy}".rstrip()

    @property
    def remedy(self) -> str:
        """What could help, if the run has missed its target."""
        return of_near_columns(self.near) if self.near else REMEDY.get(self.status, "")

    def save_proof(self, path: Any) -> Path:
        """Write a proof file that ``dgcheck DATA PROOF`` checks without this library."""
        from dualgap.proof.proof_file import proven_solution, write_proof

        if self.problem is None:
            raise ValueError(
                "the solution has come without its problem, from another process or a file: call "
                "save_proof where it was solved"
            )
        problem = self.problem
        proven = proven_solution(problem, self)
        return write_proof(path, problem.given, problem.given_y, [proven])

    def without_data(self) -> Solution:
        """A copy that keeps no view of X."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__getstate__())
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "problem": None, "proof": None}

    def report(
        self,
        path: Any,
        problem: Any = None,
        *,
        title: str | None = None,
        command: str | None = None,
        recording: Any = None,
    ) -> Path:
        """Write a page that explains the certificate and shows the run; returns its path.

        The page is one file that needs no network. With the ``problem`` it says what was fitted,
        with a ``Recording`` how the sampling went; ``command`` is the line that repeats the run.
        """
        from dualgap.report import write

        recordings = None if recording is None else {self.name: recording}
        return write(path, {self.name: self}, problem, title, command, recordings)
