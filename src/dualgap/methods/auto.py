"""The method that ``solve`` is asked for; for "auto", which one and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.losses.softmax import Softmax
from dualgap.methods.cost import newton_seconds, sweeps_seconds
from dualgap.methods.registry import METHODS, Method
from dualgap.methods.suitable import suitable
from dualgap.methods.words import method_of
from dualgap.problem import Problem
from dualgap.samplings.words import as_sampling
from dualgap.steps.base import Step, dual_refusal, primal_refusal
from dualgap.steps.coordinate.preferred_view import TUNING as VIEW_TUNING
from dualgap.steps.coordinate.preferred_view import dual_condition, preferred_view, reason_view
from dualgap.steps.newton.systems import solves_by_products
from dualgap.steps.newton_cg.system import solves_directly
from dualgap.steps.sweeps.free_intercept import has_free_intercept
from dualgap.steps.working_set.columns import is_one_set


@dataclass(frozen=True)
class Tuning:
    """Where one method becomes faster than another; measurements: docs/decisions/."""

    # The most products for a Gram matrix, and coefficients, of a Newton step: about a second each.
    newton_products: float = 2e9
    newton_coefficients: int = 2000
    # ... and where only proximal terms would do, if no more samples make systems small (median and
    # L1, 100 x 2,000 numbers: 1.4 s, proximal terms do not converge in 6).
    newton_kinked_coefficients: int = 4000
    # The most features of small dense data: systems take 0.2 ms without BLAS, a fit 1 or 2 ms.
    small_features: int = 100
    # The most passes over the data that a Newton step may cost where steps over features are an
    # alternative (a9a 8, ijcnn1 and covtype 6, mushrooms 11). Sweeps are compared by cost.
    newton_passes: float = 15.0
    # Condition of the dual problem from which Newton steps are taken whenever they are affordable.
    coupled_condition: float = 20.0
    # Samples per feature from which Newton steps that start on a subsample beat working sets, up to
    # so many features: L1 logistic, covtype 50 to 100 ms against 170 to 320, a9a 5 against 8.
    tall_samples_per_feature: int = 200
    tall_features: int = 500
    # How much faster BLAS multiplies arrays than a loop multiplies the entries of sparse matrices.
    # Without it auto took sweeps for 20,000 × 500 numbers: 3.3 s, where Newton steps take 0.18 s.
    blas_speedup: float = 20.0
    # Features without strong convexity for which proximal terms are considered, and the condition
    # of the other features up to which they pay. With an intercept, L2 and λ = 1/n to 1e-6 on w8a
    # they were 3 (squared hinge) to 7 (logistic) times faster than features as coordinates, and as
    # fast with the squared loss; on a9a with λ = 0.1/n, a condition of 35, no longer faster.
    proximal_features: int = 10
    proximal_condition: float = 30.0


TUNING = Tuning()


def choose(problem: Problem, tol: float) -> tuple[str, Method]:
    """The method that "auto" takes, after its name with the reason in words."""
    if _is_small(problem):
        return _auto("small-newton", "the data are small")
    if problem.on_groups:
        return _auto("groups", "the penalty is on groups of features")
    if METHODS["thresholds"].refusal(problem) is None:
        return _auto("thresholds", "the penalty is on gaps between thresholds")
    if storage.is_on_disk(problem.X):
        return _auto(_without_copies(problem), "X lies on disk by rows")
    if sets := _reason_working_set(problem):
        return _auto("working-set", sets)
    if problem.width == 1 and _suits_sweeps(problem):
        return _cheaper(problem, tol)
    if classes := _reason_classes(problem):
        return _auto(*classes)
    newton = _reason_newton(problem, bool(dual_refusal(problem) and primal_refusal(problem)))
    if newton and _newton_is_affordable(problem):
        return _auto("newton", f"there are few features and {newton}")
    return choose_to_sample(problem)


def _cheaper(problem: Problem, tol: float) -> tuple[str, Method]:
    """Newton steps or sweeps, where both could solve a problem."""
    if not _newton_is_possible(problem):
        few = has_free_intercept(problem)
        return _auto("sweeps", "only the intercept has no penalty" if few else reason_view(problem))
    if newton_seconds(problem, tol) <= sweeps_seconds(problem, tol):
        return _auto("newton", "its steps should cost less than sweeps")
    return _auto("sweeps", "they should cost less than Newton steps")


def _newton_is_possible(problem: Problem) -> bool:
    few_samples = problem.dual_size <= TUNING.newton_coefficients
    kinked = few_samples and dual_refusal(problem) and primal_refusal(problem)
    most = TUNING.newton_kinked_coefficients if kinked else TUNING.newton_coefficients
    few = problem.coef_size <= most or solves_by_products(problem)
    return few and METHODS["newton"].refusal(problem) is None


def _is_small(problem: Problem) -> bool:
    in_memory = type(problem.X) is np.ndarray or not storage.is_on_disk(problem.X)
    small = problem.d <= TUNING.small_features and problem.small_rows is not None
    return small and in_memory and METHODS["small-newton"].step.refusal(problem) is None


def choose_to_sample(problem: Problem) -> tuple[str, Method]:
    """The same, among methods that accept any sampling of coordinates."""
    dual, primal = dual_refusal(problem), primal_refusal(problem)
    if dual and primal:
        return _auto("prox-point", f"{dual} and {primal}")
    hold = _reason_proximal(problem)
    return _auto("prox-point", hold) if hold else _auto("cd-gap-decay", reason_view(problem))


def _without_copies(problem: Problem) -> str:
    """The method that neither transposes X nor copies a part of it."""
    bounded = problem.loss.gamma > 0.0 or not problem.loss.differentiable
    if not dual_refusal(problem) and bounded:
        return "cd-gap-decay" if METHODS["sweeps"].refusal(problem) else "sweeps"
    smooth = METHODS["afg"].refusal(problem) is None and _reason_proximal(problem) is None
    return "afg" if smooth else "prox-point"


def _reason_working_set(problem: Problem) -> str | None:
    """Why most features can be left alone most of the time; None if they cannot."""
    if METHODS["working-set"].refusal(problem) is not None:
        return None
    shape = problem.penalty_shape
    if shape is None or not shape.kinked:
        return None
    alone = len(problem.free_places) == 1 and problem.intercept is True
    free = len(problem.free_places) and (is_one_set(problem) or not alone)
    if (_is_tall(problem) or free) and _newton_is_affordable(problem):
        return None
    return "the penalty holds features at zero or at bounds"


def _is_tall(problem: Problem) -> bool:
    """Whether a subsample tells nearly all, and more than scoring all features would."""
    if problem.loss.quadratic or problem.d > TUNING.tall_features:
        return False
    return bool(problem.n >= TUNING.tall_samples_per_feature * problem.d)


def _reason_proximal(problem: Problem) -> str | None:
    """Why to add proximal terms for a few features rather than take features as coordinates."""
    if problem.least_strength > 0.0:
        return None
    features = problem.features.strength.reshape(problem.d, -1).min(axis=1)
    weak = int(np.sum(features == 0.0))
    rest = features[(features > 0.0) & np.isfinite(features)]
    if not 0 < weak <= TUNING.proximal_features or not rest.size:
        return None
    if rest.max() > VIEW_TUNING.uneven_strengths * rest.min() or problem.loss.gamma == 0.0:
        return None
    if problem.d <= problem.n and dual_condition(problem, rest.min()) > TUNING.proximal_condition:
        return None
    few = "one feature" if weak == 1 else f"{weak} features"
    return f"the penalty is strongly convex but for {few}, which get a proximal term"


def _is_coupled(problem: Problem) -> bool:
    """Whether λ is so small for the data that the samples of a dual view are strongly coupled."""
    least = 0.0 if problem.strength_range is None else problem.strength_range[0]
    return least > 0.0 and dual_condition(problem, least) > TUNING.coupled_condition


def _suits_sweeps(problem: Problem) -> bool:
    """Whether samples can be the coordinates; for a squared loss only if they are few."""
    if METHODS["sweeps"].refusal(problem) is not None:
        return False
    if problem.loss.quadratic and problem.n > problem.d:
        return False
    if not has_free_intercept(problem):
        return _reason_proximal(problem) is None and _may_prefer_samples(problem)
    unbounded = problem.loss.differentiable and problem.loss.gamma == 0.0
    strengths = problem.features.strength[:-1]
    finite = strengths[np.isfinite(strengths)]
    even = not finite.size or finite.max() <= VIEW_TUNING.uneven_strengths * finite.min()
    return bool(even and not unbounded)


def _may_prefer_samples(problem: Problem) -> bool:
    """Whether samples are the better coordinates, unless λ is so small that Newton steps win."""
    return preferred_view(problem) == "dual" or problem.d <= TUNING.newton_coefficients


def _auto(name: str, reason: str) -> tuple[str, Method]:
    return f"auto ({name}, since {reason})", METHODS[name]


def _reason_newton(problem: Problem, neither: bool) -> str | None:
    """Why coordinate steps would take many passes, or Newton steps few; None if neither."""
    if len(problem.free_places):
        return "not all of them have a penalty"
    if neither:
        return "neither samples nor features can be the coordinates"
    if _is_coupled(problem):
        return "lam is small for data of this size"
    if problem.width > 1:
        return None
    tall = _is_tall(problem) and dual_refusal(problem) is not None
    many = tall or _newton_passes(problem) <= TUNING.newton_passes
    return "many samples for each" if many else None


def _reason_classes(problem: Problem) -> tuple[str, str] | None:
    """Steps on all classes at once and why they need fewer passes; None if they do not."""
    if METHODS["smoothing"].refusal(problem) is None:
        return "smoothing", "the multiclass hinge has kinks"
    if METHODS["newton-cg"].refusal(problem) is not None:
        return None
    # Where slopes have kinks, the curvature along a step tells little: measured with the hinge.
    if problem.d > TUNING.newton_coefficients and not isinstance(problem.given_loss, Softmax):
        return None
    name = "newton-cg" if solves_directly(problem) else "quasi-newton"
    if 0 < len(problem.free_places) <= TUNING.proximal_features * problem.width:
        return name, "there are many classes, and not all features have a penalty"
    coupled = not len(problem.free_places) and _is_coupled(problem)
    return (name, "there are many classes, and lam is small for the data") if coupled else None


def _newton_passes(problem: Problem) -> float:
    """The time of a Newton step, in passes over X."""
    work = 0.5 * _gram_products(problem) + problem.coef_size**3 / (3.0 * _speed(problem))
    return work / max(problem.entries * problem.width, 1.0)


def _newton_is_affordable(problem: Problem) -> bool:
    cheap = solves_by_products(problem) or _gram_products(problem) <= TUNING.newton_products
    return cheap and _newton_is_possible(problem)


def _gram_products(problem: Problem) -> float:
    """The multiplications of a Gram matrix, both triangles, at the speed of sparse matrices."""
    counts = problem.row_counts * problem.width
    return float(np.sum(counts * counts)) / _speed(problem)


def _speed(problem: Problem) -> float:
    """The speed of Gram matrices. Those of pairs of classes are too many and too small for BLAS."""
    return 1.0 if storage.is_sparse(problem.X) or problem.width > 1 else TUNING.blas_speedup


def resolve(method: Any, sampling: Any, problem: Problem, tol: float) -> tuple[str, Method]:
    """The method that a user asked for, with a description; refuses in words."""
    automatic = isinstance(method, str) and method == "auto"
    draws = automatic and sampling is not None
    name, usual = choose_to_sample(problem) if draws else _look_up(method, problem, tol)
    chosen = usual
    if sampling is not None:
        sampling = as_sampling(sampling)
        name = f"{name} with {sampling!r}"
        chosen = Method(chosen.step, sampling, needs=chosen.needs)
    asked = automatic and sampling is None and not problem.on_groups
    if not asked and (refusal := chosen.refusal(problem)):
        raise ValueError(f"{name} cannot solve this problem: {refusal}{_hint(usual, problem)}")
    sampled = f"{type(chosen.sampling).__name__} sampling"
    return f"{name}: {chosen.step.describe(problem)}, {sampled}", chosen


def _hint(usual: Method, problem: Problem) -> str:
    """What would work instead: the method's own sampling, else another method."""
    if usual.refusal(problem) is None:
        return f"; without sampling= it takes {usual.sampling!r}, which would work"
    others = suitable(problem)
    return f"; method={others[0]!r} would work" if others else ""


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
    return method, method_of(method)
