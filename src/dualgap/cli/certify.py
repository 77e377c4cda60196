"""``dualgap certify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dualgap.cli import options, show
from dualgap.cli.command import UNPROVEN
from dualgap.cli.read import data_for, listed, places
from dualgap.datasets.open import Table, open_data
from dualgap.datasets.tables import Wanted
from dualgap.files.model import Model
from dualgap.files.model_file import ForeignFileError, load_model
from dualgap.problem import Problem
from dualgap.proof.claims import hints_of, proven_fits
from dualgap.proof.proof_file import write_proof

_TOL = 1e-6  # of a model that does not say what it was fitted to


def certify(
    model: Annotated[
        Path,
        typer.Argument(
            help="What dualgap fit has written; or, with --trust, a joblib or pickle file of a "
            "fitted linear model of scikit-learn or of another library that certify reads.",
            show_default=False,
        ),
    ],
    data: options.Data,
    target: options.Target = None,
    weights: options.Weights = None,
    drop: options.Drop = "",
    offline: options.Offline = False,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Read a joblib or pickle file. That runs code in it: only for files of people "
            "you trust.",
        ),
    ] = False,
    tol: Annotated[
        float | None,
        typer.Option(
            help="The gap to be proven, in parts of P(0). Left out: that of the fit, or 1e-6.",
            rich_help_panel="Run",
        ),
    ] = None,
    max_epochs: options.MaxEpochs = 10_000,
    proof: options.Proof = None,
    json: options.Json = False,
) -> None:
    """Prove anew how far a model is from the best one, on the data of its fit.

    Of the model's file only the coefficients and the problem are believed. The
    proof takes a few passes over the data, or as long as a fit if these prove
    too little.

    Exit codes: 0 the gap is at most TOL, 1 it is more, 2 something is wrong
    with the input.

    [bold]Examples[/]

      dualgap certify model.json train.svm

      dualgap certify svc.joblib train.csv --target label --trust

      dualgap certify model.json train.svm --proof proof.dgp
    """
    # Late, since most commands can do without scikit-learn.
    from dualgap.estimators.foreign.certify_model import in_units, proven_part, summed
    from dualgap.estimators.foreign.reader import Part, parts

    own = _own(model, trust)
    if own is not None:
        table = data_for(own, data, target, weights, drop, target_needed=True, download=not offline)
        goal = float(own.settings.get("tol", _TOL)) if tol is None else tol
        problem = _problem(own, table)
        found = [Part(problem, own.coef, own.intercept, 1.0)]
        what = ("problem", show.described(problem))
    else:
        table = open_data(data, Wanted(target, weights, listed(drop)), download=not offline)
        goal = _TOL if tol is None else tol
        theirs = _unpickled(model)
        if proof is not None and hasattr(theirs, "steps"):
            raise ValueError("--proof: a pipeline changes the data, so that no file holds them")
        found = list(parts(theirs, table.X, table.y, table.weights))
        library = type(theirs).__module__.split(".")[0].replace("sklearn", "scikit-learn")
        what = ("model", f"{type(theirs).__name__} of {library}, by its own objective")
    proofs = [proven_part(part, goal, max_epochs) for part in found]
    result = summed([in_units(each, part.unit) for each, part in zip(proofs, found)])
    if proof is not None:
        column = target or (own.settings.get("target_column") if own else None)
        stated = proven_fits(table.y, list(zip([part.problem for part in found], proofs)))
        write_proof(proof, table.X, table.y, stated, hints_of(table, column))
    proven = result.relative_gap <= goal
    if json:
        show.as_json({"proven": proven, "tol": goal, **show.proof(result), "sentence": str(result)})
    else:
        show.words(show.proof_in_words(result, goal), "green" if proven else "yellow")
        typer.echo()
        data_used = ("data", f"{table.name}: {show.shape_of(table.X)}")
        shown = [data_used, what, *show.proof_in_numbers(result), *show.proof_file(proof, table)]
        show.facts(shown)
    if not proven:
        raise typer.Exit(UNPROVEN)


def _own(path: Path, trust: bool) -> Model | None:
    """A model of ours, or None for one of another library that the user trusts."""
    try:
        return load_model(path)
    except ForeignFileError as error:
        if trust:
            return None
        raise ForeignFileError(
            f"{error}. A joblib or pickle file of scikit-learn is read with --trust only, since "
            "reading it runs code in it"
        ) from None


def _problem(model: Model, table: Table) -> Problem:
    y = table.y if model.classes is None else places(model, table.y)
    return model.problem(table.X, y, table.weights)


def _unpickled(path: Path) -> Any:
    import joblib

    try:
        return joblib.load(path)
    except OSError:
        raise
    except Exception as error:  # whatever pickles raise
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path} is no joblib or pickle file that can be read ({why})") from None
