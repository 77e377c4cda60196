"""The fit of an estimator: problems in, solutions with certificates out, attributes set.

An estimator is one ``Problem`` or a list of them (one-vs-rest, several targets), each a ``Task``.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from dualgap.estimators import _checks
from dualgap.estimators._callbacks import CallbackSupport, Tasks
from dualgap.estimators._fits import Fit, Task, complaint, finish, in_threads
from dualgap.estimators._penalties import constraints_of
from dualgap.linalg import storage
from dualgap.linalg.validate import Floats, number
from dualgap.penalties import L2, NonNegative
from dualgap.problem import Problem
from dualgap.proof.claims import proven_fits
from dualgap.proof.predictions import coef_lines
from dualgap.proof.proof_file import write_proof
from dualgap.run.loop import Snapshot
from dualgap.run.solution import Status
from dualgap.run.solve import solve

PROOFS = (
    "certificate_",
    "dual_coef_",
    "dual_gap_",
    "history_",
    "solution_",
    "support_certified_",
    "_radii",
    "_trained",
)
FORMAT = 1  # of pickled estimators; raised when older versions could not use a newer state
STORAGES = ("csr", "csc")
DTYPES = (np.float64, np.float32)


class CertifiedModel(CallbackSupport, BaseEstimator):
    """What all estimators share; subclasses name loss, penalty and strength."""

    _joint = False  # whether one problem has a column of coefficients for each class

    # --- what a subclass says ------------------------------------------------------------------

    def _loss(self) -> Any:
        raise NotImplementedError

    def _penalty(self) -> Any:
        return L2()

    def _lam(self, total: float) -> float:
        """λ ≥ 0 for a sum of sample weights."""
        raise NotImplementedError

    def _intercept(self) -> bool | str:
        return _checks.flag(self.fit_intercept, "fit_intercept")

    def _task(self, y: Any, weights: Floats | None, p: int, lam: float | None = None) -> Task:
        lam = self._lam(_checks.total(weights, len(y))) if lam is None else lam
        penalty = self._penalty()
        if _checks.flag(getattr(self, "positive", False), "positive"):
            penalty = NonNegative(penalty)
        if lam == 0.0:
            penalty = constraints_of(penalty, p)
        return Task(y, weights, self._loss(), penalty, lam if lam > 0.0 else 1.0)

    # --- fitting -------------------------------------------------------------------------------

    def _complete(self, X: Any, tasks: list[Task], data: dict[str, Any], *, single: bool) -> Any:
        """Solve all tasks, set the attributes, and tell callbacks, who get to see ``data``."""
        reports = Tasks(self, data, len(tasks), _checks.rounds(self.max_iter))
        fits = self._solve(X, tasks, reports)
        self._publish(fits, single=single)
        self._trained = X, data["y"], tasks, fits
        reports.end()
        return self

    def save_proof(self, path: Any) -> Any:
        """Write a proof file that ``dgcheck DATA PROOF`` checks without this library.

        Parameters
        ----------
        path : str or path
            For example "model.dgp".

        Returns
        -------
        Path
            Where it was written. The file has a problem for each of the model's.
        """
        check_is_fitted(self)
        if "_trained" not in self.__dict__:
            raise ValueError(
                "save_proof needs the training data, which copies and pickles of a model do not "
                "keep: call it on the model that was fitted"
            )
        X, y, tasks, fits = self._trained
        problems = (self._problem_of(X, task) for task in tasks)
        return write_proof(path, X, y, proven_fits(y, list(zip(problems, fits))))

    def _problem_of(self, X: Any, task: Task) -> Problem:
        return Problem(
            X,
            task.y,
            task.loss,
            task.penalty,
            task.lam,
            task.weights,
            intercept=self._intercept(),
            intercept_scaling=getattr(self, "intercept_scaling", 1.0),
        )

    def _solve(self, X: Any, tasks: list[Task], reports: Tasks) -> list[Fit]:
        """With as many threads as ``n_jobs`` allows."""
        X = storage.as_data(X)  # once, should it need a copy
        rounds = _checks.rounds(self.max_iter)
        number(self.tol, "tol", 0.0)
        stop = threading.Event()
        starts = self._starts(X, len(tasks))
        seeds = _checks.seeds(getattr(self, "random_state", None), len(tasks))
        threads = effective_n_jobs(self.n_jobs)
        workers = min(threads, len(tasks))
        alone = workers == 1
        # Nobody who leaves n_jobs alone minds what passes over large data use, as BLAS does.
        each = None if alone and self.n_jobs is None else threads if len(tasks) == 1 else 1

        def run(k: int) -> Fit:
            listener = reports.listener(k)

            def watch(snapshot: Snapshot) -> bool:
                told = listener is not None and listener(snapshot)
                asked = self.callback is not None and bool(self.callback(snapshot))
                return told or asked or stop.is_set()

            quiet = listener is None and self.callback is None and alone
            return self._run(
                X, tasks[k], starts[k], 0 if stop.is_set() else rounds, None if quiet else watch,
                seed=seeds[k], n_threads=each,
                show=alone and bool(self.verbose),
            )  # fmt: skip

        if alone:
            fits = []
            for k in range(len(tasks)):
                fits.append(run(k))
                last = fits[-1].solution
                if last.status is Status.INTERRUPTED or (last.interrupted and k + 1 < len(tasks)):
                    stop.set()
        else:
            fits = in_threads(run, len(tasks), workers, stop)
        words = complaint([fit.solution for fit in fits], self.tol, rounds, stop.is_set())
        if words:
            warnings.warn(words, ConvergenceWarning, stacklevel=5)
        return fits

    def _run(
        self,
        X: Any,
        task: Task,
        start: Any,
        rounds: int,
        watch: Any,
        *,
        seed: int,
        n_threads: int | None,
        show: bool,
    ) -> Fit:
        problem = self._problem_of(X, task)
        solution = solve(
            problem,
            self.method,
            self.sampling,
            tol=self.tol,
            max_epochs=rounds,
            random_state=seed,
            callback=watch,
            progress=show,
            warm_start=start,
            n_threads=n_threads,
        )
        return finish(problem, solution)

    def _starts(self, X: Any, count: int) -> list[Any]:
        """For each task where it starts: the last fit, as far as it fits."""
        nothing = [None] * count
        if not _checks.flag(getattr(self, "warm_start", False), "warm_start"):
            return nothing
        coef = getattr(self, "coef_", None)
        if coef is None:
            return nothing
        n, p = X.shape
        coef = coef_lines(coef)
        lines = len(self.classes_) if self._joint else count
        if coef.shape != (lines, p):
            return nothing
        wanted = self._intercept() is not False
        intercept = np.broadcast_to(self.intercept_ if wanted else 0.0, lines).astype(np.float64)
        dual: Any = np.atleast_2d(getattr(self, "dual_coef_", np.empty((0, 0))))
        dual = dual if dual.shape == (lines, n) else None
        if self._joint:
            return [(coef.T, intercept, None if dual is None else dual.T)]
        return [(coef[k], intercept[k], None if dual is None else dual[k]) for k in range(lines)]

    # --- attributes ----------------------------------------------------------------------------

    def _publish(self, fits: list[Fit], *, single: bool) -> None:
        """Set all attributes; ``single``: without a first dimension for targets or classes."""
        lines = [np.asarray(fit.coef).T for fit in fits]
        duals = [fit.dual.T for fit in fits]
        zeros = [fit.zeros.T for fit in fits]
        intercepts = [np.atleast_1d(fit.intercept) for fit in fits]
        if single:
            self.coef_, self.dual_coef_, self.support_certified_ = lines[0], duals[0], zeros[0]
            self.intercept_ = fits[0].intercept
        else:
            self.coef_, self.dual_coef_ = np.vstack(lines), np.vstack(duals)
            self.support_certified_ = np.vstack(zeros)
            self.intercept_ = np.concatenate(intercepts)
        solutions = [fit.solution for fit in fits]
        certificates = [fit.certificate for fit in fits]
        rounds = [len(solution.history) - 1 for solution in solutions]
        self._radii = [fit.radius for fit in fits]
        one = len(fits) == 1
        self.solution_ = solutions[0] if one else solutions
        self.certificate_ = certificates[0] if one else certificates
        self.history_ = solutions[0].history if one else [s.history for s in solutions]
        gaps = [certificate.gap for certificate in certificates]
        self.dual_gap_ = gaps[0] if one else np.array(gaps)
        self.n_iter_ = rounds[0] if one else np.array(rounds)

    def _forget_proofs(self) -> None:
        """Those of an earlier fit, by a model that has none."""
        for name in PROOFS:
            self.__dict__.pop(name, None)

    def _as_fitted(self, snapshot: Snapshot) -> dict[str, Any]:
        """The attributes that a model in the making needs for predictions."""
        return {"coef_": snapshot.coef.T, "intercept_": snapshot.intercept}

    def _read(self, X: Any) -> Any:
        """Data to predict for, checked."""
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse=STORAGES, dtype=DTYPES, reset=False)

    # --- scikit-learn's and Python's protocols -------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = {**super().__getstate__(), "_dualgap_format": FORMAT}
        state.pop("_trained", None)  # the training data
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        found = state.pop("_dualgap_format", FORMAT)
        if found > FORMAT:
            raise ValueError(
                f"this {type(self).__name__} was saved by a newer dualgap (format {found}, known "
                f"are those up to {FORMAT}): upgrade dualgap, or fit again"
            )
        super().__setstate__(state)
