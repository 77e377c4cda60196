"""``dualgap path``."""

from __future__ import annotations

import csv
import json as json_file
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from dualgap.cli import options, show
from dualgap.cli.command import INTERRUPTED, UNPROVEN, say
from dualgap.cli.lam import parse_lam
from dualgap.cli.problem_options import ProblemOptions
from dualgap.problem import Problem
from dualgap.run.path import grid as spaced
from dualgap.run.path import path as solutions_along
from dualgap.run.solution import Solution, Status, counted

_ENDINGS = (".csv", ".json")
_HEADS = ("lam", "nonzero", "objective", "lower_bound", "gap", "relative_gap", "passes", "seconds")


@dataclass(frozen=True)
class PathProblem(ProblemOptions):
    """The same with the penalty that paths are mostly drawn for."""

    penalty: options.Penalty = "l1"


@dataclass(frozen=True)
class PathRun(options.RunOptions):
    """The same with a tolerance that is enough for a plot."""

    tol: options.Tol = 1e-4


def path(
    stated: PathProblem,
    run: PathRun,
    lams: Annotated[
        str,
        typer.Option(
            help="Values of λ with commas between them, such as 1,0.1,10/n.",
            rich_help_panel="Problem",
        ),
    ] = "",
    grid: Annotated[
        int,
        typer.Option(
            min=1,
            help="Without --lams: how many values of λ, from max down.",
            rich_help_panel="Problem",
        ),
    ] = 20,
    eps: Annotated[
        float,
        typer.Option(
            help="Without --lams: the smallest λ is EPS times max.", rich_help_panel="Problem"
        ),
    ] = 1e-3,
    method: options.Method = "auto",
    plot: Annotated[Path | None, options.picture("Draw the coefficients here,")] = None,
    output: Annotated[
        Path | None, options.output("Write the path here: .csv, or .json with the coefficients.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Fit at many λ, each with a warm start and its own certificate.

    Exit codes: 0 all gaps are proven, 1 some are above the target, 2 something
    is wrong with the input, 130 Ctrl-C: finished fits are shown and written.

    [bold]Examples[/]

      dualgap path diabetes --grid 50 -o path.json

      dualgap path train.svm --loss logistic --penalty l2 --lams 1,0.1,0.01,1/n
    """
    if output is not None and (
        output.suffix not in _ENDINGS or not output.absolute().parent.is_dir()
    ):
        raise ValueError(
            f"--output must be a .csv or .json file in an existing folder, not {output}"
        )
    if plot is not None:
        show.check_picture(plot)
    table = stated.table()
    problem, _ = stated.problem(table)
    along = _along(problem, lams, grid, eps)
    found: list[Solution] = []
    try:
        for solution in _solutions(problem, along, {"method": method, **run.arguments}):
            found.append(solution)
    except KeyboardInterrupt:  # between two fits; finished ones are kept
        if not found:
            raise
    rows = [_row(lam, solution) for lam, solution in zip(along, found)]
    everything = {
        "data": table.name, "problem": show.described(problem), "tol": run.tol,
        "features": table.features,
        "path": [{**row, **_coefficients(solution)} for row, solution in zip(rows, found)],
    }  # fmt: skip
    if json:
        show.as_json(everything)
    else:
        show.words(f"{table.name}: {show.described(problem).split(', λ')[0]}", "bold")
        _print(rows)
    if output is not None:
        _write(output, rows, everything)
    if plot is not None:
        _draw(plot, along[: len(found)], found, table.features)
    if len(found) < len(along) or found[-1].status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    if not all(solution.converged for solution in found):
        raise typer.Exit(UNPROVEN)


def _along(problem: Problem, lams: str, count: int, eps: float) -> list[float]:
    given = [parse_lam(word, problem) for word in lams.split(",") if word.strip()]
    if given:
        return sorted(given, reverse=True)
    if not 0.0 < eps <= 1.0:
        raise ValueError(f"--eps must be above 0 and at most 1, not {eps}")
    try:
        return [float(lam) for lam in spaced(problem, eps, count)]
    except ValueError as error:
        raise ValueError(f"{error} (--lams 1,0.1,0.01)") from None


def _solutions(problem: Problem, along: list[float], given: dict[str, Any]) -> Iterator[Solution]:
    console = Console(stderr=True)
    runs = solutions_along(problem, along, **given)
    for solution in track(
        runs, "λ", len(along), console=console, transient=True, disable=not console.is_terminal
    ):
        yield solution
        if solution.interrupted:
            return


def _row(lam: float, solution: Solution) -> dict[str, Any]:
    proof = solution.certificate
    values = (
        lam, int(np.count_nonzero(solution.coef)), proof.primal, proof.dual, proof.gap,
        proof.relative_gap, solution.passes, float(solution.history.seconds[-1]),
    )  # fmt: skip
    return dict(zip(_HEADS, values))


def _coefficients(solution: Solution) -> dict[str, Any]:
    """The nonzero coefficients with their indices: features, or features and classes."""
    where = np.nonzero(solution.coef)
    return {
        "intercept": solution.intercept,
        "shape": list(solution.coef.shape),
        "places": [place.tolist() for place in where],
        "values": solution.coef[where],
    }


def _print(rows: list[dict[str, Any]]) -> None:
    show.columns(
        ("λ", "nonzero", "objective", "gap", "relative gap", "passes"),
        [
            (
                f"{row['lam']:.4g}", f"{row['nonzero']:,}", f"{row['objective']:.6g}",
                f"{row['gap']:.1e}", f"{row['relative_gap']:.1e}", counted(row["passes"]),
            )
            for row in rows
        ],
        left=0,
    )  # fmt: skip


def _draw(path: Path, lams: list[float], found: list[Solution], features: Any) -> None:
    from matplotlib import use

    use("Agg")
    from dualgap.plots import PathDisplay

    names = features if found[0].coef.ndim == 1 else None
    PathDisplay.from_solutions(lams, found, feature_names=names).figure_.savefig(path)
    say(f"wrote {path}")


def _write(path: Path, rows: list[dict[str, Any]], everything: dict[str, Any]) -> None:
    if path.suffix == ".json":
        path.write_text(json_file.dumps(show.plain(everything), indent=1, allow_nan=False) + "\n")
    else:
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, _HEADS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    say(f"wrote {path}")
