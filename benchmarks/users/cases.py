"""What users run: an estimator with its parameters on data, in five groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.users import data
from benchmarks.users.data import COUNTS, TALL, WIDE

GROUPS = {
    "tiny": "Tiny data",
    "mid": "Mid-sized data",
    "classes": "Many classes",
    "dense": "Large dense data",
    "selection": "Model selection",
}
HINGE, SQUARED = {"loss": "hinge"}, {"loss": "squared_hinge"}
PENALISED = {"intercept_penalty": "l2"}


@dataclass(frozen=True)
class Case:
    """``kind`` is the estimator. A ``reported`` case stands in the table and counts nowhere."""

    group: str
    data: str
    kind: str
    params: dict[str, Any] = field(default_factory=dict)
    target: str = ""  # a function of ``data`` that makes y
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

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

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
            slope = self.X.T @ (self.y - self.y.mean())
            params["alpha"] = share * float(np.max(np.abs(slope))) / self.n
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
        return Instance(self.case, self.X[chosen], self.y[chosen])


def load(case: Case, X: Any, y: Any) -> Instance:
    return Instance(case, X, getattr(data, case.target)(y) if case.target else y)


def all_cases() -> Iterator[Case]:
    yield from _tiny()
    yield from _mid()
    yield from _classes()
    yield from _dense()
    yield from _selection()


def _machines(group: str, name: str, losses: Any = (SQUARED, HINGE), **more: Any) -> Iterator[Case]:
    """With the penalised intercept of scikit-learn, and as reported with ours, which is free."""
    for loss in losses:
        yield Case(group, name, "LinearSVC", loss | PENALISED, **more)
        yield Case(group, name, "LinearSVC", loss, reported=True, **more)


def _tiny() -> Iterator[Case]:
    labelled = ("iris", "wine", "breast_cancer", "breast_cancer,scaled", "digits")
    for name in labelled:
        yield Case("tiny", name, "LogisticRegression")
        yield from _machines("tiny", name)
    yield Case("tiny", "wine,scaled", "LogisticRegression")
    for name in ("diabetes", "breast_cancer", "breast_cancer,scaled", "digits"):
        yield Case("tiny", name, "Ridge")
        yield Case("tiny", name, "Lasso", {"alpha": 0.1})
        yield Case("tiny", name, "ElasticNet")


def _mid() -> Iterator[Case]:
    for name in ("a9a", "w8a", "ijcnn1", "imdb-tfidf", "covtype.binary"):
        yield Case("mid", name, "LogisticRegression")
        yield from _machines("mid", name)
    yield Case("mid", "covtype.binary,dense", "LogisticRegression")
    for name in ("cadata", "cpusmall"):
        yield Case("mid", name, "LinearSVR", PENALISED)
        yield Case("mid", name, "LinearSVR", reported=True)
        yield Case("mid", name, "Ridge")
        yield Case("mid", name, "Lasso", {"alpha": 1.0})
        yield Case("mid", name, "ElasticNet")
        yield Case("mid", name, "QuantileRegressor")
        yield Case("mid", name, "HuberRegression")
    yield Case("mid", "abalone", "HuberRegression")
    yield Case("mid", COUNTS, "PoissonRegressor", target="counts")
    yield Case("mid", COUNTS, "HuberRegression", target="with_outliers")


def _classes() -> Iterator[Case]:
    for name in (
        "pendigits", "pendigits,/100", "letter.scale", "mnist,/255", "mnist,/255,dense", "news20",
        "covtype.multi",
    ):  # fmt: skip
        yield Case("classes", name, "LogisticRegression")
    yield from _machines("classes", "sector.scale", (SQUARED,))


def _dense() -> Iterator[Case]:
    for name in (TALL, f"{TALL},float32"):
        yield Case("dense", name, "LogisticRegression", target="labels")
        yield from _machines("dense", name, (SQUARED,), target="labels")
        yield Case("dense", name, "Lasso", {"alpha": 0.1})
    for name in (WIDE, f"{WIDE},F-order"):
        yield Case("dense", name, "Lasso", {"alpha": "0.1 λmax"})


def _selection() -> Iterator[Case]:
    for name in ("diabetes", "leukemia"):
        for kind in ("LassoCV", "ElasticNetCV", "RidgeCV"):
            yield Case("selection", name, kind)
    for name in ("leukemia", "breast_cancer,scaled", "iris", "a9a"):
        yield Case("selection", name, "LogisticRegressionCV")
    yield Case("selection", "rcv1", "LassoCV")
    for name in ("leukemia", "dorothea"):
        yield Case("selection", name, "lasso_path")
    for loss in (HINGE, SQUARED):
        for jobs in (1, 2):
            yield Case("selection", "breast_cancer,scaled", "GridSearchCV", loss | {"n_jobs": jobs})
