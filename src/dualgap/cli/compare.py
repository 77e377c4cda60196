"""``dualgap compare``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from dualgap.cli import options, show
from dualgap.cli.command import INTERRUPTED, UNPROVEN, say
from dualgap.cli.problem_options import ProblemOptions
from dualgap.linalg.validate import unknown
from dualgap.methods import suitable
from dualgap.methods.words import method_of
from dualgap.problem import Problem
from dualgap.run.solution import Solution, counted
from dualgap.run.solve import solve
from dualgap.samplings.words import as_sampling, split_calls

# The default race: one practical method of each kind, of those that accept the problem.
_DEFAULT_METHODS = ("auto", "cd-gap-decay", "cd-permutation", "adasdca+", "spdc", "afg", "lbfgs")
_MIN_METHODS = 3  # fewer would hardly be a race
_MAX_SECONDS = 30.0  # for each method, so that a default race ends within minutes
# The time axis is logarithmic if the longest run takes more than this many times the shortest:
# on a linear axis the short one would be a vertical line.
_LOG_AXIS_RATIO = 20.0


def compare(
    stated: ProblemOptions,
    run: options.RunOptions,
    lam: options.Lam = "1/n",
    methods: Annotated[
        str,
        typer.Option(
            help="Names from dualgap methods, with commas between them and with parameters as in "
            "'adasdca+(m=50)', or all: every method that accepts the problem. Default: a "
            "selection.",
            rich_help_panel="Run",
        ),
    ] = "",
    max_seconds: Annotated[
        float,
        typer.Option(help="The maximal number of seconds for each method.", rich_help_panel="Run"),
    ] = _MAX_SECONDS,
    plot: Annotated[Path | None, options.picture("Draw the gaps here,")] = None,
    x: Annotated[
        str,
        typer.Option(
            help="The x-axis of the plot: passes, epoch, updates, vector_operations or seconds.",
            rich_help_panel="Output",
        ),
    ] = "seconds",
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write a page with interactive curves here, in one file. For this, each method "
            "runs a second time, untimed.",
            rich_help_panel="Output",
        ),
    ] = None,
    json: options.Json = False,
    sampling: options.Sampling = None,
) -> None:
    """Race methods on one problem, each under the same certificate.

    Each method makes one round before the race, so that compilation is not
    timed.

    Exit codes: 0 some method has reached the target, 1 none has, 2 something
    is wrong with the input, 130 Ctrl-C: the methods that have run are shown.

    [bold]Examples[/]

      dualgap compare w8a --loss hinge --intercept no --methods auto,sdca,spdc

      dualgap compare train.csv --target label --plot race.png --html race.html

      dualgap compare w8a --intercept no --methods 'sdca,adasdca+(m=2),adasdca+(m=50)'
    """
    if html is not None and not html.absolute().parent.is_dir():
        raise ValueError(f"there is no folder {html.parent}")
    if plot is not None:
        show.check_picture(plot)
        from dualgap.plots.convergence import X_AXES

        if x not in X_AXES:
            raise ValueError(unknown("--x", x, X_AXES))
    if html is not None:
        from dualgap import report
        from dualgap.run.recording import Recording
    table = stated.table()
    problem, _ = stated.problem(table, lam)
    limits = {**run.arguments, "max_seconds": max_seconds, "sampling": sampling}
    runs, refused, stopped = _race(problem, _named(methods, problem), **limits)
    if not runs and stopped:
        raise KeyboardInterrupt
    if not runs:
        raise ValueError(". ".join(_reasons(refused, problem)))
    title = f"{table.name}: {show.described(problem)}"
    if json:
        show.as_json({"data": table.name, "problem": show.described(problem), "tol": run.tol,
                      "runs": {name: _as_json(each) for name, each in runs.items()},
                      "refused": refused})  # fmt: skip
    else:
        show.words(title, "bold")
        _print(runs)
        for words in _reasons(refused, problem):
            show.words(words, "yellow")
    if plot is not None:
        _draw(runs, plot, x, title)
    if html is not None:
        command = shlex.join(["dualgap", *sys.argv[1:]])
        watched = {name: Recording() for name in runs}
        live = Console(stderr=True).is_terminal
        for name, recording in watched.items():
            if live:
                say(f"{name}, once more for the page")
            if solve(problem, name, callback=recording, progress=live, **limits).interrupted:
                stopped = True
                break
        report.write(html, runs, problem, title, command, watched, table.features)
        say(f"wrote {html}")
    if stopped:
        raise typer.Exit(INTERRUPTED)
    if not any(each.converged for each in runs.values()):
        raise typer.Exit(UNPROVEN)


def _named(methods: str, problem: Problem) -> list[str]:
    names = split_calls(methods)
    if names == ["all"]:
        return ["auto", *suitable(problem)]
    if names:
        return list(dict.fromkeys(names))
    fit = ["auto", *suitable(problem)]
    usual = [name for name in _DEFAULT_METHODS if name in fit]
    others = [name for name in fit if name not in usual]
    return usual + others[: max(0, _MIN_METHODS - len(usual))]


def _race(
    problem: Problem, names: Iterable[str], **arguments: Any
) -> tuple[dict[str, Solution], dict[str, str], bool]:
    """The runs, why some methods were refused, and whether Ctrl-C was pressed."""
    live = Console(stderr=True).is_terminal
    runs: dict[str, Solution] = {}
    refused: dict[str, str] = {}
    for name in names:
        why = None if name == "auto" else _refusal(name, arguments["sampling"], problem)
        if why is not None:
            refused[name] = why
            continue
        if live:
            say(name)
        try:
            last = solve(problem, name, **{**arguments, "max_epochs": 1})
            if not last.interrupted:
                last = runs[name] = solve(problem, name, progress=live, **arguments)
        except KeyboardInterrupt:  # between two rounds, where a run has nothing to return
            return runs, refused, True
        if last.interrupted:
            return runs, refused, True
    return runs, refused, False


def _refusal(name: str, sampling: str | None, problem: Problem) -> str | None:
    """Why a method cannot take part, in words."""
    method = method_of(name)
    if sampling is not None:
        method = replace(method, sampling=as_sampling(sampling))
    return method.refusal(problem)


def _as_json(run: Solution) -> dict[str, Any]:
    return {
        "status": run.status.name.lower(),
        **show.proof(run.certificate),
        "passes": run.passes,
        "seconds": run.history.seconds[-1],
        "method": run.method,
        "history": run.history.to_dict(),
    }


def _print(runs: dict[str, Solution]) -> None:
    rows = sorted(
        runs.items(),
        key=lambda item: (not item[1].converged, item[1].history.seconds[-1], item[0]),
    )
    show.columns(
        ("method", "end", "relative gap", "passes", "seconds"),
        [
            (
                name,
                run.status.name.lower().replace("_", " "),
                f"{run.certificate.relative_gap:.1e}",
                counted(run.passes),
                f"{run.history.seconds[-1]:.3g}",
            )
            for name, run in rows
        ],
        left=2,
    )


def _reasons(refused: dict[str, str], problem: Problem) -> list[str]:
    words = [f"{name} cannot solve this problem: {why}" for name, why in refused.items()]
    if refused and problem.intercept is True:
        words.append("More methods take part with --intercept no, or penalised")
    return words


def _draw(runs: dict[str, Solution], path: Path, x: str, title: str) -> None:
    from matplotlib import use

    use("Agg")
    from dualgap.plots import ConvergenceDisplay

    ends = [run.history[x][-1] for run in runs.values()]
    apart = max(ends) > _LOG_AXIS_RATIO * min(ends) > 0.0
    display = ConvergenceDisplay(runs).plot(x=x, x_scale="log" if apart else "linear")
    display.ax_.set_title(title, fontsize="small", wrap=True)
    display.figure_.savefig(path)
    say(f"wrote {path}")
