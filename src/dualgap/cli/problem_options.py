"""The options that state a problem, and the problem that they state."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from dualgap import losses
from dualgap.cli import options
from dualgap.cli.lam import parse_lam
from dualgap.cli.show import label
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
class ProblemOptions(options.WeightedDataOptions):
    """Data, loss, penalty and intercept; each command has its own options for λ."""

    loss: options.Loss = None
    gamma: options.Gamma = None
    delta: options.Delta = None
    epsilon: options.Epsilon = None
    q: options.Quantile = None
    penalty: options.Penalty = "l2"
    l1_ratio: options.L1Ratio = None
    low: options.Low = None
    high: options.High = None
    intercept: options.Intercept = "yes"

    def table(self) -> Table:
        """Read the data."""
        wanted = Wanted(self.target, self.weights, self.dropped, offset=self.offset)
        return open_data(self.data, wanted, download=not self.offline)

    def problem(self, table: Table, lam: str = "1") -> tuple[Problem, Any]:
        """The problem, and the labels if they are text."""
        loss = self._loss(table.y)
        y, labels = table.y, None
        if y.dtype.kind == "U":
            if not targets_of(loss).labels:
                raise ValueError(
                    f"the target holds text such as {str(y[0])!r}, and --loss {self.loss} needs "
                    "numbers: use logistic or hinge for two classes, softmax for more"
                )
            labels, y = np.unique(y, return_inverse=True)
            y = y.astype(np.float64)
        if self.intercept not in _INTERCEPTS:
            raise ValueError(unknown("--intercept", self.intercept, _INTERCEPTS))
        intercept = _INTERCEPTS[self.intercept]
        known = y, loss, self._penalty(), 1.0, table.weights, intercept
        problem = Problem(table.X, *known, offset=table.offset)
        return problem.with_lam(parse_lam(lam, problem)), labels

    def _loss(self, y: Any) -> Any:
        name = usual_loss(y)[0] if self.loss is None else self.loss
        if name not in losses.REGISTRY:
            raise ValueError(unknown("--loss", name, losses.REGISTRY))
        kind: Any = losses.REGISTRY[name]
        parameters = {
            "gamma": self.gamma,
            "delta": self.delta,
            "epsilon": self.epsilon,
            "q": self.q,
        }
        given = {key: value for key, value in parameters.items() if value is not None}
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
    """The default loss for a target, and the reason."""
    count = len(np.unique(y))
    if count == 1:
        raise ValueError(f"the target is {label(y[0])} in every row: there is nothing to learn")
    if y.dtype.kind == "U":
        return ("logistic" if count <= 2 else "softmax"), f"the target has {count} labels"
    if count == 2:
        return "logistic", "the target has two values"
    return "squared", f"the target has {count:,} values; classes would need --loss softmax"
