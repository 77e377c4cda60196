"""``certify``: for coefficients of a problem, or for a fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

from dualgap.certificate import Certificate
from dualgap.certificate import certify as certify_problem
from dualgap.problem import Problem


@dataclass(frozen=True, eq=False)
class CertificateSum:
    """Proof for a model that solves several problems: one-vs-rest, or several targets.

    ``parts`` has a ``Certificate`` for each class or target; ``primal``, ``dual``, ``gap`` and
    ``scale`` are their sums, and mean for the model what they mean for a part.
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
    def relative_gap(self) -> float:
        if self.gap == 0.0:
            return 0.0
        return self.gap / self.scale if self.scale > 0.0 else float("inf")

    def __str__(self) -> str:
        return (
            f"{len(self.parts)} problems: objective {self.primal:.6g}; no model can do better than "
            f"{self.dual:.6g}; gap {self.gap:.1e} ({self.relative_gap:.1e} of P(0))"
        )


@overload
def certify(model: Problem, coef: Any, dual: Any = None, intercept: Any = 0.0) -> Certificate: ...
@overload
def certify(
    model: Any,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    tol: float = 1e-6,
    max_epochs: int = 1000,
) -> Any: ...
def certify(model: Any, *args: Any, **options: Any) -> Any:
    """Certify any coefficients, wherever they come from.

    ``certify(problem, coef, dual=None, intercept=0.0)``
        The proof for coefficients of a ``Problem``, in a few passes over the data. ``dual`` is a
        dual point (a_i for each sample, w = ∇g*(u) at the optimum). The point −φ'(Xw), which needs
        no knowledge, and 0, which says that losses have a minimum, are tried as well, and the best
        of them is used. ``intercept`` is what decision values have on top of X·coef. For a loss of
        K classes, ``coef`` has shape (p, K), ``dual`` (n, K) and ``intercept`` (K,).

    ``certify(estimator, X, y, sample_weight=None, tol=1e-6, max_epochs=1000)``
        The proven distance of a fitted scikit-learn model (or of a pipeline that ends in one) from
        the optimum of its own objective on X, y: the data of its fit. Numbers are in the units of
        that objective as scikit-learn documents it. The result is a ``Certificate``, for models
        that solve several problems (one-vs-rest, several targets) a ``CertificateSum`` of them.

        Costs: a few passes over the data when they prove a gap of ``tol`` · P(0). If not, as much
        as to fit the model with ``solve(problem, tol=tol, max_epochs=max_epochs)``, for each of its
        problems, because a model far from the optimum does not know a good lower bound. The gap
        exceeds the true distance by at most ``tol`` · P(0), unless a warning says otherwise.
    """
    if isinstance(model, Problem):
        return certify_problem(model, *args, **options)
    if hasattr(model, "fit") and hasattr(model, "get_params"):
        from dualgap.estimators.distance import certify_model  # late: most never need it

        return certify_model(model, *args, **options)
    raise ValueError(
        f"certify needs a Problem or a fitted model, not {type(model).__name__}: "
        "certify(problem, coef) or certify(model, X, y)"
    )
