"""From options to a problem."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from dualgap import losses
from dualgap.cli.read import listed
from dualgap.cli.show import label
from dualgap.cli.strength import strength
from dualgap.datasets.open import Table, open_data
from dualgap.datasets.tables import Wanted
from dualgap.linalg.validate import unknown
from dualgap.losses.targets import targets_of
from dualgap.penalties import REGISTRY, Box, ElasticNet
from dualgap.penalties.structure import is_uniform
from dualgap.problem import Problem

# Bounds are options of their own, and weights have none.
_PENALTIES: dict[str, Any] = {name: kind for name, kind in REGISTRY.items() if is_uniform(kind)}
_INTERCEPTS: dict[str, bool | str] = {"yes": True, "no": False, "penalised": "penalised"}


@dataclass(frozen=True)
class Asked:
    """What a user asks for; ``parameters`` are those of losses, by the names they have there."""

    data: str
    target: str | None
    weights: str | None
    drop: str
    offline: bool
    loss: str | None
    parameters: dict[str, float | None]
    penalty: str
    l1_ratio: float | None
    low: float | None
    high: float | None
    intercept: str

    def table(self) -> Table:
        """The data."""
        wanted = Wanted(self.target, self.weights, listed(self.drop))
        return open_data(self.data, wanted, download=not self.offline)

    def problem(self, table: Table, lam: str = "1") -> tuple[Problem, Any]:
        """The problem, and the labels if these are words."""
        loss = self._loss(table.y)
        y, labels = table.y, None
        if y.dtype.kind == "U":
            if not targets_of(loss).labels:
                raise ValueError(
                    f"the target holds words such as {str(y[0])!r}, and --loss {self.loss} needs "
                    "numbers: use logistic or hinge for two classes, softmax for more"
                )
            labels, y = np.unique(y, return_inverse=True)
            y = y.astype(np.float64)
        if self.intercept not in _INTERCEPTS:
            raise ValueError(unknown("--intercept", self.intercept, _INTERCEPTS))
        intercept = _INTERCEPTS[self.intercept]
        problem = Problem(table.X, y, loss, self._penalty(), 1.0, table.weights, intercept)
        return problem.with_lam(strength(lam, problem)), labels

    def _loss(self, y: Any) -> Any:
        name = usual_loss(y)[0] if self.loss is None else self.loss
        if name not in losses.REGISTRY:
            raise ValueError(unknown("--loss", name, losses.REGISTRY))
        kind: Any = losses.REGISTRY[name]
        given = {key: value for key, value in self.parameters.items() if value is not None}
        for key in given:
            if key not in kind._fields:
                known: dict[str, Any] = dict(losses.REGISTRY)
                owners = [n for n, k in known.items() if key in k._fields]
                option = "quantile" if key == "q" else key
                raise ValueError(
                    f"--{option} does not go with the {name} loss; it belongs to "
                    f"{' and '.join(owners)}"
                )
        return kind(**given)

    def _penalty(self) -> Any:
        if self.penalty not in _PENALTIES:
            raise ValueError(unknown("--penalty", self.penalty, _PENALTIES))
        if self.l1_ratio is not None and self.penalty != "elastic-net":
            raise ValueError(f"--l1-ratio belongs to elastic-net, not to {self.penalty}")
        base = _PENALTIES[self.penalty]() if self.l1_ratio is None else ElasticNet(self.l1_ratio)
        if self.low is None and self.high is None:
            return base
        low = -inf if self.low is None else self.low
        return Box(low, inf if self.high is None else self.high, base)


def usual_loss(y: Any) -> tuple[str, str]:
    """A loss for a target, and why."""
    count = len(np.unique(y))
    if count == 1:
        raise ValueError(f"the target is {label(y[0])} in every row: there is nothing to be learnt")
    if y.dtype.kind == "U":
        return ("logistic" if count <= 2 else "softmax"), f"the target has {count} labels"
    if count == 2:
        return "logistic", "the target has two values"
    return "squared", f"the target has {count:,} values; classes would need --loss softmax"
