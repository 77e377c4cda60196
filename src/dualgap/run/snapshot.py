"""What a callback sees at each gap check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof.certificate import Certificate


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a callback sees at each gap check.

    ``certificate``    of the current point, with what each sample and feature adds to the gap
    ``probabilities``  with which coordinates were drawn since the last gap check; None if none were

    Both have an entry for each sample or feature: copy what you need and do not keep the snapshot.
    Distributed fits leave them out.
    """

    epoch: float
    passes: float
    seconds: float
    primal: float
    dual: float
    gap: float
    target: float
    coef: Floats
    intercept: Any
    certificate: Certificate | None = None
    probabilities: Floats | None = None

    @staticmethod
    def of(
        loop: Any,
        problem: Problem,
        best: Floats,
        certificate: Certificate | None = None,
        probabilities: Floats | None = None,
    ) -> Snapshot:
        """Of a loop, on one machine or on many, with its best coefficients."""
        coef, intercept = problem.split(best.copy())
        return Snapshot(
            epoch=loop.epochs,
            passes=loop.passes,
            seconds=loop.seconds,
            primal=loop.primal,
            dual=loop.dual,
            gap=loop.gap,
            target=loop.target,
            coef=coef,
            intercept=intercept,
            certificate=certificate,
            probabilities=probabilities,
        )
