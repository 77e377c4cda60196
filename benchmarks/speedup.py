"""How many iterations sets of samples save, against theory: ``make bench-speedup``, minutes.

Quartz on sets of τ samples needs T(τ) iterations to a gap; theory knows the ratio T(1)/T(τ) of its
bounds (Qu et al. 2014, section 4). Here the same ratio is measured, as the mean of several seeds;
between two rows of the history the logarithm of the gap is interpolated.

1. τ-nice sets. 2. Sets from c parts of the data, τ of each, with cτ constant. 3. One sample of each
of τ groups that share no feature (product sampling), on data made for that.

The set is w8a; generated data stand in when it cannot be had (see ``dualgap.datasets.load``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.common import table
from dualgap import Problem, datasets, samplings, solve
from dualgap.samplings import theory
from papers.made import groups

GAP = 1e-8
LIMIT = 0.25
SETS = (4, 16, 64)
PARTS = ((1, 16), (2, 8), (4, 4), (8, 2), (16, 1))
GROUPS = (4, 16, 64)


def iterations(problem: Problem, sampling: Any, seeds: int) -> float:
    """Mean number of sets until the gap is ``GAP``."""
    return float(np.mean([_one_run(problem, sampling, seed) for seed in range(seeds)]))


def _one_run(problem: Problem, sampling: Any, seed: int) -> float:
    solution = solve(
        problem,
        "quartz-u",
        sampling=sampling,
        tol=GAP / problem.scale,
        max_epochs=20_000,
        random_state=seed,
    )
    gaps, sets = np.array(solution.history.gap), np.array(solution.history.iterations)
    if gaps[-1] > GAP:
        raise RuntimeError(f"{sampling} did not reach a gap of {GAP}: {solution.status}")
    last = int(np.argmax(gaps <= GAP))
    logs = np.log(np.maximum(gaps[last - 1 : last + 1], 1e-300))
    share = (logs[0] - np.log(GAP)) / (logs[0] - logs[1])
    return float(sets[last - 1] + share * (sets[last] - sets[last - 1]))


def show(problem: Problem, cases: Sequence[tuple[str, Any]], seeds: int) -> None:
    """A table of measured and promised speed-ups."""
    alone = iterations(problem, samplings.Uniform(), seeds)
    rows = [["one sample", f"{alone:.0f}", "1.00", "1.00", "", ""]]
    for name, sampling in cases:
        needed = iterations(problem, sampling, seeds)
        measured, promised = alone / needed, theory.speedup(problem, sampling)
        ratio = measured / promised
        met = "yes" if abs(ratio - 1.0) <= LIMIT else "no"
        rows.append(
            [name, f"{needed:.0f}", f"{measured:.2f}", f"{promised:.2f}", f"{ratio:.3f}", met]
        )
    table(("sets", "iterations", "measured", "theory", "ratio", "met"), rows)


def main() -> None:
    w8a = datasets.load("w8a", missing="synthetic")
    data, X, y = w8a.name, w8a.X, w8a.y
    n = len(y)
    print(f"Smoothed hinge (γ = 1) + L2, iterations to a gap of {GAP:g}: T(1)/T(set).")
    print(f"Required: measured / theory within {LIMIT:.0%}.\n")
    for name, lam, seeds in (("1/√n", n**-0.5, 3), ("1/n", 1.0 / n, 1)):
        problem = Problem(X, y, "smoothed-hinge", "l2", lam)
        print(f"1.  τ-nice sets, {data}, λ = {name}, mean of {seeds} seeds\n")
        show(problem, [(f"τ = {tau}", samplings.TauNice(tau)) for tau in SETS], seeds)
    problem = Problem(X, y, "smoothed-hinge", "l2", n**-0.5)
    print(f"2.  τ samples of each of c parts, {data}, λ = 1/√n, mean of 3 seeds\n")
    cases = [(f"c = {c}, τ = {tau}", samplings.Distributed(c, tau)) for c, tau in PARTS]
    show(problem, cases, 3)
    X, y = groups(64, 100, 50, 10)
    problem = Problem(X, y, "smoothed-hinge", "l2", 1.0 / len(y))
    print("3.  One sample of each of τ groups, generated data: 64 groups of 100 samples that share")
    print("    no feature, λ = 1/n, mean of 3 seeds\n")
    show(problem, [(f"τ = {tau}", samplings.Product(tau)) for tau in GROUPS], 3)


if __name__ == "__main__":
    main()
