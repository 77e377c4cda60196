"""Fit a model, print its proof, and show how six methods got there: ``make demo``."""

from pathlib import Path
from textwrap import fill

import matplotlib as mpl
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import dualgap as dg
from dualgap.plots import ConvergenceDisplay

METHODS = ("sdca", "iprox-sdca", "cd-permutation", "adasdca+ii", "adasdca+", "cd-gap-decay")


def main(picture: Path = Path("demo.png")) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    problem = dg.Problem(X, y, loss="smoothed-hinge", penalty="l2", lam=1 / len(y))
    print(f"Tumours benign or malignant: {problem.n} samples, {problem.d} features.\n")

    solution = dg.solve(problem, tol=1e-6)
    print(fill(solution.method, 80), fill(str(solution), 80), sep="\n", end="\n\n")
    proof = solution.certificate
    print(f"The coefficients are within {proof.radius:.1e} of the best ones, in Euclidean norm.")
    decided = abs(X @ solution.coef) > proof.decision_radius(X)
    print(f"{decided.sum()} of {problem.n} predictions are proven to be those of the best model.\n")

    runs, recordings = {}, {}
    for method in METHODS:
        dg.solve(problem, method, max_epochs=1)  # compiles what is new: seconds are for runs
        recordings[method] = dg.Recording()
        runs[method] = dg.solve(
            problem, method, tol=1e-8, max_epochs=300, callback=recordings[method]
        )
        reached, passes = runs[method].certificate.relative_gap, runs[method].passes
        print(f"{method:15s} certified gap {reached:.1e} of P(0) after {passes:3.0f} passes")
    mpl.use("Agg")
    display = ConvergenceDisplay(runs).plot()
    display.ax_.set_title("Smoothed hinge, L2, breast cancer data")
    display.figure_.savefig(picture, dpi=150)
    page = dg.report.write(
        picture.with_suffix(".html"), runs, problem, "Breast cancer data", recordings=recordings
    )
    print(
        f"\nThe way there: {picture.resolve()}\nThe same as a page for a browser: {page.resolve()}"
    )


if __name__ == "__main__":
    main()
