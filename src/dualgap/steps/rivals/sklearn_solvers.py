"""SAG and SAGA as scikit-learn implements them, through its public estimators.

``Ridge`` for the squared loss with L2, ``LogisticRegression`` for the logistic loss with L2 and, by
SAGA, with L1 or an elastic net. These have no callbacks, and a restart from coefficients loses the
gradients that SAG remembers. So each round runs from scratch with the same seed for twice as many
epochs as the last one: it repeats the same path and continues. All rounds together cost at most
twice the last one, and the seconds of those before it are reported as ``repeated_seconds``.

Their step size does not know of sample weights; with weights of at most 1 it is a safe one.
A warm start is not used. Ctrl-C waits for the end of a round.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.losses.logistic import Logistic
from dualgap.losses.squared import Squared
from dualgap.penalties.structure import Shape, shape_of
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Pair
from dualgap.steps.base import FullPass, FullPassRun, Setting, Start, vector

_LARGEST_INT32 = 2**31 - 1


@dataclass(frozen=True)
class SAG(FullPass):
    """scikit-learn's solver "sag" or "saga"."""

    solver: Literal["sag", "saga"] = "sag"

    def __post_init__(self) -> None:
        if self.solver not in ("sag", "saga"):
            raise ValueError(f'solver must be "sag" or "saga", not {self.solver!r}')

    @property
    def usual(self) -> str:  # type: ignore[override]
        return self.solver

    def refusal(self, problem: Problem) -> str | None:
        if importlib.util.find_spec("sklearn") is None:
            return "scikit-learn is not installed"
        loss, name = type(problem.loss), f"scikit-learn's {self.solver}"
        if loss is not type(problem.given_loss):
            return f"{name} knows no offset"
        if loss is not Squared and loss is not Logistic:
            return f"{name} knows the losses Squared and Logistic, not {loss.__name__}"
        if problem.has_intercept:
            return f"{name} moves an intercept by rules of its own; use intercept=False"
        shape = shape_of(problem.penalty, problem.d)
        if shape is None or not _is_even(shape):
            return f"{name} takes one penalty for all features, without constraints"
        if shape.l1[0] > 0.0 and (self.solver == "sag" or loss is Squared):
            return f"{name} takes no L1 part with the {loss.__name__} loss"
        if storage.is_sparse(problem.X) and problem.X.nnz > _LARGEST_INT32:
            return f"{name} cannot index so many entries"
        return None

    def describe(self, problem: Problem) -> str:
        return f"scikit-learn's {self.solver}"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> SAGRun:
        return SAGRun(problem, self.solver, setting)


def _is_even(shape: Shape) -> bool:
    """Whether all features have the same penalty, and have one at all, without bounds."""
    same = (shape.l1 == shape.l1[0]).all() and (shape.l2 == shape.l2[0]).all()
    return bool(same and shape.l1[0] + shape.l2[0] > 0.0 and not shape.bounded)


class SAGRun(FullPassRun):
    """A run; ``rounds`` counts epochs, since a call of ``advance`` may make many."""

    def __init__(self, problem: Problem, solver: str, setting: Setting) -> None:
        super().__init__(problem)
        self.solver = solver
        self.limit = setting.max_epochs or _LARGEST_INT32
        self.seed = 0 if setting.rng is None else int(setting.rng.integers(_LARGEST_INT32))
        self.w: Floats = np.zeros(problem.d)
        self.rounds: int = 0
        self.settled = False
        self.repeated_seconds = self.last = 0.0

    def pair(self) -> Pair:
        z, a = self.problem.decision(self.w), np.empty(self.size)
        terms.slopes(self.problem.loss, self.problem.y, z, a)
        return Pair(self.w, a, z, self.problem.average(a), u_anew=True)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """Twice as many epochs as before; counted are those that are new."""
        if self.settled:
            return 0, 0, 0.0
        wanted = min(max(1, 2 * self.rounds), self.limit)
        self.data  # noqa: B018 - made once, and not again with each repetition
        began = time.perf_counter()
        w, epochs = self._fit(wanted)
        seconds = time.perf_counter() - began
        self.repeated_seconds += min(self.last, seconds)
        self.last = seconds
        moved = bool((w != self.w).any())
        self.settled = epochs < wanted  # an epoch changed nothing at all
        new, self.rounds, self.w = epochs - self.rounds, epochs, w
        return int(moved), *self.worth(2 * new)

    def state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("w", "rounds", "settled", "last", "seed")}

    def restore(self, state: dict[str, Any]) -> None:
        self.w = vector(state, "w", self.problem.d)
        self.rounds, self.settled = state["rounds"], state["settled"]
        self.last, self.seed = state["last"], state["seed"]

    def _fit(self, epochs: int) -> tuple[Floats, int]:
        from sklearn.exceptions import ConvergenceWarning

        X, y, weights = self.data
        model = self._model(epochs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # our certificate decides
            model.fit(X, y, sample_weight=weights)
        return np.array(model.coef_, dtype=np.float64).ravel(), int(np.max(model.n_iter_))

    def _model(self, epochs: int) -> Any:
        from sklearn.linear_model import LogisticRegression, Ridge

        problem = self.problem
        shape = shape_of(problem.penalty, problem.d)
        assert shape is not None  # others were refused
        l1, l2 = float(shape.l1[0]), float(shape.l2[0])
        lam = problem.lam / problem.c.max()
        common: dict[str, Any] = {
            "solver": self.solver,
            "fit_intercept": False,
            "tol": 0.0,
            "max_iter": epochs,
            "random_state": self.seed,
        }
        if type(problem.loss) is Squared:
            return Ridge(alpha=lam * l2 * problem.loss.gamma, copy_X=False, **common)
        if self.solver == "saga":
            common["l1_ratio"] = l1 / (l1 + l2)
            if LogisticRegression().penalty == "l2":  # before 1.8 the ratio alone said nothing
                common["penalty"] = "elasticnet"
        return LogisticRegression(C=1.0 / (lam * (l1 + l2)), **common)

    @cached_property
    def data(self) -> tuple[Any, Floats, Floats]:
        """X, y and weights as the solvers want them: float64, in rows, with short indices."""
        X = self.problem.X
        if storage.is_sparse(X):
            X = X.tocsr().astype(np.float64, copy=False)
            short = [part.astype(np.int32, copy=False) for part in (X.indices, X.indptr)]
            X = type(X)((X.data, *short), shape=X.shape)
        else:
            X = np.ascontiguousarray(X, dtype=np.float64)
        return X, self.problem.y, self.problem.c / self.problem.c.max()
