"""``dualgap fit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from dualgap.cli import options, show
from dualgap.cli.command import INTERRUPTED, UNPROVEN, say
from dualgap.cli.problem_options import ProblemOptions, usual_loss
from dualgap.datasets.open import Table
from dualgap.files.model_file import check_ending, save_model
from dualgap.problem import Problem
from dualgap.proof.proof_file import proven_fits, reading_hints, write_proof
from dualgap.run.solution import Solution, Status, counted
from dualgap.run.solve import solve


def fit(
    stated: ProblemOptions,
    run: options.RunOptions,
    lam: options.Lam = "1/n",
    method: options.Method = "auto",
    sampling: options.Sampling = None,
    max_seconds: options.MaxSeconds = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Keep the state of the run here; the same command resumes from it.",
            rich_help_panel="Run",
        ),
    ] = None,
    checkpoint_every: Annotated[
        float, typer.Option(help="Seconds between two checkpoints.", rich_help_panel="Run")
    ] = 60.0,
    output: Annotated[
        Path | None,
        options.output(
            "Write the model here: .json, which people can read, or .npz, which is smaller."
        ),
    ] = None,
    proof: options.Proof = None,
    json: options.Json = False,
) -> None:
    """Fit a model, and prove how far it is from the best one.

    Ctrl-C ends the run with the best model so far, which is certified and
    written like any other.

    Exit codes: 0 the gap is proven, 1 it is above the target, 2 something is
    wrong with the input, 130 Ctrl-C.

    [bold]Examples[/]

      dualgap fit train.svm.bz2 --loss hinge --lam 1/n -o model.json

      dualgap fit houses.csv --target price --penalty l1 --lam '0.01*max'

      dualgap fit breast_cancer --loss logistic --tol 1e-9 --json

      dualgap fit train.svm --proof proof.dgp && dgcheck train.svm proof.dgp
    """
    where = None if output is None else check_ending(output)
    table = stated.table()
    problem, labels = stated.problem(table, lam)
    solution = solve(
        problem, method, sampling, max_seconds=max_seconds, **run.arguments,
        progress=Console(stderr=True).is_terminal,
        checkpoint=checkpoint, checkpoint_every=checkpoint_every,
    )  # fmt: skip
    if stated.loss is None:
        say("{} loss, since {}".format(*usual_loss(table.y)))
    settings = {
        "data": stated.data, "target_column": stated.target, "offset_column": stated.offset,
        "zero_based": table.zero_based,
        "tol": run.tol, "seed": run.seed,
    }  # fmt: skip
    if where is not None:
        save_model(
            where,
            problem,
            solution,
            feature_names=table.features,
            settings=settings,
            classes=labels,
        )
    if proof is not None:
        write_proof(
            proof,
            table.X,
            table.y,
            proven_fits(table.y, [(problem, solution)]),
            reading_hints(table, stated.target),
        )
    if json:
        show.as_json(_as_json(table, problem, solution, where, proof, run.tol))
    else:
        _print(table, problem, solution, where, proof, run.tol)
    if solution.status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    if not solution.converged:
        raise typer.Exit(UNPROVEN)


def _as_json(
    table: Table,
    problem: Problem,
    solution: Solution,
    where: Path | None,
    proof: Path | None,
    tol: float,
) -> dict[str, Any]:
    return {
        "status": solution.status.name.lower(),
        "sentence": str(solution),
        **show.proof(solution.certificate),
        "tol": tol,
        "method": solution.method,
        "passes": solution.passes,
        "seconds": solution.history.seconds[-1],
        "data": {"name": table.name, "rows": problem.n, "features": problem.p},
        "problem": show.described(problem),
        "lam": problem.lam,
        "nonzero": int(np.count_nonzero(solution.coef)),
        "model": None if where is None else str(where),
        "proof": None if proof is None else str(proof),
    }


def _print(
    table: Table,
    problem: Problem,
    solution: Solution,
    where: Path | None,
    written: Path | None,
    tol: float,
) -> None:
    if not solution.converged:
        show.words(f"{solution.status} {_remedy(solution)}".rstrip(), "yellow")
    proof = solution.certificate
    show.words(show.proof_in_words(proof, tol), "green" if solution.converged else "")
    typer.echo()
    show.facts(
        [
            ("data", f"{table.name}: {show.shape_of(table.X)}"),
            ("problem", show.described(problem)),
            ("method", solution.method),
            *show.proof_in_numbers(proof),
            ("passes", f"{counted(solution.passes)}, in {solution.history.seconds[-1]:.3g} s"),
            ("nonzero", f"{np.count_nonzero(solution.coef):,} of {solution.coef.size:,}"),
            ("model", str(where) if where else "not written: add -o model.json"),
            *show.proof_file(written, table),
        ]
    )


def _remedy(solution: Solution) -> str:
    """What could help, in terms of the options."""
    words = solution.remedy
    for name in ("max_epochs", "max_seconds", "tol"):
        words = words.replace(name, "--" + name.replace("_", "-"))
    return words
