"""Passes over the data at a tiny λ, where acceleration should pay: ``make bench-small-lambda``.

SDCA needs about n + R²/(λγ) steps for a digit, accelerated methods n + √(nR²/(λγ)). Each method
goes to a certified gap of 1e-4·P(0), or until its time is over; then ">" stands before the passes
it had made. Passes count the evaluations that a sampling asks for. Seconds, unlike passes, depend
on the machine.

The set is rcv1 unless others are named; generated text stands in when it cannot be had (see
``dualgap.datasets.load``).
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.preprocessing import normalize

from benchmarks.common import one_thread, table
from dualgap import Problem, datasets, solve

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


def show(name: str, lam: float) -> None:
    data = datasets.load(name, missing="synthetic")
    problem = Problem(normalize(data.X), data.y, "smoothed-hinge", "l2", lam)
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
    print(f"{data.name}: {problem.n} x {problem.d}, λ = {lam:g} (λn = {lam * problem.n:.2g})\n")
    table(("method", "passes", "seconds", "passes / SDCA's", "gap / P(0)"), rows)
    winner = min(ACCELERATED, key=lambda method: best[method])
    met = "yes" if best[winner] < best["sdca"] else "no"
    print(f"An accelerated method needs fewer passes than SDCA: {met} ({winner})\n", flush=True)


def main() -> None:
    print(f"Smoothed hinge (γ = 1) + L2 to a certified gap of {TOL:g}·P(0)\n")
    with one_thread():
        for name in sys.argv[1:] or ["rcv1"]:
            for lam in LAMBDAS:
                show(name, lam)


if __name__ == "__main__":
    main()
