"""``certify``: the proof for coefficients of a problem, of a fitted model, or from anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof.certificate import Certificate
from dualgap.proof.goal import ratio, relative_words
from dualgap.proof.prove import prove


@dataclass(frozen=True, eq=False)
class CertificateSum:
    """Proof for a model that solves several problems: one-vs-rest, or several targets.

    ``parts`` has a ``Certificate`` for each class or target. ``primal``, ``dual``, ``gap`` and
    ``scale`` are their sums: they hold for the model as each certificate holds for its problem.
    """

    parts: tuple[Certificate, ...]

    @property
    def primal(self) -> float:
        return sum(part.primal for part in self.parts)

    @property
    def dual(self) -> float:
        return sum(part.dual for part in self.parts)

    @property
    def gap(self) -> float:
        return sum(part.gap for part in self.parts)

    @property
    def scale(self) -> float:
        return sum(part.scale for part in self.parts)

    @property
    def least(self) -> float:
        return sum(part.least for part in self.parts)

    @property
    def reference(self) -> float:
        return sum(part.reference for part in self.parts)

    @property
    def relative_gap(self) -> float:
        return ratio(self.gap, self.reference)

    def __str__(self) -> str:
        return (
            f"{len(self.parts)} problems: objective {self.primal:.6g}; no model can do better than "
            f"{self.dual:.6g}; gap {self.gap:.1e} ({relative_words(self)})"
        )


@overload
def certify(model: Problem, coef: Any, dual: Any = None, intercept: Any = 0.0) -> Certificate: ...
@overload
def certify(
    X: Any,
    y: Any,
    coef: Any,
    intercept: Any = None,
    *,
    loss: Any,
    penalty: Any,
    lam: float,
    sample_weight: Any = None,
    intercept_penalised: bool = False,
    intercept_scaling: float = 1.0,
    offset: Any = None,
    tol: float = 1e-6,
    max_epochs: int = 1000,
) -> Certificate: ...
@overload
def certify(
    model: Any,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    offset: Any = None,
    tol: float = 1e-6,
    max_epochs: int = 1000,
) -> Any: ...
def certify(*args: Any, **options: Any) -> Any:
    """Certify any coefficients, wherever they come from.

    ``certify(problem, coef, dual=None, intercept=0.0)``
        The proof for coefficients of a ``Problem``, in a few passes over the data. ``dual`` is a
        dual point (a_i for each sample, w = ∇g*(u) at the optimum). ``certify`` also tries the
        points −φ'(Xw), which needs no knowledge, and 0, and uses the best. ``intercept`` is added
        to the decision values X·coef. For a loss of K classes, ``coef`` has shape (p, K), ``dual``
        (n, K) and ``intercept`` (K,).

    ``certify(estimator, X, y, sample_weight=None, offset=None, tol=1e-6, max_epochs=1000)``
        The proven distance of a fitted model from the optimum of its own objective on X, y: the
        data of its fit, with the ``offset`` that glum's models may have; those of statsmodels keep
        theirs. It reads models of scikit-learn (and pipelines that end in one), celer,
        skglm, cyanure, glum, statsmodels, liblinear and XGBoost's gblinear, if dualgap has their
        loss and penalty. Numbers are in the units of the objective that the library documents. The
        result is a ``Certificate``; for models that solve several problems (one-vs-rest, several
        targets) it is a ``CertificateSum``.

        Cost: a few passes over the data if these prove a relative gap of ``tol``. Otherwise as much
        as a fit by ``solve(problem, tol=tol, max_epochs=max_epochs)`` for each of its problems,
        because a model far from the optimum does not give a good lower bound. The gap exceeds the
        true distance by at most ``tol`` times the optimum, unless a warning says otherwise.

    ``certify(X, y, coef, intercept=None, loss=, penalty=, lam=, sample_weight=None, offset=None)``
        The same for coefficients from anywhere, with the objective named as ``Problem`` names it:
        the weighted mean of the losses plus ``lam`` times the penalty; 0 means no penalty. An
        ``intercept`` is unpenalised, unless ``intercept_penalised`` is true: then
        ``intercept_scaling`` is the value of the constant feature. None means no intercept.
    """
    if not args and ("model" in options or "X" in options):
        args = (options.pop("model") if "model" in options else options.pop("X"),)
    if not args:
        raise ValueError(f"certify needs a Problem, a fitted model or X: {_FORMS}")
    first, rest = args[0], args[1:]
    if isinstance(first, Problem):
        return _certify_problem(first, *rest, **options)
    if hasattr(first, "shape") or isinstance(first, (list, tuple)):
        from dualgap.estimators.foreign.certify_named import certify_named

        return certify_named(first, *rest, **options)

    from dualgap.estimators.foreign.reader import is_readable

    if is_readable(first):
        from dualgap.estimators.foreign.certify_fitted import certify_fitted

        return certify_fitted(first, *rest, **options)
    raise ValueError(
        f"certify needs a Problem or a fitted model, not {type(first).__name__}: {_FORMS}"
    )


def _certify_problem(
    problem: Problem, coef: Any, dual: Any = None, intercept: Any = 0.0
) -> Certificate:
    dual = None if dual is None else problem.flat(dual, "dual", problem.n)
    return prove(problem, joined(problem, coef, intercept), dual)[0]


_FORMS = (
    "certify(problem, coef), certify(model, X, y) or "
    "certify(X, y, coef, intercept, loss=..., penalty=..., lam=...)"
)
