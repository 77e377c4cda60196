"""A user's settings and data, checked once: plain arrays in a few lines, others by scikit-learn.

scikit-learn's checks take 0.1 ms whatever the data are, a fifth of a fit to small data, and a pass
over X to look for NaN, which ``Problem`` looks for as well. ``refuse_as_sklearn`` gives the refusal
of ``Problem`` the words of scikit-learn.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    assert_all_finite,
    check_array,
    check_is_fitted,
    check_X_y,
    validate_data,
)

from dualgap.estimators.categories import encode, is_frame, learn, refusal, text_columns
from dualgap.linalg.storage import is_coded
from dualgap.linalg.validate import Floats, number, refuse_lazy, unknown, whole

STORAGES = ("csr", "csc")
DTYPES = (np.float64, np.float32)
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


def training_data(model: Any, X: Any, y: Any, **rules: Any) -> tuple[Any, Any]:
    """X and y to fit a model to. A plain X may have entries that are not finite."""
    check_settings(model)
    if model.categories is not None or not (_is_plain(X) and _is_plain_target(y, len(X))):
        return finite_data(model, X, y, **rules)
    model.__dict__.pop("_encoding", None)
    model.n_features_in_ = X.shape[1]
    model.__dict__.pop("feature_names_in_", None)
    return X, y


def unlabelled_data(model: Any, X: Any) -> Any:
    """X to fit a model to that has no targets. A plain X may have entries that are not finite."""
    if model.categories is None and _is_plain(X):
        return training_data(model, X, np.zeros(len(X)))[0]
    if is_coded(X) or model.categories is not None:
        return finite_data(model, X, np.zeros(X.shape[0]))[0]
    model.__dict__.pop("_encoding", None)
    _refuse_text(X)
    return validate_data(model, X, accept_sparse=STORAGES, dtype=DTYPES)


def finite_data(model: Any, X: Any, y: Any, **rules: Any) -> tuple[Any, Any]:
    """The same, checked by scikit-learn."""
    refuse_lazy(X, "X")
    refuse_lazy(y, "y")
    if is_coded(X):  # by the estimator that this one is part of
        model.n_features_in_ = X.shape[1]
        return X, y
    model.__dict__.pop("_encoding", None)
    if model.categories is not None:
        return _with_categories(model, X, y, **rules)
    _refuse_text(X)
    return validate_data(model, X, y, accept_sparse=STORAGES, dtype=DTYPES, **rules)


def _with_categories(model: Any, X: Any, y: Any, **rules: Any) -> tuple[Any, Any]:
    """The same, where some columns of X are encoded."""
    encoding, data = learn(model, X)
    _, y = check_X_y(np.zeros((len(X), 1)), y, estimator=model, **rules)
    _check_feature_names(model, X, reset=True)
    _check_n_features(model, X, reset=True)
    model._encoding = encoding
    return data, y


def _refuse_text(X: Any) -> None:
    words = text_columns(X) if is_frame(X) else []
    if not words:
        return
    try:
        np.asarray(X[words], dtype=np.float64)
    except (TypeError, ValueError):
        advice = 'use categories="auto"'
        raise ValueError(refusal(words, advice)) from None


def labelled_data(model: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """The same, where y holds labels."""
    X, y = training_data(model, X, y)
    if y.dtype.kind not in "biu":  # whole numbers are labels, whatever they are
        check_classification_targets(y)
    return X, y


def sample_weights(given: Any, n: int) -> Floats | None:
    """Weights as a vector; a single number is repeated."""
    if given is None:
        return None
    if isinstance(given, numbers.Number):
        return np.full(n, number(given, "sample_weight", 0.0, open_low=True))
    refuse_lazy(given, "sample_weight")
    weights = check_array(given, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, not shape {weights.shape}")
    if len(weights) != n:
        raise ValueError(f"sample_weight has {len(weights)} entries for {n} samples")
    if (weights < 0.0).any():
        raise ValueError("sample_weight has negative entries")
    if not weights.any():
        raise ValueError("sample_weight is zero for every sample")
    return np.asarray(weights)


def new_data(model: Any, X: Any) -> Any:
    """X to predict for with a fitted model."""
    fitted = vars(model)
    plain = _is_plain(X) and X.shape[1] == fitted.get("n_features_in_")
    if plain and "coef_" in fitted and "feature_names_in_" not in fitted and is_finite(X):
        return X
    check_is_fitted(model)
    refuse_lazy(X, "X")
    if is_coded(X):
        return X
    if "_encoding" in fitted:
        if not is_frame(X):
            raise ValueError(
                f"{type(model).__name__} was fitted to a dataframe with categorical columns: "
                f"predict for one with the same columns, not for {type(X).__name__}"
            )
        _check_feature_names(model, X, reset=False)
        _check_n_features(model, X, reset=False)
        return encode(model, model._encoding, X)
    X = validate_data(model, X, accept_sparse=STORAGES, dtype="numeric", reset=False)  # no strings
    return X if X.dtype in DTYPES else X.astype(np.float64)


def refuse_as_sklearn(model: Any, X: Any) -> None:
    """Raise scikit-learn's error about entries that are not finite, if there are any."""
    data = X if isinstance(X, np.ndarray) else X.data
    assert_all_finite(data, estimator_name=type(model).__name__, input_name="X")


def _is_plain(X: Any) -> bool:
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in DTYPES:
        return False
    return X.dtype.isnative and X.flags.aligned and X.size > 0


def _is_plain_target(y: Any, n: int) -> bool:
    if type(y) is not np.ndarray or y.ndim != 1 or len(y) != n:
        return False
    return y.dtype.kind in "biu" or (y.dtype in DTYPES and is_finite(y))


def is_finite(array: Any) -> bool:
    """Whether all entries are finite; False as well if their sum overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.add.reduce(array, axis=None)))


# --- settings -------------------------------------------------------------------------------------


def check_settings(model: Any) -> None:
    """Accuracy and effort; and of the words that change nothing those that scikit-learn does not
    know, since a misspelt one would be ignored as well."""
    number(model.tol, "tol", 0.0)
    if model.max_iter is not None:
        whole(model.max_iter, "max_iter", 0)
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
    if type(value) not in (str, bool, type(None)) or value not in known:  # 1 == True
        raise ValueError(unknown(name, str(value), [str(word) for word in known]))
