"""``dualgap predict``."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dualgap.cli import options, show
from dualgap.cli.command import say
from dualgap.cli.model_data import data_for
from dualgap.datasets.open import Table
from dualgap.files.model import Model
from dualgap.files.model_file import load_model


def predict(
    model: Annotated[
        Path, typer.Argument(help="A file that dualgap fit wrote.", show_default=False)
    ],
    given: options.DataOptions,
    decision: Annotated[
        bool,
        typer.Option(
            "--decision",
            help="Add decision values; one for each class if there are more than two.",
            rich_help_panel="Output",
        ),
    ] = False,
    certified: Annotated[
        bool,
        typer.Option(
            "--certified",
            help="Add how far decision values can be from those of the exact optimum, and whether "
            "the label is proven to be its label.",
            rich_help_panel="Output",
        ),
    ] = False,
    output: Annotated[Path | None, options.output("Write the table here, as CSV.")] = None,
    json: options.Json = False,
) -> None:
    """Predict labels or numbers with a model, and say which are proven.

    A label is proven if the exact optimum is certain to predict it too. The
    output is CSV, on standard output or in a file.

    [bold]Examples[/]

      dualgap predict model.json test.svm > labels.csv

      dualgap predict model.json new.csv --certified -o predicted.csv
    """
    found = load_model(model)
    table = data_for(found, given, target_needed=False)
    named = _columns(found, table, decision, certified)
    if json:
        show.as_json({"rows": table.X.shape[0], **named})
    elif output is None:
        typer.echo(_as_csv(named), nl=False)
    else:
        output.write_text(_as_csv(named), encoding="utf-8")
    say(_summary(found, table.y, named, output))


def _columns(model: Model, table: Table, decision: bool, certified: bool) -> dict[str, Any]:
    X, offset = table.X, table.offset
    out = {"prediction": model.predict(X, offset)}
    if decision:
        out |= _by_class(model, "decision", model.decision(X, offset))
    if certified:
        out |= _by_class(model, "radius", model.decision_radius(X, offset))
        if model.classes is not None:
            out["proven"] = model.is_proven(X, offset)
    return out


def _by_class(model: Model, name: str, values: Any) -> dict[str, Any]:
    if values.ndim == 1:
        return {name: values}
    return {f"{name}_{show.label(c)}": values[:, k] for k, c in enumerate(model.classes)}


def _as_csv(named: dict[str, Any]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(named)
    writer.writerows(zip(*([_cell(value) for value in column] for column in named.values())))
    return out.getvalue()


def _cell(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, np.bool_) else show.label(value)


def _summary(model: Model, y: Any, named: dict[str, Any], output: Path | None) -> str:
    predicted = named["prediction"]
    words = [f"{len(predicted):,} predictions" + (f" in {output}" if output else "")]
    if "proven" in named:
        words.append(f"{np.count_nonzero(named['proven']):,} are proven")
    if any(name.startswith("radius") and np.isinf(named[name]).all() for name in named):
        words.append("the penalty is not strongly convex, so decision values have no bound")
    if y is not None and model.classes is not None:
        known = set(map(show.label, model.classes))
        if known.issuperset(map(show.label, np.unique(y))):
            pairs = zip(map(show.label, predicted), map(show.label, y))
            right = np.mean([mine == theirs for mine, theirs in pairs])
            words.append(f"{right:.2%} have the label of the data")
    elif y is not None and y.dtype.kind == "f":
        words.append(f"mean squared error {np.mean((predicted - y) ** 2):.6g}")
    return "; ".join(words)
