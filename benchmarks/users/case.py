"""A case, and a case with its data."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.users import generated

PENALISED = {"intercept_penalty": "l2"}


@dataclass(frozen=True)
class Case:
    """``kind`` is the estimator. A ``reported`` case stands in the table and counts nowhere."""

    group: str
    data: str
    kind: str
    params: dict[str, Any] = field(default_factory=dict)
    target: str = ""  # a function of ``generated`` that makes y
    offset: str = ""  # ... and the exposures, whose logarithms are offsets
    reported: bool = False

    @property
    def label(self) -> str:
        shown = [f"{value}" for key, value in self.params.items() if key != "intercept_penalty"]
        words = [*shown, *(["free intercept"] if self.reported else [])]
        return self.kind + (f"({', '.join(words)})" if words else "")

    @property
    def name(self) -> str:
        return f"{self.group}:{self.data}:{self.label}"


@dataclass(frozen=True, eq=False)
class Instance:
    """A case with its data."""

    case: Case
    X: Any
    y: Any
    offset: Any = None

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def fit_params(self) -> dict[str, Any]:
        """What ``fit`` gets besides X and y."""
        return {} if self.offset is None else {"offset": self.offset}

    @cached_property
    def design(self) -> Any:
        """X as numbers: levels of categories are columns, after those of numbers."""
        return generated.expanded(self.X) if hasattr(self.X, "iloc") else self.X

    @property
    def classes(self) -> int:
        return 2 if self.y.dtype.kind == "f" else len(np.unique(self.y))

    @property
    def size(self) -> int:
        return int(self.X.nnz if sp.issparse(self.X) else self.X.size)

    @cached_property
    def params(self) -> dict[str, Any]:
        """The parameters of the case as numbers."""
        params = dict(self.case.params)
        if isinstance(params.get("alpha"), str):  # a share of the alpha at which w = 0
            share = float(params["alpha"].split()[0])
            slope = self.X.T @ (self.y - self.y.mean(axis=0)) / self.n
            rows = slope.reshape(self.X.shape[1] // params.get("groups", 1), -1)
            params["alpha"] = share * float(np.max(np.linalg.norm(rows, axis=1)))
        if self.case.kind == "HuberRegression":
            params |= self._huber()
        return params

    def _huber(self) -> dict[str, float]:
        """scikit-learn's model estimates a scale σ too; at that σ both have the same optimum."""
        from sklearn.linear_model import HuberRegressor

        model = HuberRegressor(max_iter=20_000, tol=1e-9).fit(self.X, self.y)
        sigma = float(model.scale_)
        return {"delta": model.epsilon * sigma, "alpha": model.alpha * sigma / self.n}

    def rows(self, count: int) -> Instance:
        """As many samples, with some of every class."""
        if self.n <= count:
            return self
        chosen = np.linspace(0, self.n - 1, count).astype(int)
        if self.case.kind in ("LogisticRegression", "LinearSVC", "LogisticRegressionCV"):
            _, codes = np.unique(self.y, return_inverse=True)
            order = np.argsort(codes, kind="stable")
            starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
            chosen = np.union1d(chosen, order[np.add.outer(np.arange(6), starts).ravel() % self.n])
        X = self.X.iloc[chosen] if hasattr(self.X, "iloc") else self.X[chosen]
        offset = None if self.offset is None else self.offset[chosen]
        return Instance(self.case, X, self.y[chosen], offset)


def load(case: Case, X: Any, y: Any) -> Instance:
    own = getattr(generated, case.target)(y) if case.target else y
    exposures = getattr(generated, case.offset)(y) if case.offset else None
    return Instance(case, X, own, None if exposures is None else np.log(exposures))
