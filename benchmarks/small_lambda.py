"""Passes over the data at a tiny λ, where acceleration should pay: ``make bench-small-lambda``.

SDCA needs about n + R²/(λγ) steps for a digit, accelerated methods n + √(nR²/(λγ)). Each method
goes to a certified gap of 1e-4·P(0), or until its time is over; then ">" stands before the passes
it had made. Passes count the evaluations that a sampling asks for. Seconds, unlike passes, depend
on the machine.

Set DUALGAP_DATA to a folder with rcv1_subsets.binary.svm.bz2 (LIBSVM format); without it, a
generated text-like matrix stands in.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import one_thread, real_data, table
from sklearn.preprocessing import normalize

from dualgap import Problem, solve

TOL = 1e-4
LAMBDAS = (1e-6, 1e-7, 1e-8)
SECONDS = 40.0
METHODS = (
    "sdca",
    "cd-permutation",
    "auto",
    "spdc",
    "apcg",
    "accprox-sdca",
    "asdca",
    "afg",
    "lbfgs",
)
ACCELERATED = ("spdc", "apcg", "accprox-sdca", "asdca")


def text(name: str) -> tuple[str, Any, Any]:
    """A name, X with rows of norm 1, and y."""
    found = real_data(name)
    if found:
        return name, normalize(found[0]), found[1]
    return f"generated stand-in for {name}", *text_stand_in()


def text_stand_in() -> tuple[Any, Any]:
    """Words by Zipf's law, and a label that some of them speak for."""
    rng = np.random.default_rng(0)
    n, d, words = 20_000, 40_000, 75
    places = np.minimum((d ** rng.random((n, words)) - 1.0).astype(np.int32), d - 1)
    X = sp.csr_matrix((np.ones(n * words), (np.repeat(np.arange(n), words), places.ravel())))
    X.data = np.log1p(X.data)
    X = normalize(
        X.multiply(
            np.log(n / (1.0 + np.bincount(places.ravel(), minlength=X.shape[1])) + 2.0)
        ).tocsr()
    )
    scores = X @ rng.standard_normal(X.shape[1])
    return X, np.where(scores + 0.3 * scores.std() * rng.standard_normal(n) > 0.0, 1.0, -1.0)


def show(name: str, lam: float) -> None:
    data, X, y = text(name)
    problem = Problem(X, y, "smoothed-hinge", "l2", lam)
    rows, first, best = [], None, {}
    for method in METHODS:
        solution = solve(problem, method, tol=TOL, max_epochs=10**6, max_seconds=SECONDS)
        done = solution.certificate.gap <= solution.target
        first = first or solution.passes
        best[method] = solution.passes if done else np.inf
        sign = "" if done else ">"
        rows.append(
            [
                method,
                f"{sign}{solution.passes:.1f}",
                f"{solution.history.seconds[-1]:.1f}",
                f"{sign}{solution.passes / first:.2f}",
                f"{solution.certificate.relative_gap:.1e}",
            ]
        )
    print(f"{data}: {problem.n} x {problem.d}, λ = {lam:g} (λn = {lam * problem.n:.2g})\n")
    table(("method", "passes", "seconds", "passes / SDCA's", "gap / P(0)"), rows)
    winner = min(ACCELERATED, key=lambda method: best[method])
    met = "yes" if best[winner] < best["sdca"] else "no"
    print(f"An accelerated method needs fewer passes than SDCA: {met} ({winner})\n", flush=True)


def main() -> None:
    print(f"Smoothed hinge (γ = 1) + L2 to a certified gap of {TOL:g}·P(0)\n")
    with one_thread():
        for name in sys.argv[1:] or ["rcv1_subsets.binary"]:
            for lam in LAMBDAS:
                show(name, lam)


if __name__ == "__main__":
    main()
