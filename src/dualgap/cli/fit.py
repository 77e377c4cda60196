"""``dualgap fit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from dualgap.cli import options, show
from dualgap.cli.asked import Asked, usual_loss
from dualgap.cli.command import INTERRUPTED, UNPROVEN, say
from dualgap.datasets.open import Table
from dualgap.files.model_file import check_ending, save_model
from dualgap.problem import Problem
from dualgap.proof.claims import hints_of, proven_fits
from dualgap.proof.proof_file import write_proof
from dualgap.run.solution import REMEDY, Solution, Status, counted
from dualgap.run.solve import solve


def fit(
    data: options.Data,
    target: options.Target = None,
    weights: options.Weights = None,
    drop: options.Drop = "",
    offline: options.Offline = False,
    loss: options.Loss = None,
    gamma: options.Gamma = None,
    delta: options.Delta = None,
    epsilon: options.Epsilon = None,
    q: options.Quantile = None,
    penalty: options.Penalty = "l2",
    l1_ratio: options.L1Ratio = None,
    low: options.Low = None,
    high: options.High = None,
    lam: options.Lam = "1/n",
    intercept: options.Intercept = "yes",
    method: options.Method = "auto",
    sampling: options.Sampling = None,
    tol: options.Tol = 1e-6,
    max_epochs: options.MaxEpochs = 10_000,
    max_seconds: options.MaxSeconds = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Keep the state of the run here; the same command goes on from it.",
            rich_help_panel="Run",
        ),
    ] = None,
    checkpoint_every: Annotated[
        float, typer.Option(help="Seconds between two checkpoints.", rich_help_panel="Run")
    ] = 60.0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the model here: .json, which people can read, or .npz, which is smaller.",
            rich_help_panel="Output",
        ),
    ] = None,
    proof: options.Proof = None,
    json: options.Json = False,
) -> None:
    """Fit a model, and prove how far it is from the best one.

    Ctrl-C ends the run with the best model so far, which is written and
    certified as any other.

    Exit codes: 0 the gap is proven, 1 it is above the target, 2 something is
    wrong with the input, 130 Ctrl-C.

    [bold]Examples[/]

      dualgap fit train.svm.bz2 --loss hinge --lam 1/n -o model.json

      dualgap fit houses.csv --target price --penalty l1 --lam '0.01*max'

      dualgap fit breast_cancer --loss logistic --tol 1e-9 --json

      dualgap fit train.svm --proof proof.dgp && dgcheck train.svm proof.dgp
    """
    where = None if output is None else check_ending(output)
    asked = Asked(
        data, target, weights, drop, offline,
        loss, {"gamma": gamma, "delta": delta, "epsilon": epsilon, "q": q},
        penalty, l1_ratio, low, high, intercept,
    )  # fmt: skip
    table = asked.table()
    problem, labels = asked.problem(table, lam)
    solution = solve(
        problem, method, sampling, tol, max_epochs, max_seconds, seed,
        progress=Console(stderr=True).is_terminal,
        n_threads=threads, checkpoint=checkpoint, checkpoint_every=checkpoint_every,
    )  # fmt: skip
    if loss is None:
        say("{} loss, since {}".format(*usual_loss(table.y)))
    settings = {
        "data": data, "target_column": target, "zero_based": table.zero_based, "tol": tol,
        "seed": seed,
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
            hints_of(table, target),
        )
    if json:
        show.as_json(_machine(table, problem, solution, where, proof, tol))
    else:
        _people(table, problem, solution, where, proof, tol)
    if solution.status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    if not solution.converged:
        raise typer.Exit(UNPROVEN)


def _machine(
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


def _people(
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
    """What could help, in options of the command."""
    words = REMEDY.get(solution.status, "")
    for name in ("max_epochs", "max_seconds", "tol"):
        words = words.replace(name, "--" + name.replace("_", "-"))
    return words
