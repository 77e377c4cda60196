"""The problems that a fitted model solves: a table with one line for each library.

The module of a model's class tells its library, so no library has to be installed. The file of a
library has ``read``: the problems of a model, from its class, its attributes and its training data.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dualgap.estimators.foreign.fitted_problem import FittedProblem

LIBRARIES = {
    "sklearn": "sklearn",
    "celer": "celer",
    "skglm": "skglm",
    "cyanure": "cyanure",
    "glum": "glum",
    "statsmodels": "statsmodels",
    "liblinear": "liblinear",
    "xgboost": "xgboost",
}


def fitted_problems(
    model: Any, X: Any = None, y: Any = None, sample_weight: Any = None, offset: Any = None
) -> list[FittedProblem]:
    """The problems that a fitted model solves.

    One for each class of one-vs-rest, one for each target of a regression, otherwise a single one.
    ``offset`` are those of the fit, if the library has offsets and its model does not keep them.
    """
    model, X = _last_step(model, X)
    library, name = _origin(model) or ("sklearn", type(model).__name__)
    reader = import_module(f"dualgap.estimators.foreign.{LIBRARIES[library]}")
    if offset is None:
        return list(reader.read(name, model, X, y, sample_weight))
    if library != "glum":
        kept = "; its models keep their offsets" if library == "statsmodels" else ""
        raise ValueError(f"offset: no {name} of {library} is fitted with one{kept}; leave it out")
    return list(reader.read(name, model, X, y, sample_weight, offset))


def is_readable(model: Any) -> bool:
    """Whether it looks like a model: its library is in the table, or it has scikit-learn's API."""
    return _origin(model) is not None or (hasattr(model, "fit") and hasattr(model, "get_params"))


def _origin(model: Any) -> tuple[str, str] | None:
    """The library and the name of the first class among the model's bases that is in the table.

    A user's subclass counts as its base class; a library's own subclass, such as
    LogisticRegressionCV, counts as itself.
    """
    for base in type(model).__mro__:
        library = base.__module__.split(".")[0]
        if library in LIBRARIES:
            return library, base.__name__
    return None


def _last_step(model: Any, X: Any) -> tuple[Any, Any]:
    """The last step of a pipeline, and X as that step sees it."""
    while _origin(model) == ("sklearn", "Pipeline"):
        if X is not None and len(model.steps) > 1:
            X = model[:-1].transform(X)
        model = model.steps[-1][1]
    return model, X
