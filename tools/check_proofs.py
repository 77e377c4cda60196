"""Random problems, hard on purpose, whose certificates ``dgcheck`` must verify.

They cover every loss, penalty, kind of intercept, weights and storage, columns from 1e-8 to 1e8,
shifts and offsets up to 1e8, constant, zero, duplicate and collinear columns, and a single sample;
groups of features (of one, all in one, without weight) and categorical columns; through ``solve``,
``certify`` and every estimator. The number of a problem is its seed: ``--only
1234`` repeats it.

    python tools/check_proofs.py --problems 3000
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

import dgcheck
import dualgap as dg
from dualgap.penalties import L1, L2, Box, ElasticNet, GroupLasso, SparseGroupLasso, Weighted
from dualgap.problem.intercept import joined
from dualgap.proof import terms
from dualgap.proof.proof_file import Proven, proven_fits, write_proof
from dualgap.proof.prove import prove

VERIFIED, REFUSED, NO_BOUND, BAD_INPUT, CRASHED = (
    "verified",
    "REFUSED",
    "no bound",
    "input",
    "CRASH",
)
WAYS = ("solve", "solve", "certify", "estimator")
STORAGES = ("rows", "rows", "rows", "columns", "csr", "csc", "float32")
_FOLDS = 3


class Outcome(NamedTuple):
    """The verdict on a problem; ``free``: whether its intercept is unpenalised."""

    number: int
    verdict: str
    what: str
    free: bool
    gap: float = np.nan


# --- problems -------------------------------------------------------------------------------------


def data(rng: np.random.Generator) -> tuple[Any, Any]:
    """X, and a vector that X explains in part."""
    n, p = int(rng.choice([1, 2, 3, 5, 8, 20, 40])), int(rng.choice([1, 2, 3, 6]))
    X = rng.normal(size=(n, p))
    signal = X @ rng.normal(size=p) + 0.3 * rng.normal(size=n)
    storage = rng.choice(STORAGES)
    if storage in ("csr", "csc"):
        X *= rng.random((n, p)) < 0.6
    for j in range(p):
        kind = rng.choice(["plain", "plain", "scaled", "offset", "constant", "zero", "twin", "sum"])
        if kind == "scaled":
            X[:, j] *= 10.0 ** rng.uniform(-8, 8)
        elif kind == "offset":
            X[:, j] += rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(0, 8)
        elif kind == "constant":
            X[:, j] = 10.0 ** rng.uniform(-3, 6)
        elif kind == "zero":
            X[:, j] = 0.0
        elif kind == "twin":
            X[:, j] = X[:, 0]
        elif kind == "sum":
            X[:, j] = X.sum(axis=1)
    if storage == "float32":
        return X.astype(np.float32), signal
    if storage == "columns":
        return np.asfortranarray(X), signal
    if storage in ("csr", "csc"):
        return (sp.csr_array if storage == "csr" else sp.csc_array)(X), signal
    return X, signal


def weights(rng: np.random.Generator, n: int) -> Any:
    kind = rng.choice(["none", "none", "some", "wild", "zeros"])
    if kind == "none":
        return None
    found = rng.random(n) + 0.1
    if kind == "wild":
        found = 10.0 ** rng.uniform(-12, 12, size=n)
    if kind == "zeros":
        found *= rng.random(n) < 0.7
    return found


def targets(rng: np.random.Generator, kind: str, signal: Any) -> Any:
    if kind == "none":
        return np.zeros(len(signal))
    if kind == "real":
        scale, offset = 10.0 ** rng.uniform(-3, 3), rng.choice([0.0, 0.0, 1.0, 1e6])
        return np.round(signal) if rng.random() < 0.2 else scale * signal + offset
    if kind == "count":
        return rng.poisson(np.exp(np.clip(signal, -3, 3))).astype(float)
    if kind == "positive":
        return 10.0 ** rng.uniform(-6, 6) * rng.gamma(2.0, np.exp(np.clip(signal, -3, 3)))
    if kind == "binary":
        return np.where(signal > np.quantile(signal, rng.uniform(0.2, 0.8)), 1, -1)
    edges = np.quantile(signal, np.linspace(0, 1, int(rng.integers(2, 5)) + 1)[1:-1])
    return np.searchsorted(edges, signal)


def loss_of(rng: np.random.Generator) -> Any:
    kind = dg.losses.REGISTRY[str(rng.choice(list(dg.losses.REGISTRY)))]
    if "q" in kind._fields:
        return kind(float(rng.choice([0.0, 0.1, 0.5, 0.9, 1.0])))
    if "power" in kind._fields:
        return kind(float(rng.choice([1.01, 1.1, 1.5, 1.9, 1.99])))
    return kind(*(float(10.0 ** rng.uniform(-2, 1)) for _ in kind._fields))


def penalty_of(rng: np.random.Generator, p: int) -> Any:
    base = [L2(), L1(), ElasticNet(float(rng.choice([0.1, 0.5, 0.9])))][int(rng.integers(3))]
    kind = rng.choice(["plain", "plain", "weighted", "box", "groups"])
    if kind == "groups":
        return groups_of(rng, p)
    if kind == "weighted":
        return Weighted(base, rng.choice([0.0, 0.5, 1.0, 3.0, np.inf], size=p))
    if kind == "box":
        low, high = -float(rng.choice([0.0, 1.0, np.inf])), float(rng.choice([0.5, np.inf]))
        return Box(low, high, base)
    return base


def groups_of(rng: np.random.Generator, p: int) -> Any:
    """A penalty on random groups: of size one, all in one, some of them without weight."""
    labels = (np.arange(p), np.zeros(p, int), rng.integers(0, 3, p))[int(rng.integers(3))]
    groups = [np.flatnonzero(labels == k).tolist() for k in np.unique(labels)]
    ratio, positive = float(rng.choice([0.3, 1.0])), bool(rng.random() < 0.2)
    weights = rng.choice([0.0, 0.5, 2.0], size=len(groups)) if rng.random() < 0.4 else None
    if rng.random() < 0.5:
        return GroupLasso(groups, weights, ratio, positive)
    return SparseGroupLasso(groups, float(rng.choice([0.0, 0.2, 1.0])), weights, ratio, positive)


def offset_of(rng: np.random.Generator, y: Any, block: bool) -> Any:
    kind = rng.choice(["none", "none", "plain", "large", "wild"])
    if kind == "none":
        return None
    shape = (len(y), len(np.unique(y))) if block else (len(y),)
    found = rng.normal(size=shape)
    if kind == "large":
        found += rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(0, 8)
    if kind == "wild":
        found *= 10.0 ** rng.uniform(-8, 8, size=shape)
    return found


def problem_of(rng: np.random.Generator) -> dg.Problem:
    X, signal = data(rng)
    loss = loss_of(rng)
    intercept = rng.choice([True, True, True, False, "penalised"])
    y = targets(rng, loss.targets, signal)
    penalty, lam = penalty_of(rng, X.shape[1]), float(10.0 ** rng.uniform(-6, 1))
    s, scaling = weights(rng, X.shape[0]), float(rng.choice([1.0, 3.7]))
    intercept = "penalised" if intercept == "penalised" else intercept == "True"
    offset = offset_of(rng, y, loss.targets == "classes")
    return dg.Problem(X, y, loss, penalty, lam, s, intercept, scaling, offset)


# --- three ways to a certificate ------------------------------------------------------------------


def by_solve(rng: np.random.Generator) -> tuple[Any, Any, list[Proven], str]:
    problem = problem_of(rng)
    tol = float(rng.choice([1e-3, 1e-6, 1e-10]))
    solution = dg.solve(problem, tol=tol, max_epochs=100, max_seconds=1.0)
    y = problem.given_y
    return problem.given, y, proven_fits(y, [(problem, solution)]), repr(problem)


def by_certify(rng: np.random.Generator) -> tuple[Any, Any, list[Proven], str]:
    problem = problem_of(rng)
    coef = problem.features.origin.copy()
    kind = rng.choice(["origin", "random", "near"])
    if kind == "random":
        coef += rng.normal(size=len(coef)) * 10.0 ** rng.uniform(-8, 0)
    if kind == "near":
        found = dg.solve(problem, tol=1e-3, max_epochs=50, max_seconds=1.0)
        coef = joined(problem, found.coef, found.intercept)
        coef *= 1.0 + 1e-9 * rng.normal(size=len(coef))
    coef = projected(problem.penalty, coef)
    own, intercept = problem.split(coef)
    certificate, dual = prove(problem, joined(problem, own, intercept), None)
    y = problem.given_y
    part = _Fit(own, intercept, problem.shaped(dual), certificate)
    return problem.given, y, proven_fits(y, [(problem, part)]), f"certify {problem!r}"


def projected(penalty: Any, coef: Any) -> Any:
    out = np.empty(len(coef))
    terms.projected(penalty, coef, out)
    return out


class _Fit(NamedTuple):
    coef: Any
    intercept: Any
    dual: Any
    certificate: Any


def estimator_of(rng: np.random.Generator) -> tuple[Any, str]:
    """An estimator with random or default settings, and the kind of targets that it needs."""
    flag = bool(rng.random() < 0.75)
    strength = float(10.0 ** rng.uniform(-4, 2))
    kinds: list[tuple[str, str, dict[str, Any]]] = [
        ("LinearSVC", "classes", {"C": strength}),
        ("LinearSVC", "classes", {"loss": "hinge"}),
        ("LinearSVC", "binary", {"penalty": "l1", "C": strength}),
        ("LogisticRegression", "classes", {"C": strength}),
        ("LogisticRegression", "binary", {"l1_ratio": 1.0, "C": strength}),
        ("RidgeClassifier", "classes", {"alpha": strength}),
        ("CertifiedClassifier", "classes", {"loss": "multiclass-hinge"}),
        ("Ridge", "real", {"alpha": strength}),
        ("Lasso", "real", {"alpha": strength}),
        ("ElasticNet", "real", {"alpha": strength}),
        ("Lasso", "real", {"positive": True, "alpha": strength}),
        ("LinearSVR", "real", {"C": strength}),
        ("HuberRegression", "real", {}),
        ("QuantileRegressor", "real", {"alpha": strength, "quantile": 0.1}),
        ("PoissonRegressor", "count", {"alpha": strength}),
        ("GammaRegressor", "positive", {"alpha": strength}),
        ("TweedieRegressor", "count", {"power": 1.5, "alpha": strength}),
        ("NegativeBinomialRegressor", "count", {"alpha": strength}),
        ("OneClassSVM", "none", {"nu": float(rng.choice([0.05, 0.3, 0.7, 1.0]))}),
        ("OrdinalLogisticRegression", "classes", {"C": strength}),
        ("GroupLasso", "real", {"groups": 1, "alpha": strength}),
        ("SparseGroupLasso", "real", {"groups": 1, "alpha": strength}),
        ("CertifiedRegressor", "real", {"penalty": "elastic-net"}),
        ("LassoCV", "real", {"cv": _FOLDS, "alphas": 5}),
        ("ElasticNetCV", "real", {"cv": _FOLDS, "alphas": 5}),
        ("RidgeCV", "real", {}),
        ("LogisticRegressionCV", "binary", {"cv": _FOLDS, "Cs": 3}),
    ]
    name, kind, settings = kinds[int(rng.integers(len(kinds)))]
    if rng.random() < 0.3 and "cv" not in settings:
        settings = {key: value for key, value in settings.items() if key == "loss"}
    model = getattr(dg, name)(**settings)
    if "fit_intercept" in model.get_params():
        model.set_params(fit_intercept=flag)
    return model, kind


def by_estimator(rng: np.random.Generator) -> tuple[Any, Any, Any, str]:
    model, kind = estimator_of(rng)
    X, signal = data(rng)
    y = targets(rng, kind, signal)
    if rng.random() < 0.2 and kind in ("classes", "binary"):
        y = np.array([f"label {value}" for value in y])
    s = weights(rng, X.shape[0])
    if hasattr(model, "max_iter") and "CV" not in type(model).__name__:
        model.set_params(max_iter=100)
    more = {} if s is None else {"sample_weight": s}
    if kind in ("real", "count", "binary") and rng.random() < 0.3:
        offset = offset_of(rng, y, False)
        more |= {} if offset is None else {"offset": offset}
    if type(X) is np.ndarray and rng.random() < 0.2:
        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        table["kind"] = pd.Categorical(rng.choice(list("abc"), size=len(table)))
        model.set_params(categories="auto").fit(table, y, **more)
        return model.encoded(table), y, model, repr(model)
    if "penalty_weight" in model.get_params() and rng.random() < 0.2:
        model.penalty_weight = rng.choice([0.5, 1.0, 3.0, np.inf], size=X.shape[1])
    model.fit(X, y, **more)
    return X, y, model, repr(model)


# --- the judge ------------------------------------------------------------------------------------


def check(number: int, folder: Path) -> Outcome:
    """Solve one problem and let ``dgcheck`` verify its certificate."""
    rng = np.random.default_rng([2026, number])
    way = WAYS[number % len(WAYS)]
    act = {"solve": by_solve, "certify": by_certify, "estimator": by_estimator}[way]
    what, free = way, False
    try:
        X, y, proven, what = act(rng)
        free = "intercept=True" in what or (way == "estimator" and proven.fit_intercept)
        proof, table = folder / "proof.dgp", folder / "data.npz"
        gap = _write(proof, X, y, proven)
        dense = X.toarray() if sp.issparse(X) else X
        np.savez(table, X=dense, y=y)
    except ValueError as error:
        verdict = BAD_INPUT if "there is no proof" not in str(error) else NO_BOUND
        return Outcome(number, verdict, f"{what}: {error}", free)
    except Exception as error:
        return Outcome(number, CRASHED, f"{what}: {type(error).__name__}: {error}", free)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = dgcheck.main([str(table), str(proof)])
    if code == 0:
        return Outcome(number, VERIFIED, what, free, gap)
    return Outcome(
        number, REFUSED, f"{what}: {said.getvalue().strip().splitlines()[-1]}", free, gap
    )


def _write(path: Path, X: Any, y: Any, proven: Any) -> float:
    if isinstance(proven, list):
        worst = max(one.certificate.relative_gap for one in proven)
        write_proof(path, X, y, proven)
        return float(worst)
    found = proven.certificate_
    found = found if isinstance(found, list) else [found]
    proven.save_proof(path)
    return float(max(one.relative_gap for one in found))


def check_many(numbers: range) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [check(number, Path(folder)) for number in numbers]


def report(found: list[Outcome]) -> bool:
    """Print all verdicts. True if no certificate was refused and nothing crashed."""
    counts = Counter(each.verdict for each in found)
    judged = [each for each in found if each.verdict in (VERIFIED, REFUSED)]
    free = sum(each.free for each in judged)
    print(f"{len(found)} problems: " + ", ".join(f"{n} {name}" for name, n in counts.items()))
    print(f"of {len(judged)} certificates {free} have a free intercept")
    gaps = np.array([each.gap for each in judged])
    for level in (1e-10, 1e-6, 1e-3, 1.0):
        print(f"relative gap up to {level:.0e}: {np.count_nonzero(gaps <= level)}")
    reasons = Counter(
        each.what.split(": ", 1)[-1][:60] for each in found if each.verdict == BAD_INPUT
    )
    for reason, count in reasons.most_common(12):
        print(f"{count} refused as input: {reason} ...")
    for each in found:
        if each.verdict in (REFUSED, CRASHED, NO_BOUND):
            print(f"{each.number} {each.verdict}: {each.what}")
    return not (counts[REFUSED] or counts[CRASHED])


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Let dgcheck verify certificates of random problems."
    )
    parser.add_argument("--problems", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    if asked.only is not None:
        (found,) = check_many(range(asked.only, asked.only + 1))
        print(found)
        return int(found.verdict in (REFUSED, CRASHED))
    last = asked.first + asked.problems
    parts = [range(k, min(k + 100, last)) for k in range(asked.first, last, 100)]
    with ProcessPoolExecutor(asked.jobs) as pool:
        found_in = pool.map(check_many, parts)
        found = [each for some in found_in for each in some]
    return 0 if report(found) else 1


if __name__ == "__main__":
    sys.exit(main())
