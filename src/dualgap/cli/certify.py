"""``dualgap certify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dualgap.cli import options, show
from dualgap.cli.command import UNPROVEN
from dualgap.cli.model_data import class_codes, data_for
from dualgap.datasets.open import Table, open_data
from dualgap.datasets.tables import Wanted
from dualgap.files.model import Model
from dualgap.files.model_file import ForeignFileError, load_model
from dualgap.problem import Problem
from dualgap.proof.proof_file import proven_fits, reading_hints, write_proof

_DEFAULT_TOL = 1e-6  # for a model that does not say to which tolerance it was fitted


def certify(
    model: Annotated[
        Path,
        typer.Argument(
            help="A file that dualgap fit wrote; or, with --trust, a joblib or pickle file of a "
            "fitted linear model of scikit-learn or of another library that certify reads.",
            show_default=False,
        ),
    ],
    given: options.WeightedDataOptions,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Read a joblib or pickle file. This runs code in the file: use it only for files "
            "that you trust.",
        ),
    ] = False,
    tol: Annotated[
        float | None,
        typer.Option(
            help="The gap to prove, relative to the optimum. Default: that of the fit, or 1e-6.",
            rich_help_panel="Run",
        ),
    ] = None,
    max_epochs: options.MaxEpochs = 10_000,
    proof: options.Proof = None,
    json: options.Json = False,
) -> None:
    """Prove again how far a model is from the best one, on the data of its fit.

    Only the coefficients and the problem are taken from the model's file. The
    proof takes a few passes over the data; if these prove too little, it takes
    as long as a fit.

    Exit codes: 0 the gap is at most TOL, 1 it is more, 2 something is wrong
    with the input.

    [bold]Examples[/]

      dualgap certify model.json train.svm

      dualgap certify svc.joblib train.csv --target label --trust

      dualgap certify model.json train.svm --proof proof.dgp
    """
    # Late: most commands do not need scikit-learn.
    from dualgap.estimators.foreign.certify_fitted import in_units, prove_fitted, summed
    from dualgap.estimators.foreign.fitted_problem import FittedProblem
    from dualgap.estimators.foreign.reader import fitted_problems

    own = _own(model, trust)
    if own is not None:
        table = data_for(own, given, weights=given.weights, target_needed=True)
        goal = float(own.settings.get("tol", _DEFAULT_TOL)) if tol is None else tol
        problem = _problem(own, table)
        found = [FittedProblem(problem, own.coef, own.intercept, 1.0)]
        what = ("problem", show.described(problem))
    else:
        wanted = Wanted(given.target, given.weights, given.dropped, offset=given.offset)
        table = open_data(given.data, wanted, download=not given.offline)
        goal = _DEFAULT_TOL if tol is None else tol
        theirs = _unpickled(model)
        if proof is not None and hasattr(theirs, "steps"):
            raise ValueError("--proof: a pipeline changes the data, so no file holds its data")
        found = fitted_problems(theirs, table.X, table.y, table.weights, table.offset)
        library = type(theirs).__module__.split(".")[0].replace("sklearn", "scikit-learn")
        what = ("model", f"{type(theirs).__name__} of {library}, by its own objective")
    proofs = [prove_fitted(one, goal, max_epochs) for one in found]
    result = summed([in_units(each, one.unit) for each, one in zip(proofs, found)])
    if proof is not None:
        column = given.target or (own.settings.get("target_column") if own else None)
        stated = proven_fits(table.y, list(zip([one.problem for one in found], proofs)))
        write_proof(proof, table.X, table.y, stated, reading_hints(table, column))
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
    """Our own model, or None for a trusted file of another library."""
    try:
        return load_model(path)
    except ForeignFileError as error:
        if trust:
            return None
        raise ForeignFileError(
            f"{error}. A joblib or pickle file of scikit-learn needs --trust: reading it runs code "
            "in it"
        ) from None


def _problem(model: Model, table: Table) -> Problem:
    y = table.y if model.classes is None else class_codes(model, table.y)
    return model.problem(table.X, y, table.weights, table.offset)


def _unpickled(path: Path) -> Any:
    import joblib

    try:
        return joblib.load(path)
    except OSError:
        raise
    except Exception as error:  # a pickle may raise anything
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path} cannot be read as a joblib or pickle file ({why})") from None
