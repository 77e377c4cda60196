"""From what a user asks for to a method; for "auto", which one and why."""

from __future__ import annotations

from typing import Any

from dualgap import samplings
from dualgap._validate import named
from dualgap.methods import METHODS, Method, suitable
from dualgap.problem import Problem
from dualgap.samplings.base import Sampling
from dualgap.steps.base import Step
from dualgap.steps.choice import lacks_for_dual, lacks_for_primal, why_view


def choose(problem: Problem) -> tuple[str, Method]:
    """A name with the reason in words, and the method."""
    dual, primal = lacks_for_dual(problem), lacks_for_primal(problem)
    if dual and primal:
        name, reason = "prox-point", f"{dual} and {primal}"
    else:
        name, reason = "cd-gap-decay", why_view(problem)
    return f"auto ({name}, since {reason})", METHODS[name]


def resolve(method: Any, sampling: Any, problem: Problem) -> tuple[str, Method]:
    """The method that a user asked for, with a description; refuses in words."""
    name, chosen = _look_up(method, problem)
    if sampling is not None:
        sampling = named(sampling, samplings.REGISTRY, "sampling")
        if not isinstance(sampling, Sampling):
            raise ValueError(f"sampling must be a dualgap.samplings object, not {sampling!r}")
        name = f"{name} with {sampling!r}"
        chosen = Method(chosen.step, sampling, needs=chosen.needs)
    refusal = chosen.refusal(problem)
    if refusal:
        others = suitable(problem)
        hint = f"; method={others[0]!r} would work" if others else ""
        raise ValueError(f"{name} cannot solve this problem: {refusal}{hint}")
    return (
        f"{name}: {chosen.step.describe(problem)}, {type(chosen.sampling).__name__} sampling",
        chosen,
    )


def _look_up(method: Any, problem: Problem) -> tuple[str, Method]:
    if isinstance(method, Method):
        return "custom", method
    if isinstance(method, Step):
        return type(method).__name__, Method(method, METHODS[method.usual].sampling)
    if method == "auto":
        return choose(problem)
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method {method!r} is unknown; known are auto, {', '.join(METHODS)}")
    return method, METHODS[method]
