"""scikit-learn's path functions, with a certified gap at each point."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dualgap.estimators.columns import bounds_of, factors_of, on_columns
from dualgap.estimators.fits import finish, max_epochs, seeds
from dualgap.estimators.penalties import by_ratio
from dualgap.estimators.selection.grids import Cs_of, alphas_of
from dualgap.estimators.selection.path_solutions import solutions_at, squared_solutions
from dualgap.estimators.validated import check_word
from dualgap.linalg.validate import LARGEST, Floats, number
from dualgap.penalties import GroupLasso
from dualgap.problem import Problem
from dualgap.run.solution import Solution


def lasso_path(
    X: Any,
    y: Any,
    *,
    eps: float = 1e-3,
    n_alphas: int = 100,
    alphas: Any = None,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    **params: Any,
) -> Any:
    """The Lasso at a decreasing sequence of alphas: ``enet_path`` with ``l1_ratio=1``."""
    return enet_path(
        X,
        y,
        l1_ratio=1.0,
        eps=eps,
        n_alphas=n_alphas,
        alphas=alphas,
        coef_init=coef_init,
        verbose=verbose,
        return_n_iter=return_n_iter,
        positive=positive,
        **params,
    )


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: int = 100,
    alphas: Any = None,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    sample_weight: Any = None,
    tol: float = 1e-4,
    max_iter: int | None = 10_000,
    random_state: Any = None,
    selection: str = "cyclic",
    method: Any = "auto",
    screen: bool = False,
    offset: Any = None,
    penalty_weight: Any = None,
    bounds: Any = None,
) -> Any:
    """The elastic net at a decreasing sequence of alphas, without an intercept.

    Minimises  Σ_i c_i ½(y_i − x_i·w)² + alpha·(l1_ratio·‖w‖₁ + ½(1 − l1_ratio)·‖w‖²),  where c_i is
    1/n or the share of the sample in ``sample_weight``. So λ = alpha. If y has two dimensions, the
    penalty is that of ``MultiTaskElasticNet``.

    Parameters
    ----------
    X : array, CSR or CSC matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,) or (n_samples, n_targets)
    l1_ratio : float from 0 to 1
        With 0, ``alphas`` must be given.
    eps, n_alphas : float, int
        The grid, if ``alphas`` is not given, has n_alphas values from alpha_max, at which all
        coefficients vanish, down to eps · alpha_max.
    alphas : array or int, optional
        The alphas themselves, or how many.
    coef_init : array of shape (n_features,) or (n_targets, n_features), optional
        Where the first run starts.
    return_n_iter : bool
        Whether to return epochs as well.
    positive : bool
        Only coefficients ≥ 0.
    tol : float
        Each point is solved to a certified gap of at most ``tol`` times the best possible objective
        (or times 0.001·P(0), if that is more; P(0) = ½ Σ c_i y_i²).
    max_iter : int
        The most epochs for each point.
    method, screen
        As for ``solve`` and ``path``.
    offset, penalty_weight, bounds
        As for ``ElasticNet``.
    precompute, Xy, copy_X, check_input, selection
        Accepted for compatibility with scikit-learn, without effect: X is neither copied nor
        changed.

    Returns
    -------
    alphas : array of shape (n_alphas,)
        After Ctrl-C only those that were reached.
    coefs : array of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        In the dtype of X; the gaps are those of these numbers.
    dual_gaps : array of shape (n_alphas,)
        Proven bounds on the distance of the objective above from its minimum.
    n_iters : list of int, if asked for
    """
    check_word(selection, "selection", ("cyclic", "random"))
    ratio = number(l1_ratio, "l1_ratio", 0.0, 1.0)
    targets = np.shape(y)[1] if np.ndim(y) == 2 else 0
    if targets == 1:
        y = np.ravel(y)
    base = GroupLasso(1, l1_ratio=ratio) if targets > 1 else by_ratio(ratio)
    penalty = _on_columns(base, X, penalty_weight, bounds, positive)
    problem = Problem(X, y, "squared", penalty, 1.0, sample_weight, offset=offset)
    if targets and coef_init is not None:
        coef_init = np.ravel(coef_init) if targets == 1 else np.transpose(coef_init)
    alphas = alphas_of(problem, alphas, n_alphas, eps)
    if targets > 1 and not alphas.all():
        raise ValueError(
            "several targets need alphas > 0: without a penalty use LinearRegression, which fits "
            "each of them by itself"
        )
    options = {
        "method": method,
        "tol": number(tol, "tol", 0.0, LARGEST),
        "max_epochs": max_epochs(max_iter),
        "random_state": seeds(random_state, 1)[0],
        "progress": bool(verbose),
    }
    plain = penalty_weight is None and bounds is None and not screen and not verbose
    if method == "auto" and max_iter != 0 and plain and coef_init is None and targets < 2:
        solutions = squared_solutions(problem, l1_ratio, positive, alphas, options)
    else:
        solutions = solutions_at(problem, alphas, screen=screen, warm_start=coef_init, **options)
    alphas, coefs, *rest = _table(
        problem, alphas, (_rounded(one) for one in solutions), return_n_iter
    )
    coefs = coefs.astype(problem.X.dtype, copy=False)
    return alphas, coefs[None] if targets == 1 else coefs, *rest


def _rounded(solution: Solution) -> Solution:
    """The solution in the dtype of X, with the certificate of that."""
    if solution.problem is None or solution.problem.X.dtype == np.float64:
        return solution
    fit = finish(solution.problem, solution)
    return replace(solution, coef=fit.coef, certificate=fit.certificate)


def logistic_path(
    X: Any,
    y: Any,
    Cs: Any = 10,
    *,
    l1_ratio: float = 1.0,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    tol: float = 1e-4,
    max_iter: int | None = 10_000,
    random_state: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    method: Any = "auto",
    screen: bool = False,
    offset: Any = None,
    penalty_weight: Any = None,
    bounds: Any = None,
) -> Any:
    """Logistic regression at an increasing sequence of C, multinomial for more than two classes.

    Minimises  Σ_i c_i φ(x_i·w + b; y_i) + λ·(l1_ratio·‖w‖₁ + ½(1 − l1_ratio)·‖w‖²),  where c_i is
    the share of the sample in ``sample_weight`` s. With λ = 1/(C Σs) this is scikit-learn's
    objective divided by C Σs.

    Parameters
    ----------
    X, y
        As for ``Problem``; y has labels of any kind.
    Cs : array or int
        The values of C, or how many, from 1e-4 to 1e4.
    fit_intercept : bool
        The intercept is not penalised.
    tol, max_iter, method, screen, return_n_iter, penalty_weight, bounds
        As for ``enet_path``.
    offset
        As for ``LogisticRegression``.

    Returns
    -------
    Cs : array of shape (n_Cs,), increasing
    coefs : array of shape (n_features + 1, n_Cs), for K > 2 classes (K, n_features + 1, n_Cs)
        The intercept is the last; without one the shape is (n_features, n_Cs).
    dual_gaps : array of shape (n_Cs,)
        Proven bounds on the distance of the objective above from its minimum.
    n_iters : list of int, if asked for
    """
    Cs = np.sort(Cs_of(Cs))
    base = by_ratio(number(l1_ratio, "l1_ratio", 0.0, 1.0))
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    loss, targets = ("softmax", codes) if len(labels) > 2 else ("logistic", 2.0 * codes - 1.0)
    base = _on_columns(base, X, penalty_weight, bounds, positive=False)
    known = targets, loss, base, 1.0, sample_weight, bool(fit_intercept)
    problem = Problem(X, *known, offset=offset)
    total = problem.n if sample_weight is None else float(np.sum(sample_weight))
    solutions = solutions_at(
        problem,
        1.0 / (Cs * total),
        screen=screen,
        method=method,
        tol=tol,
        max_epochs=max_epochs(max_iter),
        random_state=seeds(random_state, 1)[0],
        progress=bool(verbose),
    )
    return _table(problem, Cs, solutions, return_n_iter)


def _on_columns(penalty: Any, X: Any, factors: Any, bounds: Any, positive: bool) -> Any:
    """The penalty with factors and bounds for the columns of X."""
    p, names = np.shape(X)[1], getattr(X, "columns", None)
    own = factors_of(factors, p, names), bounds_of(bounds, p, names)
    return on_columns(penalty, *own, positive=positive)


def _table(problem: Problem, strengths: Floats, solutions: Iterable[Solution], epochs: bool) -> Any:
    """The result of both functions, after a warning about unsolved points."""
    coefs, gaps, rounds, unsolved = [], [], [], []
    for solution in solutions:  # of which nothing else is kept: the next one uses its memory
        coefs.append(with_intercept(solution, problem.has_intercept))
        gaps.append(solution.certificate.gap)
        rounds.append(len(solution.history) - 1)
        if not solution.converged:
            unsolved.append(solution)
    warn_of_unsolved(unsolved, len(gaps), stacklevel=4)
    # There are fewer than strengths after Ctrl-C.
    found = strengths[: len(gaps)], np.stack(coefs, axis=-1), np.array(gaps)
    return (*found, rounds) if epochs else found


def warn_of_unsolved(unsolved: list[Solution], points: int, stacklevel: int) -> None:
    """One warning for all points that missed ``tol``."""
    if unsolved:
        worst = max(unsolved, key=lambda s: s.certificate.gap / max(s.target, 1e-300))
        warnings.warn(
            f"{len(unsolved)} of {points} points are not solved; the worst of them: {worst}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def with_intercept(solution: Solution, fit_intercept: bool) -> Floats:
    """Coefficients of shape (p,) or (K, p), with the intercept, if there is one, as the last.

    A constant can be added to the intercepts of K classes; here they sum to zero.
    """
    coef = np.moveaxis(solution.coef, 0, -1)
    if not fit_intercept:
        return coef
    last = np.expand_dims(solution.intercept, -1)
    return np.concatenate([coef, last if last.size == 1 else last - last.mean()], axis=-1)
