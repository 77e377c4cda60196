"""Parameters that are accepted for compatibility and change nothing: only scikit-learn's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.linalg.validate import unknown

# Of scikit-learn's classes and functions, old versions included.
RIDGE_SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")
LOGISTIC_SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
POISSON_SOLVERS = ("lbfgs", "newton-cholesky")
QUANTILE_SOLVERS = ("highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex")
_WORDS: dict[str, tuple[Any, ...]] = {
    "selection": ("cyclic", "random"),
    "dual": (True, False, "auto"),
    "gcv_mode": (None, "auto", "svd", "eigen"),
    "precompute": (True, False, "auto"),
}


def check_ignored(model: Any) -> None:
    """Refuse words that scikit-learn does not know: a misspelt one would be ignored as well."""
    for name, known in _WORDS.items():
        value = getattr(model, name, known[0])
        if isinstance(value, (str, bool, np.bool_, type(None))):
            check_word(value, name, known)
        elif name != "precompute":  # that may be an array
            raise ValueError(unknown(name, repr(value), [str(word) for word in known]))
    solvers = model._solvers
    if solvers:
        check_word(model.solver, "solver", solvers)


def check_word(value: Any, name: str, known: tuple[Any, ...]) -> None:
    """One of the words, which are strings, booleans or None."""
    if isinstance(value, np.bool_):
        value = bool(value)
    if not any(type(word) is type(value) and word == value for word in known):
        raise ValueError(unknown(name, str(value), [str(word) for word in known]))
