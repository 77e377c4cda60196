"""Solve the problems of an estimator: threads, callbacks, warnings, and what is kept of a solution.

``solve_all`` is the way from subproblems to fits. A ``Fit`` has the coefficients in the dtype of X
and the certificate of those.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from dualgap.estimators.fitted import Fit, finish, published
from dualgap.linalg.validate import Floats, number, whole
from dualgap.run.known_solution import known_solution
from dualgap.run.snapshot import Snapshot
from dualgap.run.solution import Solution, Status
from dualgap.run.solve import solve

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in for scikit-learn's."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


_MAX_EPOCHS = 10_000  # for max_iter=None; the default of max_iter elsewhere


class Subproblem(NamedTuple):
    """One of the problems of an estimator, without X."""

    y: Any
    weights: Floats | None
    loss: Any
    penalty: Any
    lam: float
    offset: Any = None


class Stop:
    """Whether all runs should end, in whichever threads they are."""

    requested = False


# --- solving --------------------------------------------------------------------------------------


def solve_all(
    model: Any, X: Any, subproblems: list[Subproblem], starts: list[Any], reports: Reports
) -> list[Fit]:
    """A fit for each subproblem of an estimator, with as many threads as ``n_jobs`` allows."""
    epochs = max_epochs(model.max_iter)
    number(model.tol, "tol", 0.0)
    stop = Stop()
    run_seeds = seeds(model.random_state, len(subproblems))
    single = len(subproblems) == 1
    threads = 1 if single and model.n_jobs is None else effective_n_jobs(model.n_jobs)
    workers = min(threads, len(subproblems))
    alone = workers == 1
    # With n_jobs=None, passes over large data use all cores, as BLAS does.
    threads_each = None if alone and model.n_jobs is None else threads if single else 1

    first = model._problem(X, subproblems[0])  # the others share its data and norms

    def run(k: int) -> Fit:
        listener = reports.listener(k)

        def watch(snapshot: Snapshot) -> bool:
            stopped_by_sklearn = listener is not None and listener(snapshot)
            stopped_by_user = model.callback is not None and bool(model.callback(snapshot))
            return stopped_by_sklearn or stopped_by_user or stop.requested

        quiet = listener is None and model.callback is None and alone
        problem = first if k == 0 else model._problem(first, subproblems[k])
        if model._starts_solved:
            coef, intercept, _ = starts[k]
            known = known_solution(
                problem,
                coef,
                intercept,
                model.tol,
                model.relative_to,
                published,
                model._solved_by,
            )
            if known is not None:
                return finish(problem, known)
        solution = solve(
            problem,
            model.method,
            model.sampling,
            tol=model.tol,
            max_epochs=0 if stop.requested else epochs,
            random_state=run_seeds[k],
            callback=None if quiet else watch,
            progress=alone and bool(model.verbose),
            warm_start=starts[k],
            n_threads=threads_each,
            relative_to=model.relative_to,
            published=published,
        )
        return finish(problem, solution)

    if alone:
        fits = []
        for k in range(len(subproblems)):
            fits.append(run(k))
            last = fits[-1].solution
            if last.status is Status.INTERRUPTED or (last.interrupted and k + 1 < len(subproblems)):
                stop.requested = True
    else:
        fits = _in_threads(run, len(subproblems), workers, stop)
    words = complaint([fit.solution for fit in fits], model.tol, epochs, stop.requested)
    if words:
        warnings.warn(words, ConvergenceWarning, stacklevel=5)
    return fits


def _in_threads(run: Any, count: int, workers: int, stop: Stop) -> list[Fit]:
    """All fits. Ctrl-C ends the runs early, and keeps what they have found."""
    with ThreadPoolExecutor(workers) as pool:
        futures: dict[int, Any] = {}
        while True:
            try:
                for k in range(count):
                    if k not in futures:
                        futures[k] = pool.submit(run, k)
                return [futures[k].result() for k in range(count)]
            except KeyboardInterrupt:
                stop.requested = True  # the runs end at their next gap check, and are collected
            except BaseException:
                stop.requested = True
                raise


def max_epochs(max_iter: Any) -> int:
    """How many epochs a run may take."""
    return _MAX_EPOCHS if max_iter is None else whole(max_iter, "max_iter", 0)


def seeds(random_state: Any, runs: int) -> list[int]:
    """A seed for each run of ``solve``; None is a fixed one, so that fits can be repeated.

    All are drawn before threads start, since the order in which threads draw is not repeatable.
    """
    if random_state is None:
        return [0] * runs
    if isinstance(random_state, numbers.Integral):
        return [int(random_state)] * runs
    if isinstance(random_state, np.random.Generator):
        return [int(seed) for seed in random_state.integers(2**31 - 1, size=runs)]
    return [int(seed) for seed in check_random_state(random_state).randint(2**31 - 1, size=runs)]


def complaint(solutions: list[Solution], tol: float, epochs: int, interrupted: bool) -> str | None:
    """The warning about runs that missed ``tol``; None if there is nothing to warn about."""
    # A user's callback may end a run; after Ctrl-C those of other problems were ended by us.
    short = [
        s for s in solutions if not s.converged and (interrupted or s.status is not Status.CALLBACK)
    ]
    if not short and not interrupted:
        return None
    worst = max(short or solutions, key=lambda s: s.certificate.gap / max(s.target, 1e-300))
    words = ""
    if len(solutions) > 1:
        words = f"{len(short)} of {len(solutions)} problems are not solved; the worst of them: "
    words += (
        f"{worst.certificate} after {worst.passes:.3g} passes, where tol={tol} asks for a gap of "
        f"{worst.target:.1e}. "
    )
    if interrupted:
        return words + "Interrupted: this is the best certified model so far."
    if worst.status is Status.STALLED:
        return words + "Rounding errors hide a smaller gap: raise tol or scale the features."
    return words + (
        f"Raise max_iter (now {epochs}) or tol, scale the features, or try another method."
    )


# --- scikit-learn's callbacks ---------------------------------------------------------------------


class Reports:
    """Reports of one fit to scikit-learn's callbacks: a task for each round of a run.

    With several subproblems there is a task for each, and in it one for each of its rounds.
    """

    def __init__(self, model: Any, X: Any, y: Any, weights: Any, problems: int) -> None:
        metadata = None if weights is None else {"sample_weight": weights}
        self.data = {"X": X, "y": y, "metadata": metadata}
        self.model, self.rounds = model, max_epochs(model.max_iter)
        self.several = problems > 1
        self.heard = bool(getattr(model, "_skl_callbacks", None))
        self.root: Any = None
        awaited = self.heard or hasattr(model, "_parent_callback_ctx")
        if awaited and hasattr(model, "_init_callback_context"):
            # One more than max_iter: the gap check before the first round is reported as well.
            most = problems if self.several else self.rounds + 1
            self.root = model._init_callback_context(
                max_subtasks=most, sequential_subtasks=not self.several
            )
            self.root.call_on_fit_task_begin(estimator=model, **self.data)

    def listener(self, k: int) -> Callable[[Snapshot], bool] | None:
        """The function that run k calls at each gap check; None without callbacks."""
        if not self.heard:
            return None
        context = self.root
        if self.several:
            context = context.subcontext(
                task_name="problem", task_id=k, max_subtasks=self.rounds + 1
            )
            context.call_on_fit_task_begin(estimator=self.model, **self.data)
        left = iter(range(self.rounds + 1))
        return lambda snapshot: next(left, None) is not None and self._report(context, snapshot)

    def _report(self, context: Any, snapshot: Snapshot) -> bool:
        attributes = None if self.several else self.model._as_fitted(snapshot)
        task = context.subcontext(task_name="round")
        task.call_on_fit_task_begin(estimator=self.model, **self.data)
        return bool(
            task.call_on_fit_task_end(
                estimator=self.model, reconstruction_attributes=attributes, **self.data
            )
        )

    def end(self) -> None:
        if self.root is not None:
            self.root.call_on_fit_task_end(
                estimator=self.model, reconstruction_attributes={}, **self.data
            )
