"""Which problems a fitted model has solved: one line of a table for each library.

A library is known by the modules of the model's class, so that none has to be installed. Its file
has ``parts``: the problems of a model, from its class, its attributes and the data of its fit.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dualgap.estimators.foreign.parts import Part

__all__ = ["LIBRARIES", "Part", "is_readable", "parts"]

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


def parts(model: Any, X: Any = None, y: Any = None, sample_weight: Any = None) -> list[Part]:
    """The problems that a fitted model has solved: one for each class of one-vs-rest, one for
    each target of a regression, a single one otherwise."""
    model, X = _last_step(model, X)
    library, name = _origin(model) or ("sklearn", type(model).__name__)
    reader = import_module(f"dualgap.estimators.foreign.{LIBRARIES[library]}")
    return list(reader.parts(name, model, X, y, sample_weight))


def is_readable(model: Any) -> bool:
    """Whether it looks like a model: one of a library in the table, or one that can be fitted."""
    return _origin(model) is not None or (hasattr(model, "fit") and hasattr(model, "get_params"))


def _origin(model: Any) -> tuple[str, str] | None:
    """The library and the name of the first class among the model's bases that is in the table.

    A subclass of the user's counts as what it derives from; one of the library's, such as
    LogisticRegressionCV, as itself.
    """
    for base in type(model).__mro__:
        library = base.__module__.split(".")[0]
        if library in LIBRARIES:
            return library, base.__name__
    return None


def _last_step(model: Any, X: Any) -> tuple[Any, Any]:
    """The last step of a pipeline, and X as that step has seen it."""
    while _origin(model) == ("sklearn", "Pipeline"):
        if X is not None and len(model.steps) > 1:
            X = model[:-1].transform(X)
        model = model.steps[-1][1]
    return model, X
