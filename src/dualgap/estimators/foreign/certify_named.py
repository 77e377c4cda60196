"""A proven bound on how far any coefficients are from the optimum of an objective given by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap import losses, penalties
from dualgap.estimators.foreign.certify_fitted import in_units, prove_fitted
from dualgap.estimators.foreign.fitted_problem import FittedProblem
from dualgap.estimators.penalties import constraints_of
from dualgap.linalg import storage
from dualgap.linalg.validate import number
from dualgap.penalties.structure import check_penalty
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate


def certify_named(
    X: Any,
    y: Any = None,
    coef: Any = None,
    intercept: Any = None,
    *,
    loss: Any = None,
    penalty: Any = None,
    lam: Any = None,
    sample_weight: Any = None,
    intercept_penalised: bool = False,
    intercept_scaling: float = 1.0,
    offset: Any = None,
    tol: float = 1e-6,
    max_epochs: int = 1000,
) -> Certificate:
    """What ``dualgap.certify`` does with data, coefficients and a named objective; see there."""
    _refuse_missing(y=y, coef=coef, loss=loss, penalty=penalty, lam=lam)
    X = storage.as_data(X)
    lam = number(lam, "lam", 0.0)
    if lam == 0.0:
        lam, penalty = 1.0, constraints_of(check_penalty(penalty, X.shape[1]), X.shape[1])
    kind = _intercept(intercept, intercept_penalised, intercept_scaling)
    problem = Problem(
        X, y, loss, penalty, lam, sample_weight, kind, intercept_scaling, offset=offset
    )
    coef = coef.toarray() if storage.is_sparse(coef) else coef
    if problem.width == 1 and np.shape(coef) == (1, problem.p):  # as classifiers keep it
        coef = np.ravel(coef)
    values = 0.0 if intercept is None else intercept
    values = np.ravel(values) if np.ndim(values) else values
    return in_units(prove_fitted(FittedProblem(problem, coef, values, 1.0), tol, max_epochs), 1.0)


def _intercept(intercept: Any, penalised: Any, scaling: Any) -> bool | str:
    if not isinstance(penalised, (bool, np.bool_)):
        raise ValueError(f"intercept_penalised must be True or False, not {penalised!r}")
    if isinstance(intercept, (bool, np.bool_, str)):
        raise ValueError(
            f"intercept must be the model's number, not {intercept!r}: leave it out if there is "
            "none, and use intercept_penalised=True if it is penalised"
        )
    if intercept is None:
        if penalised:
            raise ValueError("intercept_penalised=True needs an intercept: give the model's number")
        return False
    if not penalised and scaling != 1.0:
        raise ValueError("intercept_scaling is only used with intercept_penalised=True")
    return "penalised" if penalised else True


def _refuse_missing(**given: Any) -> None:
    missing = [name for name, value in given.items() if value is None]
    if not missing:
        return
    words = {
        "loss": f"the loss is one of {', '.join(losses.REGISTRY)}, or an object",
        "penalty": f"the penalty is one of {', '.join(penalties.REGISTRY)}, or an object",
        "lam": "lam multiplies the penalty beside the mean of the losses, 0 is no penalty",
    }
    hints = "; ".join(words[name] for name in missing if name in words)
    raise ValueError(
        f"certify needs {' and '.join(missing)}, as in certify(X, y, coef, intercept, "
        "loss='logistic', penalty='l2', lam=0.01)" + (f": {hints}" if hints else "")
    )
