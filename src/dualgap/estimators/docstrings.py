"""Docstrings of estimators: parameters and attributes that several share are described once."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

COMPATIBLE = "Accepted for compatibility with scikit-learn; it does not change the result."

PARAMETERS = {
    "C": """float, default 1.0
        Inverse strength of the penalty; ``inf`` for none.""",
    "alpha": """float, default 1.0
        Strength of the penalty; 0 for none.""",
    "l1_ratio": """float
        Share of L1 in the penalty: ``l1_ratio``·‖w‖₁ + ½(1 − ``l1_ratio``)‖w‖².""",
    "fit_intercept": """bool, default True
        Whether to add an intercept, which is not penalised.""",
    "class_weight": """dict or "balanced", optional
        Factors for the weights of samples, by class. "balanced" gives each class the same total,
        counting sample weights.""",
    "positive": """bool, default False
        Whether coefficients must be ≥ 0.""",
    "penalty_weight": """array of shape (n_features,) or mapping, optional
        Factors ≥ 0 of the penalty for each column: 0 for no penalty, inf to leave the column out.
        A mapping has names of columns, or positions, as keys; columns without a key have 1.
        Factors are used as they are, not scaled to a mean of 1.""",
    "weights": """array of shape (n_features,), optional
        celer's name for ``penalty_weight``.""",
    "bounds": """pair (low, high) or mapping, optional
        Bounds on coefficients: each end is a number, None for no bound, or an array with a number
        for each column. A mapping has columns as keys and such pairs of numbers as values. A
        column without a penalty needs both ends or none.""",
    "tol": """float, default 1e-4
        Stop when the certified duality gap is at most ``tol`` times the best possible objective
        (or times 0.001·P(0), if that is more; P(0) is the objective of the best constant).""",
    "relative_to": """"optimum" or "start", default "optimum"
        What ``tol`` is relative to: the best possible objective, or P(0) as in dualgap 0.1.""",
    "max_iter": """int, default 10000
        The most epochs; an epoch has about as many updates as there are coordinates.""",
    "random_state": """int, RandomState or Generator, optional
        None is a fixed seed, so that fits can be repeated. The first fits of a process to small
        data may differ in the last bits: they do not wait for a compiler. With a seed they do.""",
    "warm_start": """bool, default False
        Start from the coefficients and dual variables of the last fit.""",
    "n_jobs": """int, optional
        Threads: one for each problem if there are several (classes, targets), else inside a run.
        None is one thread, except that large data use all cores: passes over them, and several
        problems on them.""",
    "verbose": """int, default 0
        Whether to show a progress line; for one thread only.""",
    "method": """str, Method or step, default "auto"
        The solver: a name from ``dualgap.methods.METHODS``, or your own.""",
    "sampling": """Sampling or str, optional
        Replaces the sampling of the method.""",
    "callback": """callable, optional
        Called with a ``Snapshot`` at each gap check; a true result stops the run.""",
    "categories": """"auto" or list of columns, optional
        Columns of a dataframe that hold categories. Each level becomes a feature, none is left out;
        numeric columns come first. "auto" takes columns of categories, text and booleans. None
        refuses text.""",
    "handle_unknown": """"error" or "ignore", default "error"
        What to do about levels that a fit has not seen: "ignore" takes them for none of those that
        it has.""",
    "handle_missing": """"error" or "category", default "error"
        What to do about missing values of categorical columns: "category" makes them a level.""",
    "solver": f"""str
        {COMPATIBLE} See ``method``. A word that scikit-learn does not know is refused, here and for
        other parameters of this kind.""",
    "solver_options": f"""dict, optional
        {COMPATIBLE}""",
    "dual": f"""bool or "auto"
        {COMPATIBLE}""",
    "precompute": f"""bool or array, default False
        {COMPATIBLE}""",
    "selection": f"""str, default "cyclic"
        {COMPATIBLE} See ``sampling``.""",
    "copy_X": """bool, default True
        Accepted for compatibility with scikit-learn; X is never changed.""",
    "intercept_scaling": """float, default 1
        Value of the constant feature when the intercept is penalised; no effect otherwise.""",
    "cv": """int, splitter or iterable of pairs, optional
        The folds, as in scikit-learn; five by default, stratified for classifiers.""",
    "intercept_penalty": """"none" or "l2", default "none"
        "l2" penalises the intercept like any other coefficient, as scikit-learn does.""",
}


ATTRIBUTES = {
    "coef_, intercept_": """arrays
        The model, in the dtype of X and the shapes of scikit-learn.""",
    "coef_names_": """array of str
        The names of the coefficients: columns of X, and "column=level" for categories.""",
    "certificate_": """Certificate, or a list of them
        Objective, lower bound and gap of ``coef_`` and ``intercept_`` as stored. If several classes
        or targets are problems of their own, this and all attributes below have an entry for
        each.""",
    "dual_gap_": """float or array
        A bound on the distance of the objective from its minimum.""",
    "dual_coef_": """array
        Dual variables a, with a column for each sample: w = ∇g*(u), u = (1/λ) Σ_i c_i a_i x_i.""",
    "support_certified_": """boolean array of the shape of coef_
        Coefficients proven to be zero in every optimum.""",
    "n_iter_": """int or array
        Rounds, each between two gap checks.""",
    "history_": """History or list
        Objective, bound and gap after each round.""",
    "solution_": """Solution or list
        What ``dualgap.solve`` returned, in float64.""",
    "n_features_in_, feature_names_in_": "as in scikit-learn",
}


def documented(
    order: str, *, attributes: dict[str, str] | None = None, **own: str
) -> Callable[[Class], Class]:
    """Complete the docstring with all parameters of the constructor and all attributes.

    ``order`` names parameters in scikit-learn's order, in which ``help`` lists them; the others
    follow in the order of the dataclass. ``attributes`` are the class's own: they come first, and
    replace shared ones of the same name. ``own`` are its own words for parameters.
    """

    def complete(cls: Class) -> Class:
        _reorder(cls, order.split())
        names = inspect.signature(cls).parameters
        parameters = {name: own.get(name) or PARAMETERS[name] for name in names}
        first = attributes or {}
        cls.__doc__ = (
            f"{(cls.__doc__ or '').rstrip()}\n\n    Parameters\n    ----------\n"
            f"{_listed(parameters)}\n\n    Attributes\n    ----------\n"
            f"{_listed({**first, **ATTRIBUTES, **first})}\n    "
        )
        return cls

    return complete


def _reorder(cls: type, first: list[str]) -> None:
    """Set the order in which the signature of the constructor lists its parameters.

    A dataclass lists inherited fields first. All but the leading ones are keyword-only, so that
    their order is only one of display.
    """
    init: Any = cls.__init__
    signature = inspect.signature(init)
    given = signature.parameters
    names = ["self", *first, *(name for name in given if name not in ("self", *first))]
    init.__signature__ = signature.replace(parameters=[given[name] for name in names])


def _listed(texts: dict[str, str]) -> str:
    lines = []
    for name, text in texts.items():
        kind, _, words = text.partition("\n")
        lines.append(f"{name} : {kind}")
        if words:
            lines.append(textwrap.indent(textwrap.dedent(words), "    "))
    return textwrap.indent("\n".join(lines), "    ")
