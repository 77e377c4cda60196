"""A method: a step, a sampling, and words about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dualgap.penalties.structure import is_half_square
from dualgap.problem import Problem
from dualgap.samplings.base import Sampling
from dualgap.steps.base import Step, groups_refusal


def l2_refusal(problem: Problem) -> str | None:
    return None if is_half_square(problem.penalty) else "the penalty is not L2"


def smoothness_refusal(problem: Problem) -> str | None:
    if problem.loss.gamma > 0.0:
        return None
    return (
        f"the {type(problem.given_loss).__name__} loss is not smooth (its slope is not Lipschitz)"
    )


@dataclass(frozen=True)
class Method:
    """A step × a sampling; ``needs`` are further reasons to refuse a problem, besides the step's.

    ``about`` says what it is, ``when`` what it is for, ``paper`` where it comes from.
    """

    step: Any
    sampling: Sampling
    about: str = ""
    paper: str = ""
    needs: tuple[Any, ...] = ()
    when: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.step, Step):
            raise ValueError(f'step must be a step such as Coordinate("dual"), not {self.step!r}')
        if not isinstance(self.sampling, Sampling):
            raise ValueError(
                f"sampling must be a sampling such as Uniform(), not {self.sampling!r}"
            )

    def refusal(self, problem: Problem) -> str | None:
        """Why this method cannot solve a problem, in words; None if it can."""
        on_groups = groups_refusal(self.step, problem)
        if on_groups:  # the other questions are about single coefficients
            return on_groups
        refusals = [self.step.refusal(problem), *(need(problem) for need in self.needs)]
        refusals.append(self.step.sampling_refusal(self.sampling))
        if not any(refusals):
            refusals = [self.sampling.refusal(problem, self.step.view_of(problem))]
        return " and ".join(filter(None, refusals)) or None
