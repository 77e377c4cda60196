"""Proof files: what ``dgcheck`` needs to check a certificate without this library.

docs/proof-format.md describes the format. A file states problems, models and dual points that are
feasible in exact arithmetic, and has digests of the data.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dualgap import losses
from dualgap.files.replace import replacing
from dualgap.linalg import storage
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate
from dualgap.proof.exact_balance import exactly_feasible
from dualgap.proof.radius import certified_signs
from dualgap.proof.screening import proven_zero
from dualgap.proof.stated_penalty import stated_penalty

if TYPE_CHECKING:
    from dualgap.run.solution import Solution

VERSION = 1
_INTERCEPTS = {False: "none", True: "free", "penalised": "penalised"}


class Proven(NamedTuple):
    """A problem, its model and its certificate.

    ``coef`` has shape (p,) or (p, K), ``dual`` (n,) or (n, K). ``column`` is the column of y that
    holds the targets. ``labels`` has the code of each label; None if y is used as it is. ``model``
    is what the problem stands for, if the file states that in its place (``stated_models.py``).
    """

    problem: Problem
    coef: Any
    intercept: Any
    dual: Any
    certificate: Certificate
    column: int = 0
    labels: Sequence[tuple[Any, float]] | None = None
    model: Any = None


def write_proof(
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    proven: Sequence[Proven],
    hints: dict[str, Any] | None = None,
) -> Path:
    """Write the proofs of models that were fitted to the user's X and y, which may be None."""
    from dualgap import __version__

    where = Path(path)
    if where.is_dir() or not where.absolute().parent.is_dir():
        raise ValueError(f"cannot write {where}: it is a folder, or its folder is missing")
    X = storage.as_data(X)
    data = {
        "samples": int(X.shape[0]),
        "features": int(X.shape[1]),
        "X": _digest_of_matrix(X),
        "y": None if y is None else _digest_of_targets(np.asarray(y)),
    }
    arrays: dict[str, Any] = {}
    problems = []
    for k, one in enumerate(proven):
        stated, own = _stated(one)
        stated["arrays"] = {name: _sha(array.tobytes()) for name, array in own.items()}
        stated["seal"] = _sha(_canonical({"data": data, **stated}))
        arrays |= {f"{k}/{name}.npy": array for name, array in own.items()}
        problems.append(stated)
    header = {
        "format": "dualgap-proof",
        "version": VERSION,
        "producer": f"dualgap {__version__}",
        "data": {**data, "hints": hints or {}},
        "problems": problems,
    }
    with (
        replacing(where) as part,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        archive.writestr("header.json", json.dumps(header, indent=1))
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
            archive.writestr(name, member.getvalue())
    return where


# --- what is stated of solutions and fits ---------------------------------------------------------


def proven_solution(problem: Problem, solution: Solution) -> Proven:
    """What a proof file states of a solution."""
    proven = Proven(problem, solution.coef, solution.intercept, solution.dual, solution.certificate)
    if problem.classes is None:
        return proven
    codes = (-1.0, 1.0) if problem.width == 1 else range(problem.width)
    labels = [(as_label(label), float(code)) for label, code in zip(problem.classes, codes)]
    return proven._replace(labels=labels)


def proven_fits(y: Any, fits: list[tuple[Problem, Any]]) -> list[Proven]:
    """What a proof file states of an estimator's fits, one for each class or column of y."""
    y = np.asarray(y)
    found = []
    for k, (problem, fit) in enumerate(fits):
        if problem.n_targets > 1:
            found.append(Proven(problem, fit.coef, fit.intercept, fit.dual, fit.certificate))
            continue
        column = k if y.ndim == 2 else 0
        own = y[:, column] if y.ndim == 2 else y
        labels = _labels(own, np.asarray(problem.plain_y, dtype=np.float64))
        parts = fit.coef, fit.intercept, fit.dual, fit.certificate
        found.append(Proven(problem, *parts, column, labels))
    return found


def _labels(y: Any, coded: Any) -> list[tuple[Any, float]] | None:
    """The label of each code; None if y needs no code."""
    if y.dtype.kind in "biuf" and np.array_equal(y, coded):
        return None
    found, first = np.unique(y, return_index=True)
    return [(as_label(label), float(coded[i])) for label, i in zip(found, first)]


def reading_hints(table: Any, target: str | None) -> dict[str, Any]:
    """How the data file was read: what is 0-based, and which columns mean what."""
    hints = {
        "target": target,
        "features": None if table.features is None else list(table.features),
        "zero_based": table.zero_based,
    }
    return {name: hint for name, hint in hints.items() if hint is not None}


# --- a problem ------------------------------------------------------------------------------------


def _stated(one: Proven) -> tuple[dict[str, Any], dict[str, Any]]:
    """The entry of a problem in the header, and its arrays."""
    problem, proof = one.problem, one.certificate
    if not np.isfinite([proof.upper, proof.dual, proof.gap]).all():
        raise ValueError(f"there is no proof to write: {proof}")
    width = problem.width
    a, repairs = exactly_feasible(problem, np.asarray(one.dual, dtype=np.float64).ravel())
    arrays = {
        "w": np.asarray(one.coef, dtype=np.float64),
        "b": np.atleast_1d(np.asarray(one.intercept, dtype=np.float64)),
        "a": a if width > 1 else a.ravel(),
    }
    if problem.s is not None:
        arrays["weights"] = problem.s
    if problem.offset is not None:
        arrays["offset"] = problem.offset
    given = problem.feature_penalty if one.model is None else one.model.penalty
    penalty = stated_penalty(given, arrays, problem.p)
    zeros = proven_zero(problem, proof, one.dual)
    if zeros.any():
        arrays["zeros"] = zeros.astype(np.int8)
    reach = None
    if problem.targets.signs:
        signs, reach = certified_signs(problem, one.coef, one.intercept, one.dual, proof)
        if signs.any():
            arrays["labels"] = signs
            if problem.shift is not None:
                centre = arrays["centre"] = np.zeros(problem.p)
                centre[problem.shift.places] = problem.shift.by
    reach = reach if "labels" in arrays and problem.intercept is True else None
    stated = {
        "statement": {
            "loss": _loss(problem.given_loss),
            "penalty": penalty,
            "lam": float(problem.lam).hex(),
            "intercept": _INTERCEPTS[problem.intercept],
            "scaling": (problem.constant if problem.has_intercept else 1.0).hex(),
            "classes": width,
            "targets": {"column": one.column, "codes": _codes(one.labels)},
        },
        "claims": {
            "primal": float(proof.upper).hex(),
            "dual": float(proof.dual).hex(),
            "gap": float(proof.gap).hex(),
            "intercept_radius": None if reach is None else float(reach).hex(),
        },
        "repairs": [[k, hex(q.numerator), hex(q.denominator)] for k, q in sorted(repairs.items())],
    }
    if one.model is not None:
        one.model.restate(stated, arrays)
    return stated, {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _loss(loss: Any) -> dict[str, str]:
    for name, kind in dict[str, Any](losses.REGISTRY).items():
        if type(loss) is kind:
            return {"name": name, **{key: float(v).hex() for key, v in zip(loss._fields, loss)}}
    raise ValueError(f"a proof file cannot state the loss {loss!r}: it is not part of dualgap")


def _codes(labels: Sequence[tuple[Any, float]] | None) -> Any:
    if labels is None:
        return None
    found = [
        [label if isinstance(label, str) else float(label).hex(), float(code).hex()]
        for label, code in labels
    ]
    if len({label for label, _ in found}) < len(found):
        raise ValueError(
            "y has labels that float64 cannot distinguish: use smaller numbers or text"
        )
    return found


def as_label(label: Any) -> Any:
    """A label as the file stores it: a number or text."""
    value = label.item() if isinstance(label, np.generic) else label
    return float(value) if isinstance(value, (bool, int, float)) else str(value)


# --- digests --------------------------------------------------------------------------------------


def _sha(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _canonical(tree: Any) -> bytes:
    return json.dumps(tree, sort_keys=True, separators=(",", ":")).encode("ascii")


def _integers(*numbers: Any) -> bytes:
    return np.asarray(numbers, dtype="<i8").tobytes()


def _digest_of_matrix(X: Any) -> str:
    import scipy.sparse as sp

    rows = sp.csr_array(X) if not storage.is_sparse(X) else X.tocsr(copy=True)
    rows.eliminate_zeros()
    rows.sort_indices()
    return _sha(
        b"dualgap-matrix-1\n",
        _integers(*X.shape),
        rows.indptr.astype("<i8").tobytes(),
        rows.indices.astype("<i8").tobytes(),
        rows.data.astype("<f8").tobytes(),
    )


def _digest_of_targets(y: Any) -> str:
    if y.dtype.kind in "biuf":
        numbers = y.astype("<f8").reshape(len(y), -1) + 0.0
        return _sha(b"dualgap-numbers-1\n", _integers(*numbers.shape), numbers.tobytes())
    texts = [str(label).encode() for label in y]
    pieces = (_integers(len(text)) + text for text in texts)
    return _sha(b"dualgap-text-1\n", _integers(len(texts)), *pieces)
