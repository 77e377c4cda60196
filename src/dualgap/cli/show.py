"""Output for people (facts, tables, a proof in words) and the same as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dualgap.files.describe import short_name
from dualgap.linalg import storage
from dualgap.problem import Problem
from dualgap.proof.goal import relative_words

PICTURES = (".png", ".svg", ".pdf")


def facts(rows: Iterable[tuple[str, str]]) -> None:
    """Names and values, one below the other."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, escape(value))
    Console().print(table, highlight=False)


def columns(heads: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> None:
    """A table; the first ``left`` columns hold words, the others numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for k, head in enumerate(heads):
        table.add_column(head, overflow="fold", justify="left" if k < left else "right")
    for row in rows:
        table.add_row(*map(escape, row))
    Console().print(table, highlight=False)


def words(text: str, style: str = "") -> None:
    """A sentence."""
    Console().print(escape(text), style=style, highlight=False)


def as_json(value: Mapping[str, Any]) -> None:
    """The value on standard output."""
    typer.echo(json.dumps(plain(value), indent=1, allow_nan=False))


def plain(value: Any) -> Any:
    """A value in JSON's own types; infinity and NaN become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def proof(certificate: Any) -> dict[str, Any]:
    """A certificate for JSON."""
    return {
        "objective": certificate.primal,
        "lower_bound": certificate.dual,
        "gap": certificate.gap,
        "relative_gap": certificate.relative_gap,
        "scale": certificate.scale,
    }


def proof_in_words(certificate: Any, tol: float) -> str:
    """What is proven, for readers who do not know duality."""
    primal, dual = certificate.primal, certificate.dual
    if not (math.isfinite(primal) and math.isfinite(dual)):
        return f"Nothing is proven: {certificate}."
    digits = 4 + int(max(0.0, -math.log10(max(certificate.relative_gap, 1e-12))))
    reached = certificate.relative_gap <= tol
    end = f"as asked for ({tol:.1e})" if reached else f"more than asked for ({tol:.1e})"
    return (
        f"Proven: this model is at most {certificate.gap:.2g} from the best. Its objective is "
        f"{primal:.{digits}g}, and no model of this kind has one below {dual:.{digits}g}. The gap "
        f"is {relative_words(certificate)}: {end}."
    )


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be written, before anything runs."""
    import matplotlib  # noqa: F401 - without it, the error says how to install it

    if path.suffix not in PICTURES or not path.absolute().parent.is_dir():
        raise ValueError(
            f"--plot must be a {', '.join(PICTURES[:-1])} or {PICTURES[-1]} file in an existing "
            f"folder, not {path}"
        )


def proof_in_numbers(certificate: Any) -> list[tuple[str, str]]:
    """The same as lines of a table."""
    return [
        ("objective", f"{certificate.primal:.12g}"),
        ("lower bound", f"{certificate.dual:.12g}"),
        ("gap", f"{certificate.gap:.2e}, {relative_words(certificate)}"),
    ]


def proof_file(path: Path | None, table: Any) -> list[tuple[str, str]]:
    """Where a proof file is, and how to check it."""
    return (
        [] if path is None else [("proof", f"{path}: check it with dgcheck {table.source} {path}")]
    )


def shape_of(X: Any) -> str:
    """How large the data are."""
    n, p = X.shape
    size = f"{n:,} rows, {p:,} features"
    return f"{size}, {X.nnz:,} entries" if storage.is_sparse(X) else f"{size}, dense"


def described(problem: Problem) -> str:
    """Loss, penalty and λ."""
    kinds = {True: "intercept", False: "no intercept", "penalised": "penalised intercept"}
    return (
        f"{short_name(problem.given_loss)} loss, {short_name(problem.feature_penalty)} penalty, "
        f"λ = {problem.lam:.6g}, {kinds[problem.intercept]}"
    )


def label(value: Any) -> str:
    """A label or number: integers without a point, others to the last bit."""
    if not isinstance(value, (float, np.floating)):
        return str(value)
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
