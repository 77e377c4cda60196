"""Solve the problems of an estimator: threads, callbacks, warnings, and what is kept of a solution.

``solve_all`` is the way from subproblems to fits. A ``Fit`` has the coefficients in the dtype of X
and the certificate of those.
"""

from __future__ import annotations

import numbers
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from dualgap import losses
from dualgap.compile.first_use import first_fit
from dualgap.estimators.published import OF_DIFFERENCES, published
from dualgap.linalg import parallel
from dualgap.linalg.validate import Floats, whole
from dualgap.penalties.thresholds import Thresholds
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof.certificate import Certificate
from dualgap.proof.dual_point import DualPoint
from dualgap.proof.prove import find_proof
from dualgap.proof.radius import Radius, radius_later
from dualgap.proof.screening import zeros_later
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


_COPIED = 1 << 18  # numbers in X: copying 2 MB takes a tenth of the time that passes for facts take
_MAX_EPOCHS = 10_000  # for max_iter=None; the default of max_iter elsewhere


class Subproblem(NamedTuple):
    """One of the problems of an estimator, without X."""

    y: Any
    weights: Floats | None
    loss: Any
    penalty: Any
    lam: float
    offset: Any = None


class Fit(NamedTuple):
    """A solution, with coefficients in the dtype of X and the certificate of those.

    ``radius`` and ``zeros`` follow from the certificate and are computed when they are asked for.
    """

    solution: Solution
    coef: Any
    intercept: Any
    dual: Floats
    certificate: Certificate
    radius: Callable[[], Radius]
    zeros: Callable[[], Any]


class Stop:
    """Whether all runs should end, in whichever threads they are."""

    requested = False


# --- solving --------------------------------------------------------------------------------------


def solve_all(
    model: Any, X: Any, subproblems: list[Subproblem], starts: list[Any], reports: Any
) -> list[Fit]:
    """A fit for each subproblem of an estimator, with as many threads as ``n_jobs`` allows."""
    epochs = max_epochs(model.max_iter)
    stop = Stop()
    run_seeds = seeds(model.random_state, len(subproblems))
    first = model._problem(X, subproblems[0])  # the others share its data and norms
    single, watched = len(subproblems) == 1, reports is not None or model.callback is not None
    threads = 1 if single and model.n_jobs is None else effective_n_jobs(model.n_jobs)
    # With n_jobs=None, passes over large data use all cores, as BLAS does, and so do several
    # problems on such data.
    if model.n_jobs is None and not (single or watched or model.verbose):
        stored = first.rows if first.by_rows else first.columns
        threads = 1 if parallel.is_one_section(stored) else parallel.count()
    workers = min(threads, len(subproblems))
    alone = workers == 1
    threads_each = None if alone and model.n_jobs is None else threads if single else 1

    def run(k: int) -> Fit:
        listener = None if reports is None else reports.listener(k)

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
                publisher(problem),
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
            published=publisher(problem),
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
    solutions = [fit.solution for fit in fits]
    if stop.requested or any(one.status is not Status.CONVERGED for one in solutions):
        words = complaint(solutions, model.tol, epochs, stop.requested)
        if words:
            warnings.warn(words, ConvergenceWarning, stacklevel=5)
    return fits


def first_use(model: Any) -> AbstractContextManager[None]:
    """Around a fit: without a seed, small kernels may run as plain Python at first."""
    always = os.environ.get("DUALGAP_COMPILE") == "always"
    return nullcontext() if always or model.random_state is not None else first_fit(model)


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
    if worst.near:
        return words + worst.remedy
    if worst.status is Status.STALLED:
        return words + "Rounding errors hide a smaller gap: raise tol or scale the features."
    return words + (
        f"Raise max_iter (now {epochs}) or tol, scale the features, or try another method."
    )


# --- from a solution to what an estimator stores --------------------------------------------------


def publisher(problem: Problem) -> Callable[..., Any] | None:
    """What may change coefficients before they are proven and shown; None if nothing does."""
    if problem.X.dtype != np.float64 or type(problem.given_loss) in OF_DIFFERENCES:
        return published
    if type(problem.feature_penalty) is Thresholds:
        return published
    if problem.intercept is True and type(problem.loss) is losses.Squared:
        return published
    nothing = not problem.distinct_features.strength.any() and problem.features.free.all()
    return published if nothing else None  # but the data says what coefficients are


def finish(problem: Problem, solution: Solution) -> Fit:
    """The model that an estimator stores, with its certificate and what follows from it."""
    coef, intercept, known = solution.coef, solution.intercept, solution.proof
    if known is None:
        # The model may differ from the solution, and then needs a certificate of its own.
        w = joined(problem, coef, intercept)
        publish = publisher(problem)
        shown = None if publish is None else publish(problem, w)
        w = w if shown is None else shown
        known = find_proof(problem, w, problem.flat(solution.dual, "dual", problem.n))
        coef, intercept = problem.split(w)
    proof, dual, w, z, point = known
    if problem.X.dtype != np.float64:
        coef = coef.astype(problem.X.dtype)
        intercept = np.asarray(intercept, dtype=problem.X.dtype)[()]
    solution = solution.without_data()
    later = _of_copy if problem.n * problem.p <= _COPIED and problem.width == 1 else _of_facts
    own = later(problem, w.copy(), dual.copy(), z, point, proof)  # users see the others
    return Fit(solution, coef, intercept, problem.shaped(dual), proof, *own)


def _of_facts(problem: Problem, w: Any, a: Any, z: Any, point: DualPoint, proof: Any) -> Any:
    """``radius`` and ``zeros`` of a fit, from facts that take a pass over X now."""
    radius = radius_later(problem, w, a, z, point.ballast, proof)
    return radius, zeros_later(problem, proof, point)


def _of_copy(problem: Problem, w: Any, a: Any, z: Any, point: DualPoint, proof: Any) -> Any:
    """The same from a copy of small data, which takes less time than those facts."""
    own = problem.own_copy()

    def radius() -> Radius:
        return radius_later(problem.with_data(own), w, a, z, point.ballast, proof)()

    def zeros() -> Any:
        return zeros_later(problem.with_data(own), proof, point)()

    return radius, zeros
