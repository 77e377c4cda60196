"""The search for a good dual point, and for the precision that a proof needs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.certificate import Attempt, Certificate, Pair, Proof, as_proof, attempt
from dualgap.proof.dual_point import DOUBLE_DOUBLE, FLOAT64, FLOAT64_CHEAP_BOUNDS
from dualgap.proof.tuning import TUNING


def prove(
    problem: Problem,
    w: Floats,
    dual: Floats | None,
    target_gap: float = 0.0,
    z: Floats | None = None,
    u: Floats | None = None,
) -> tuple[Certificate, Floats]:
    """The best certificate found, and the dual point that it rests on: see ``find_proof``."""
    return find_proof(problem, w, dual, target_gap, z, u)[:2]


def find_proof(
    problem: Problem,
    w: Floats,
    dual: Floats | None,
    target_gap: float = 0.0,
    z: Floats | None = None,
    u: Floats | None = None,
) -> Proof:
    """The best certificate found, with what it rests on.

    Tries the dual points ``dual``, −φ'(Xw) and 0, until a gap of ``target_gap`` is proven. Cheap
    bounds on rounding errors come first, if they may suffice. Double-double sums take many times as
    long and are made only where the errors of float64 matter. ``z`` and ``u`` are the products of
    ``w`` and ``dual``, if they were just computed from the data.
    """
    z = problem.decision(w) if z is None else z
    pairs: list[Pair] = []
    best: Attempt | None = None
    for pair in _candidate_pairs(problem, w, dual, z, u):
        is_zero = not pair.a.any()
        if is_zero and best and best.certificate.gap <= best.certificate.primal - problem.least:
            continue
        if target_gap > 0.0 and problem.entries >= TUNING.cheap_bounds_entries:
            best = _better(best, attempt(problem, pair, FLOAT64_CHEAP_BOUNDS))
            if best.larger_gap <= target_gap:
                break
        pairs.append(pair)
        best = _better(best, attempt(problem, pair, FLOAT64))
        if best.larger_gap <= target_gap:
            break
    return _sharpen_if_needed(problem, pairs, best, target_gap)


def prove_pair(problem: Problem, w: Floats, dual: Floats) -> tuple[Certificate, Floats]:
    """The certificate from this dual point and no other: two passes over the data."""
    pair = _pair_with(problem, w, dual, problem.decision(w), None)
    return _sharpen_if_needed(problem, [pair], attempt(problem, pair, FLOAT64), 0.0)[:2]


def _candidate_pairs(
    problem: Problem, w: Floats, dual: Floats | None, z: Floats, u: Floats | None
) -> Iterator[Pair]:
    if dual is not None:
        yield _pair_with(problem, w, dual, z, u)
    a = np.empty(problem.dual_size)
    terms.slopes(problem.loss, problem.y, z, a)
    yield Pair(w, a, z, np.empty(0))
    yield Pair(w, np.zeros(problem.dual_size), z, np.empty(0))


def _pair_with(problem: Problem, w: Floats, dual: Floats, z: Floats, u: Floats | None) -> Pair:
    a = np.empty(problem.dual_size)
    terms.projections(problem.loss, problem.y, dual, a)
    if not np.array_equal(a, dual):
        return Pair(w, a, z, np.empty(0))
    return Pair(w, dual, z, np.empty(0) if u is None else u, u_anew=u is not None)


def _better(one: Attempt | None, other: Attempt) -> Attempt:
    return other if one is None or other.certificate.gap < one.certificate.gap else one


def _sharpen_if_needed(
    problem: Problem, pairs: list[Pair], best: Attempt | None, target_gap: float
) -> Proof:
    """The best attempt, repeated in twice the precision if rounding matters."""
    if best is None or not (best.is_sharp or best.larger_gap <= target_gap):
        for pair in pairs:
            best = _better(best, attempt(problem, pair, DOUBLE_DOUBLE))
    assert best is not None
    return as_proof(problem, best)
