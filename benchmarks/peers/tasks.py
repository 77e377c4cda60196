"""What is raced for: a loss, a penalty, a data set and λ.

P(w) = (1/n) Σ φ(x_i·w; y_i) + λ g(w), without an intercept. λ is a multiple of 1/n where the
penalty is L2, and of λ_max, the smallest λ at which w = 0 is optimal, where it has an L1 part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

TEXT, MORE_TEXT = "rcv1_subsets.binary", "news20.binary.rebuilt"
COVTYPE = "covtype.binary.scale01"
DENSE = ("leukemia", "arcene", "colon-cancer")
# No constant of any method was chosen by looking at these: with an L2 penalty, and with L1.
HELD_OUT = {
    0.0: ("phishing", "reuters-lasvm", "imdb-tfidf"),
    1.0: ("colon-cancer", "arcene", "phishing", "reuters-lasvm"),
}
PUBLISHED = {name: name for name in ("w8a", "ijcnn1", "mushrooms", "dorothea")} | {
    TEXT: "rcv1",
    MORE_TEXT: "news20",
    COVTYPE: "covtype",
}
# Small ones first, so that there is something to see early; each is read once.
DATA = (
    "leukemia", "mushrooms", "dorothea", "ijcnn1", "w8a", "a9a", TEXT, COVTYPE, MORE_TEXT,
    "colon-cancer", "arcene", "phishing", "reuters-lasvm", "imdb-tfidf",
)  # fmt: skip


@dataclass(frozen=True)
class Family:
    """Tasks with the same loss and penalty. ``l1_ratio`` is the share of L1 in the penalty."""

    name: str
    loss: str
    l1_ratio: float
    data: tuple[str, ...]

    @property
    def factors(self) -> tuple[float, ...]:
        """Multiples of 1/n or λ_max; the main ones first, then ten and a hundred times smaller."""
        return (1.0, 0.1, 0.01) if self.l1_ratio == 0.0 else (0.1, 0.01, 0.001, 0.0001)

    @property
    def main_factors(self) -> tuple[float, ...]:
        return self.factors[:-2]


FAMILIES = (
    Family("hinge", "hinge", 0.0, ("w8a", "a9a", "ijcnn1", COVTYPE, TEXT)),
    Family("sqhinge", "squared-hinge", 0.0, ("w8a", "a9a", "ijcnn1", COVTYPE, "dorothea", TEXT)),
    Family("logl2", "logistic", 0.0, ("w8a", "a9a", "ijcnn1", COVTYPE, "dorothea", TEXT)),
    Family("lasso", "squared", 1.0, ("leukemia", "dorothea", "mushrooms", TEXT)),
    Family("logl1", "logistic", 1.0, ("leukemia", "dorothea", "a9a", COVTYPE, TEXT)),
    Family("enet", "squared", 0.5, ("leukemia", COVTYPE, "dorothea")),
    Family("ridge", "squared", 0.0, ("leukemia", COVTYPE, "dorothea")),
)


@dataclass(frozen=True)
class Task:
    family: Family
    data: str
    factor: float

    @property
    def lam_label(self) -> str:
        unit = "1/n" if self.family.l1_ratio == 0.0 else "λmax"
        return unit if self.factor == 1.0 else f"{self.factor:g}·{unit}"

    @property
    def name(self) -> str:
        return f"{self.family.name}:{self.data}:{self.lam_label}"

    @property
    def extra(self) -> bool:
        """On additional data, which the summaries leave out."""
        return self.data not in self.family.data

    @property
    def held_out(self) -> bool:
        """On data by which nothing was chosen."""
        return self.extra and self.data != MORE_TEXT

    @property
    def small(self) -> bool:
        """λ ten or a hundred times smaller than in the main table."""
        return not self.extra and self.factor not in self.family.main_factors

    @property
    def main(self) -> bool:
        return not self.extra and not self.small


@dataclass(frozen=True, eq=False)
class Instance:
    """A task with its data: X in CSR, or dense and in C order."""

    task: Task
    X: Any
    y: Any

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def loss(self) -> str:
        return self.task.family.loss

    @property
    def l1_ratio(self) -> float:
        return self.task.family.l1_ratio

    @cached_property
    def lam(self) -> float:
        if self.l1_ratio == 0.0:
            return self.task.factor / self.n
        return self.task.factor * lambda_max(self.X, self.y, self.loss, self.l1_ratio)

    @property
    def C(self) -> float:  # noqa: N802 (its name everywhere)
        """The weight of Σ φ against ½‖w‖² or ‖w‖₁."""
        return 1.0 / (self.n * self.lam)

    @cached_property
    def columns(self) -> Any:
        """X as solvers that go along columns like it: CSC, or dense in Fortran order."""
        return self.X.tocsc() if sp.issparse(self.X) else np.asfortranarray(self.X)

    @property
    def can_be_dense(self) -> bool:
        return self.n * self.d <= 5e7

    @cached_property
    def dense(self) -> Any:
        return np.asfortranarray(self.X.toarray() if sp.issparse(self.X) else self.X)


def lambda_max(X: Any, y: Any, loss: str, l1_ratio: float) -> float:
    """The largest slope of the loss part at w = 0, over the share of L1."""
    slope = {"squared": 1.0, "logistic": 0.5}[loss]
    return float(slope * np.max(np.abs(X.T @ y)) / (len(y) * l1_ratio))


def all_tasks() -> Iterator[Task]:
    """By data set; a family on a text set is also for another one, outside of the tables."""
    for data in DATA:
        for family in FAMILIES:
            if data in family.data or (data == MORE_TEXT and TEXT in family.data):
                yield from (Task(family, data, factor) for factor in family.factors)
            elif data in HELD_OUT.get(family.l1_ratio, ()) and family.name != "ridge":
                yield from (Task(family, data, factor) for factor in family.main_factors)


def load(name: str) -> Any:
    """The data set of that name, or else the published set that it stands for."""
    from dualgap import datasets

    try:
        return datasets.load(name, download=False)
    except datasets.DatasetNotFoundError:
        if name not in PUBLISHED:
            raise
        return datasets.load(PUBLISHED[name], missing="synthetic")


def instance_of(task: Task, data: Any) -> Instance:
    X = data.X.toarray() if task.data in DENSE else data.X
    return Instance(task, X, np.asarray(data.y, float))
