"""Options that several commands have, with one text of help for each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
        help="Tables: the column to be predicted, by name, or by number from 1 without a header.",
        rich_help_panel=_DATA,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(help="Tables: a column of weights of the samples.", rich_help_panel=_DATA),
]
Drop = Annotated[
    str, typer.Option(help="Tables: columns to leave out, as in id,date.", rich_help_panel=_DATA)
]
Offline = Annotated[
    bool, typer.Option("--offline", help="Download no data set.", rich_help_panel=_DATA)
]

Loss = Annotated[
    str | None,
    typer.Option(
        help="hinge, smoothed-hinge, squared-hinge, logistic, softmax, multiclass-hinge, squared, "
        "huber, epsilon-insensitive, squared-epsilon-insensitive, quantile, poisson. By the "
        "target if left out: logistic or softmax for labels, squared for numbers.",
        rich_help_panel=_PROBLEM,
        show_default=False,
    ),
]
Gamma = Annotated[
    float | None,
    typer.Option(
        help="smoothed-hinge, multiclass-hinge: the width of the bend.", rich_help_panel=_PROBLEM
    ),
]
Delta = Annotated[
    float | None, typer.Option(help="huber: where it becomes a line.", rich_help_panel=_PROBLEM)
]
Epsilon = Annotated[
    float | None,
    typer.Option(help="epsilon-insensitive: errors that are free.", rich_help_panel=_PROBLEM),
]
Quantile = Annotated[
    float | None,
    typer.Option("--quantile", "-q", help="quantile: which one, 0 to 1.", rich_help_panel=_PROBLEM),
]
Penalty = Annotated[str, typer.Option(help="l2, l1 or elastic-net.", rich_help_panel=_PROBLEM)]
L1Ratio = Annotated[
    float | None, typer.Option(help="elastic-net: the share of L1.", rich_help_panel=_PROBLEM)
]
Low = Annotated[float | None, typer.Option(help="The least coefficient.", rich_help_panel=_PROBLEM)]
High = Annotated[
    float | None, typer.Option(help="The largest coefficient.", rich_help_panel=_PROBLEM)
]
Lam = Annotated[
    str,
    typer.Option(
        help="λ: a number, or made of n, the number of samples, and max, the smallest λ at which "
        "all coefficients are zero, as in 1/n or 0.01*max.",
        rich_help_panel=_PROBLEM,
    ),
]
Intercept = Annotated[
    str,
    typer.Option(help="yes, no, or penalised as the coefficients are.", rich_help_panel=_PROBLEM),
]

Method = Annotated[
    str, typer.Option(help="A name that dualgap methods lists.", rich_help_panel=_RUN)
]
Sampling = Annotated[
    str | None,
    typer.Option(help="Another sampling than the method's own.", rich_help_panel=_RUN),
]
Tol = Annotated[
    float,
    typer.Option(
        help="Stop when the certified gap is at most TOL times P(0), the objective without "
        "features.",
        rich_help_panel=_RUN,
    ),
]
MaxEpochs = Annotated[
    int, typer.Option(help="Rounds at most.", rich_help_panel=_RUN, show_default=True)
]
MaxSeconds = Annotated[float | None, typer.Option(help="Seconds at most.", rich_help_panel=_RUN)]
Seed = Annotated[
    int, typer.Option(help="The same seed gives the same model.", rich_help_panel=_RUN)
]
Threads = Annotated[
    int | None,
    typer.Option(help="At most so many; the model does not depend on it.", rich_help_panel=_RUN),
]

Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print JSON, and nothing else, on standard output.", rich_help_panel=_OUT
    ),
]
Proof = Annotated[
    Path | None,
    typer.Option(help="Write a proof file here, for dgcheck DATA PROOF.", rich_help_panel=_OUT),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write it here.", rich_help_panel=_OUT)
]
