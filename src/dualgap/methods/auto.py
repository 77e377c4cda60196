"""From what a user asks for to a method; for "auto", which one and why."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap import samplings
from dualgap.linalg import storage
from dualgap.linalg.validate import named, unknown
from dualgap.methods.registry import METHODS, Method, suitable
from dualgap.penalties.structure import shape_of
from dualgap.problem import Problem
from dualgap.samplings.base import Sampling
from dualgap.steps.base import Step
from dualgap.steps.requirements import (
    is_coupled,
    lacks_for_dual,
    lacks_for_primal,
    preferred_view,
    why_hold,
    why_view,
)

# A Newton step may cost so many multiplications and so large a system; both take about a second.
_PRODUCTS, _SYSTEM = 2e9, 2000
# In passes over the data: a Newton step at which coordinate steps are no faster; for losses made of
# quadratic pieces, which take few steps; and for kinks, if they have to be resolved to a small tol.
_CHEAP, _CHEAP_PIECES, _CHEAP_KINKS, _TIGHT = 15.0, 40.0, 100.0, 3e-6
_TALL = 200  # samples for each feature from which a sample of them tells nearly all
_NARROW = 500  # features of which it does not pay to leave some alone
_BLAS = 20.0  # how much faster arrays are multiplied than the entries of sparse matrices


def choose(problem: Problem, tol: float) -> tuple[str, Method]:
    """A name with the reason in words, and the method."""
    if storage.is_on_disk(problem.X):
        return _chosen(_without_copies(problem), "X lies on disk by rows")
    dual, primal = lacks_for_dual(problem), lacks_for_primal(problem)
    sets = _why_sets(problem)
    if sets:
        return _chosen("working-set", sets)
    newton = _why_newton(problem, tol, bool(dual and primal))
    if newton and _newton_is_affordable(problem):
        return _chosen("newton", f"there are few features and {newton}")
    if _sweeps_pay(problem):
        return _chosen("sweeps", why_view(problem))
    return choose_to_sample(problem)


def choose_to_sample(problem: Problem) -> tuple[str, Method]:
    """The same among methods that take any sampling of coordinates."""
    dual, primal = lacks_for_dual(problem), lacks_for_primal(problem)
    if dual and primal:
        return _chosen("prox-point", f"{dual} and {primal}")
    hold = why_hold(problem)
    return _chosen("prox-point", hold) if hold else _chosen("cd-gap-decay", why_view(problem))


def _without_copies(problem: Problem) -> str:
    """The method that neither turns X around nor copies a part of it."""
    bounded = problem.loss.gamma > 0.0 or not problem.loss.differentiable
    if not lacks_for_dual(problem) and bounded:
        return "cd-gap-decay" if METHODS["sweeps"].refusal(problem) else "sweeps"
    smooth = METHODS["afg"].refusal(problem) is None and why_hold(problem) is None
    return "afg" if smooth else "prox-point"


def _why_sets(problem: Problem) -> str | None:
    """Why most features can be left alone most of the time."""
    if METHODS["working-set"].refusal(problem) is not None:
        return None
    shape = shape_of(problem.penalty, 1)  # plain ones are alike for all features
    if shape is None or not shape.kinked:
        return None
    better = _is_tall(problem) or len(problem.free_places)
    if better and _newton_is_affordable(problem):
        return None
    return "the penalty holds features at zero or at bounds"


def _is_tall(problem: Problem) -> bool:
    """Whether some samples tell nearly all, and more than a look at all features would."""
    many = problem.n >= _TALL * problem.d and problem.d <= _NARROW
    return many and not problem.loss.quadratic


def _sweeps_pay(problem: Problem) -> bool:
    """Where samples are the coordinates; for a squared loss, where they are few."""
    if why_hold(problem) or preferred_view(problem) != "dual":
        return False
    if METHODS["sweeps"].refusal(problem) is not None:
        return False
    return not problem.loss.quadratic or problem.n <= problem.d


def _chosen(name: str, reason: str) -> tuple[str, Method]:
    return f"auto ({name}, since {reason})", METHODS[name]


def _why_newton(problem: Problem, tol: float, neither: bool) -> str | None:
    """What would cost coordinate steps many passes, or Newton steps few."""
    if len(problem.free_places):
        return "not all of them have a penalty"
    if neither:
        return "neither samples nor features can be the coordinates"
    if is_coupled(problem):
        return "lam is small for data of this size"
    tall = _is_tall(problem) and lacks_for_dual(problem) is not None
    if problem.width == 1 and (tall or _newton_passes(problem) <= _cheap(problem, tol)):
        return "many samples for each"
    return None


def _cheap(problem: Problem, tol: float) -> float:
    """How many passes a Newton step may cost if coordinate steps are an alternative."""
    if not problem.loss.differentiable:
        return _CHEAP_KINKS if tol <= _TIGHT else _CHEAP
    return _CHEAP_PIECES if hasattr(problem.loss, "face") else _CHEAP


def _newton_passes(problem: Problem) -> float:
    """The time of a Newton step, in passes over X."""
    work = 0.5 * _gram_products(problem) + problem.coef_size**3 / (3.0 * _speed(problem))
    return work / max(problem.entries * problem.width, 1.0)


def _newton_is_affordable(problem: Problem) -> bool:
    if METHODS["newton"].refusal(problem) is not None or problem.coef_size > _SYSTEM:
        return False
    return _gram_products(problem) <= _PRODUCTS


def _gram_products(problem: Problem) -> float:
    """The multiplications of a Gram matrix of which both triangles are made, or as many of sparse
    matrices as take that long."""
    counts = problem.row_counts * problem.width
    return float(np.sum(counts * counts)) / _speed(problem)


def _speed(problem: Problem) -> float:
    """That of Gram matrices; those of pairs of classes are too many and too small for BLAS."""
    return 1.0 if storage.is_sparse(problem.X) or problem.width > 1 else _BLAS


def resolve(method: Any, sampling: Any, problem: Problem, tol: float) -> tuple[str, Method]:
    """The method that a user asked for, with a description; refuses in words."""
    if method == "auto" and sampling is not None:
        name, usual = choose_to_sample(problem)
    else:
        name, usual = _look_up(method, problem, tol)
    chosen = usual
    if sampling is not None:
        sampling = _as_sampling(sampling)
        name = f"{name} with {sampling!r}"
        chosen = Method(chosen.step, sampling, needs=chosen.needs)
    refusal = chosen.refusal(problem)
    if refusal:
        raise ValueError(f"{name} cannot solve this problem: {refusal}{_hint(usual, problem)}")
    return (
        f"{name}: {chosen.step.describe(problem)}, {type(chosen.sampling).__name__} sampling",
        chosen,
    )


def _hint(usual: Method, problem: Problem) -> str:
    """What would work instead: the method's own sampling, else another method."""
    if usual.refusal(problem) is None:
        return f"; without sampling= it takes {usual.sampling!r}, which would work"
    others = suitable(problem)
    return f"; method={others[0]!r} would work" if others else ""


def _as_sampling(given: Any) -> Sampling:
    example = "such as dualgap.samplings.TauNice(4)"
    if isinstance(given, str) and given not in samplings.REGISTRY:
        words = unknown("sampling", given, samplings.REGISTRY)
        raise ValueError(f"{words}; others have parameters: give an object {example}")
    if isinstance(given, type):
        raise ValueError(f"sampling must be an object, not a class: write {given.__name__}(...)")
    found = named(given, samplings.REGISTRY, "sampling")
    if not isinstance(found, Sampling):
        raise ValueError(f"sampling must be an object {example}, or a name, not {given!r}")
    return found


def _look_up(method: Any, problem: Problem, tol: float) -> tuple[str, Method]:
    if isinstance(method, Method):
        return "custom", method
    if isinstance(method, Step):
        return type(method).__name__, Method(method, METHODS[method.usual].sampling)
    if method == "auto":
        return choose(problem, tol)
    if isinstance(method, type):
        raise ValueError(f"method must be an object, not a class: write {method.__name__}()")
    if not isinstance(method, str):
        raise ValueError(f"method must be a name, a Method or a step, not {method!r}")
    if method not in METHODS:
        raise ValueError(unknown("method", method, ["auto", *METHODS]))
    return method, METHODS[method]
