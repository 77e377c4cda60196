"""Options that several commands have: each is declared once, and groups of them are dataclasses.

``careful`` in command.py turns a parameter whose type is such a group into its options.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

_DATA, _PROBLEM, _RUN, _OUT = "Data", "Problem", "Run", "Output"

Data = Annotated[
    str,
    typer.Argument(
        help="A file in LIBSVM format (plain, .gz, .bz2, .xz), .csv or .parquet; a folder of "
        "dualgap convert; or the name of a data set.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        help="Tables: the column to predict, by name, or by number from 1 if there is no header.",
        rich_help_panel=_DATA,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(help="Tables: the column with the sample weights.", rich_help_panel=_DATA),
]
Offset = Annotated[
    str | None,
    typer.Option(
        help="Tables: the column with offsets, which are added to decision values; for poisson "
        "the logarithms of exposures.",
        rich_help_panel=_DATA,
    ),
]
Drop = Annotated[
    str, typer.Option(help="Tables: columns to leave out, as in id,date.", rich_help_panel=_DATA)
]
Offline = Annotated[
    bool, typer.Option("--offline", help="Do not download data sets.", rich_help_panel=_DATA)
]

Loss = Annotated[
    str | None,
    typer.Option(
        help="hinge, smoothed-hinge, squared-hinge, logistic, softmax, multiclass-hinge, squared, "
        "huber, epsilon-insensitive, squared-epsilon-insensitive, quantile, poisson, "
        "gamma, tweedie, negative-binomial. "
        "Default: logistic or softmax if the target has labels, squared if it has numbers.",
        rich_help_panel=_PROBLEM,
        show_default=False,
    ),
]
Gamma = Annotated[
    float | None,
    typer.Option(
        help="smoothed-hinge, multiclass-hinge: the width of the smooth part.",
        rich_help_panel=_PROBLEM,
    ),
]
Delta = Annotated[
    float | None,
    typer.Option(help="huber: the error beyond which it is linear.", rich_help_panel=_PROBLEM),
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        help="epsilon-insensitive: errors up to this cost nothing.", rich_help_panel=_PROBLEM
    ),
]
Quantile = Annotated[
    float | None,
    typer.Option(
        "--quantile", "-q", help="quantile: which one, from 0 to 1.", rich_help_panel=_PROBLEM
    ),
]
Penalty = Annotated[str, typer.Option(help="l2, l1 or elastic-net.", rich_help_panel=_PROBLEM)]
L1Ratio = Annotated[
    float | None, typer.Option(help="elastic-net: the share of L1.", rich_help_panel=_PROBLEM)
]
Low = Annotated[
    float | None, typer.Option(help="A lower bound on every coefficient.", rich_help_panel=_PROBLEM)
]
High = Annotated[
    float | None,
    typer.Option(help="An upper bound on every coefficient.", rich_help_panel=_PROBLEM),
]
Lam = Annotated[
    str,
    typer.Option(
        help="λ: a number, or an expression such as 1/n or 0.01*max. n is the number of samples, "
        "max the smallest λ at which all coefficients are zero.",
        rich_help_panel=_PROBLEM,
    ),
]
Intercept = Annotated[
    str,
    typer.Option(help="yes, no, or penalised (like the coefficients).", rich_help_panel=_PROBLEM),
]

Method = Annotated[
    str,
    typer.Option(
        help="A name from dualgap methods, with parameters if wanted: 'adasdca+(m=50)'.",
        rich_help_panel=_RUN,
    ),
]
Sampling = Annotated[
    str | None,
    typer.Option(
        help="A sampling to use instead of the method's own, such as importance or 'tau-nice(64)'.",
        rich_help_panel=_RUN,
    ),
]
Tol = Annotated[
    float,
    typer.Option(
        help="Stop when the certified gap is at most TOL times the best possible objective.",
        rich_help_panel=_RUN,
    ),
]
MaxEpochs = Annotated[
    int, typer.Option(help="The maximal number of rounds.", rich_help_panel=_RUN, show_default=True)
]
MaxSeconds = Annotated[
    float | None, typer.Option(help="The maximal number of seconds.", rich_help_panel=_RUN)
]
Seed = Annotated[
    int, typer.Option(help="The same seed gives the same model.", rich_help_panel=_RUN)
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="The maximal number of threads; the model does not depend on it.", rich_help_panel=_RUN
    ),
]

Json = Annotated[
    bool,
    typer.Option("--json", help="Print only JSON on standard output.", rich_help_panel=_OUT),
]
Proof = Annotated[
    Path | None,
    typer.Option(help="Write a proof file here, for dgcheck DATA PROOF.", rich_help_panel=_OUT),
]


def output(help: str) -> Any:
    """The option --output, -o."""
    return typer.Option("--output", "-o", help=help, rich_help_panel=_OUT)


def picture(help: str) -> Any:
    """The option --plot."""
    return typer.Option(help=f"{help} as .png, .svg or .pdf.", rich_help_panel=_OUT)


@dataclass(frozen=True)
class DataOptions:
    """Which data to read."""

    data: Data
    target: Target = None
    drop: Drop = ""
    offline: Offline = False
    offset: Offset = None

    @property
    def dropped(self) -> list[str]:
        return split_names(self.drop)


@dataclass(frozen=True)
class WeightedDataOptions(DataOptions):
    """Data to fit a model to."""

    weights: Weights = None


@dataclass(frozen=True)
class RunOptions:
    """When a method stops, and its seed and threads."""

    tol: Tol = 1e-6
    max_epochs: MaxEpochs = 10_000
    seed: Seed = 0
    threads: Threads = None

    @property
    def arguments(self) -> dict[str, Any]:
        """These options as ``solve`` takes them."""
        return {
            "tol": self.tol,
            "max_epochs": self.max_epochs,
            "random_state": self.seed,
            "n_threads": self.threads,
        }


def split_names(names: str) -> list[str]:
    """Names that have commas between them."""
    return [name.strip() for name in names.split(",") if name.strip()]
