"""dualgap as a solver of the public benchopt suites.

Copy this file into the folder ``solvers`` of a suite, under any name, and run for example
``benchopt run benchmark_lasso -s dualgap``. The name of the suite's folder tells which problem it
is about; README.md has the list.
"""

from pathlib import Path

import numpy as np
from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion

import dualgap

LOOSEST, TIGHTEST = 1e-1, 1e-13
PENALTIES = dualgap.penalties


def _sum(n, lmbd):
    return lmbd / n


def _mean(n, lmbda):
    return lmbda


def _svm(n, C):
    return 1.0 / (n * C)


# Loss, penalty (from the share of L1), and λ from n and what the suite calls its parameter.
SUITES = {
    "benchmark_lasso": ("squared", lambda _: PENALTIES.L1(), "lmbd", _sum),
    "benchmark_ridge": ("squared", lambda _: PENALTIES.L2(), "lmbd", _sum),
    "benchmark_elastic_net": ("squared", PENALTIES.ElasticNet, "lmbda", _mean),
    "benchmark_logreg_l1": ("logistic", lambda _: PENALTIES.L1(), "lmbd", _sum),
    "benchmark_logreg_l2": ("logistic", lambda _: PENALTIES.L2(), "lmbd", _sum),
    "benchmark_linear_svm_binary_classif_no_intercept": (
        "hinge",
        lambda _: PENALTIES.L2(),
        "C",
        _svm,
    ),
}
SUITE = Path(__file__).resolve().parents[1].name


class Solver(BaseSolver):
    """Coordinate, Newton and working-set steps, picked by the shape of the problem, with a
    duality-gap certificate.
    """

    name = "dualgap"
    sampling_strategy = "tolerance"
    # With a loose tolerance the same epoch may do for the next ones too.
    stopping_criterion = SufficientProgressCriterion(patience=6, strategy="tolerance")
    requirements = ["pip::dualgap"]  # noqa: RUF012 (benchopt asks for a list)

    def skip(self, X, **_):
        if SUITE not in SUITES:
            return True, f"dualgap does not know {SUITE}, only {', '.join(SUITES)}"
        if not hasattr(X, "__array__") and not hasattr(X, "tocsr"):
            return True, "dualgap needs the entries of X, not an operator"
        return False, None

    def set_objective(self, X, y, fit_intercept=False, l1_ratio=None, **parameters):
        self.loss, penalty, key, lam = SUITES[SUITE]
        self.X, self.y = X, np.asarray(y, dtype=float).ravel()
        self.penalty = penalty(l1_ratio)
        self.lam = lam(X.shape[0], parameters[key])
        self.fit_intercept = bool(fit_intercept)

    def warm_up(self):
        """Kernels are compiled, or read from the cache."""
        self.run(LOOSEST)
        self.run(1e-6)

    def get_next(self, tolerance):
        return max(TIGHTEST, min(LOOSEST, tolerance / 10.0**0.5))

    def run(self, tolerance):
        if tolerance > 1.0:  # benchopt asks for the start, too
            self.beta = np.zeros(self.X.shape[1] + self.fit_intercept)
            return
        problem = dualgap.Problem(
            self.X, self.y, self.loss, self.penalty, self.lam, intercept=self.fit_intercept
        )
        solution = dualgap.solve(problem, tol=tolerance, max_epochs=10**7)
        intercept = [solution.intercept] if self.fit_intercept else []
        self.beta = np.r_[solution.coef, intercept]

    def get_result(self):
        return {"beta": self.beta}
