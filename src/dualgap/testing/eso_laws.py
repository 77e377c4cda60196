"""The law of v: E‖Σ_{i∈S} h_i x_i‖² ≤ Σ_i p_i v_i h_i², for h that were chosen to break it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.samplings.arbitrary import Arbitrary
from dualgap.samplings.base import Sampling, checked_draw
from dualgap.samplings.theory import bound_facts
from dualgap.testing._common import check_marginals, holds

_OF_EACH_KIND = 5  # directions for single samples, and for single features
_RANDOM = 10  # random directions
_POWER_ITERATIONS = 30
# Standard errors by which a mean may exceed its bound; about 30 means are compared.
_STANDARD_ERRORS = 5.0


def check_eso(X: Any, sampling: Any, sets: int = 4000, seed: int = 0) -> None:
    """Raise AssertionError if sets that a sampling draws contradict its p or its v.

    ``sampling``: a sampling, or (p, v, draw) as for ``samplings.Arbitrary``. The law is the same as
    E(‖Σ_{i∈S} h_i x_i‖² − Σ_{i∈S} v_i h_i²) ≤ 0, whose mean over ``sets`` random sets has smaller
    errors; a v that is too small by less than these may pass. The worst h are sought with other
    sets than those that judge them.
    """
    X = storage.as_data(X)
    problem = Problem(X, np.zeros(X.shape[0]))
    if not isinstance(sampling, Sampling):
        p, v, draw = sampling
        sampling = Arbitrary(draw, p, v)
    bound, known = bound_facts(problem, sampling)
    weights, p, v = known.weights, known.p, known.v
    holds(v.shape == p.shape, "one v for each sample", shape=v.shape)
    holds(np.isfinite(v).all() and (v >= 0.0).all(), "v must be finite and >= 0", v=v)
    rng = np.random.default_rng(seed)
    X = sp.csr_array(X).astype(np.float64)
    study, judge = (_incidence(bound, weights, sets, rng) for _ in range(2))
    check_marginals(judge.indices, p, judge.shape[0])
    for name, h in _directions(X, p * v, study, rng):
        sums = np.ravel(((judge * h) @ X).power(2).sum(axis=1))
        excess = sums - judge @ (v * h * h)
        rounding = 1e-9 * float(sums.mean())
        error = float(excess.std()) / np.sqrt(len(excess))
        holds(
            excess.mean() <= _STANDARD_ERRORS * error + rounding,
            f"v is too small: E‖Σ h_i x_i‖² exceeds Σ p_i v_i h_i² for h {name}",
            mean=sums.mean(),
            excess=excess.mean(),
            error=error,
        )


def _incidence(sampling: Sampling, weights: Floats, count: int, rng: np.random.Generator) -> Any:
    """Row k marks the samples of set k."""
    size = sampling.marginals(weights).sum()
    order, offsets = checked_draw(sampling, weights, int(np.ceil(count * size)), rng)
    offsets = np.arange(len(order) + 1) if offsets is None else offsets
    return sp.csr_array(
        (np.ones(len(order)), order, offsets), shape=(len(offsets) - 1, len(weights))
    )


def _directions(
    X: Any, limit: Floats, study: Any, rng: np.random.Generator
) -> list[tuple[str, Floats]]:
    """Each h with a name. ``limit`` is p∘v, by which the worst h is measured."""
    n = X.shape[0]
    found = [("constant", np.ones(n))]
    found += [("random", rng.standard_normal(n)) for _ in range(_RANDOM)]
    found += [("of one sample", np.eye(1, n, i)[0]) for i in _largest(limit)]
    columns = X.tocsc()
    columns.eliminate_zeros()
    for j in _largest(np.diff(columns.indptr)):
        span = slice(columns.indptr[j], columns.indptr[j + 1])
        h = np.zeros(n)
        h[columns.indices[span]] = 1.0 / columns.data[span]  # equal summands: the largest sum
        found.append(("of one feature", h))
    root = np.zeros(n)
    np.divide(1.0, np.sqrt(limit), out=root, where=limit > 0.0)
    u = rng.standard_normal(n)
    for _ in range(_POWER_ITERATIONS):
        h = root * u
        u = root * np.ravel(((study.T @ ((study * h) @ X)) * X).sum(axis=1))
        if not u.any():
            break
        u /= np.abs(u).max()
    found.append(("of the worst kind found", root * u))
    return [(name, h) for name, h in found if h.any()]


def _largest(values: Any) -> Any:
    """Where the largest values are, the first of them first."""
    return np.argsort(-np.asarray(values), kind="stable")[:_OF_EACH_KIND]
