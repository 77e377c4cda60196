"""``dualgap path``."""

from __future__ import annotations

import csv
import json as json_file
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from dualgap.cli import options, show
from dualgap.cli.asked import Asked
from dualgap.cli.command import INTERRUPTED, UNPROVEN, say
from dualgap.cli.strength import strength
from dualgap.problem import Problem
from dualgap.run.path import grid as spaced
from dualgap.run.path import path as solutions_along
from dualgap.run.solution import Solution, Status, counted

_ENDINGS = (".csv", ".json")
_HEADS = ("lam", "nonzero", "objective", "lower_bound", "gap", "relative_gap", "passes", "seconds")


def path(
    data: options.Data,
    lams: Annotated[
        str,
        typer.Option(
            help="The λ themselves, with commas between them, as in 1,0.1,10/n.",
            rich_help_panel="Problem",
        ),
    ] = "",
    grid: Annotated[
        int,
        typer.Option(
            min=1,
            help="How many λ, from max down, if --lams is left out.",
            rich_help_panel="Problem",
        ),
    ] = 20,
    eps: Annotated[
        float, typer.Option(help="The last of them is EPS times max.", rich_help_panel="Problem")
    ] = 1e-3,
    target: options.Target = None,
    weights: options.Weights = None,
    drop: options.Drop = "",
    offline: options.Offline = False,
    loss: options.Loss = None,
    gamma: options.Gamma = None,
    delta: options.Delta = None,
    epsilon: options.Epsilon = None,
    q: options.Quantile = None,
    penalty: options.Penalty = "l1",
    l1_ratio: options.L1Ratio = None,
    low: options.Low = None,
    high: options.High = None,
    intercept: options.Intercept = "yes",
    method: options.Method = "auto",
    tol: options.Tol = 1e-4,
    max_epochs: options.MaxEpochs = 10_000,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw the coefficients here, as .png, .svg or .pdf.", rich_help_panel="Output"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write it here: .csv, or .json with the coefficients.",
            rich_help_panel="Output",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Fit at many λ, each from the last model, each with its certificate.

    Exit codes: 0 all gaps are proven, 1 some are above the target, 2 something
    is wrong with the input, 130 Ctrl-C: what is done is shown and written.

    [bold]Examples[/]

      dualgap path diabetes --grid 50 -o path.json

      dualgap path train.svm --loss logistic --penalty l2 --lams 1,0.1,0.01,1/n
    """
    if output is not None and (
        output.suffix not in _ENDINGS or not output.absolute().parent.is_dir()
    ):
        raise ValueError(
            f"--output must be a .csv or .json file in a folder that is there, not {output}"
        )
    asked = Asked(
        data, target, weights, drop, offline,
        loss, {"gamma": gamma, "delta": delta, "epsilon": epsilon, "q": q},
        penalty, l1_ratio, low, high, intercept,
    )  # fmt: skip
    if plot is not None:
        show.check_picture(plot)
    table = asked.table()
    problem, _ = asked.problem(table)
    along = _along(problem, lams, grid, eps)
    options_of_solve = {
        "method": method, "tol": tol, "max_epochs": max_epochs, "random_state": seed,
        "n_threads": threads,
    }  # fmt: skip
    found: list[Solution] = []
    try:
        for solution in _solutions(problem, along, options_of_solve):
            found.append(solution)
    except KeyboardInterrupt:  # between two runs; what is done is kept
        if not found:
            raise
    rows = [_row(lam, solution) for lam, solution in zip(along, found)]
    whole = {
        "data": table.name, "problem": show.described(problem), "tol": tol,
        "features": table.features,
        "path": [{**row, **_coefficients(solution)} for row, solution in zip(rows, found)],
    }  # fmt: skip
    if json:
        show.as_json(whole)
    else:
        show.words(f"{table.name}: {show.described(problem).split(', λ')[0]}", "bold")
        _people(rows)
    if output is not None:
        _write(output, rows, whole)
    if plot is not None:
        _draw(plot, along[: len(found)], found, table.features)
    if len(found) < len(along) or found[-1].status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    if not all(solution.converged for solution in found):
        raise typer.Exit(UNPROVEN)


def _along(problem: Problem, lams: str, count: int, eps: float) -> list[float]:
    given = [strength(word, problem) for word in lams.split(",") if word.strip()]
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
    """Those that are not zero, with their places: features, or features by classes."""
    where = np.nonzero(solution.coef)
    return {
        "intercept": solution.intercept,
        "shape": list(solution.coef.shape),
        "places": [place.tolist() for place in where],
        "values": solution.coef[where],
    }


def _people(rows: list[dict[str, Any]]) -> None:
    show.columns(
        ("λ", "nonzero", "objective", "gap", "gap / P(0)", "passes"),
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


def _write(path: Path, rows: list[dict[str, Any]], whole: dict[str, Any]) -> None:
    if path.suffix == ".json":
        path.write_text(json_file.dumps(show.plain(whole), indent=1, allow_nan=False) + "\n")
    else:
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, _HEADS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    say(f"wrote {path}")
