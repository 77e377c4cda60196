"""The two views of a problem as  min F(v) + Σ_i G_i(x_i)  with  v = Σ_i scale_i x_i A_i.

            coordinates      x   v    F                  G_i                 needs
dual        samples          a   u    λ g*(u)            c_i φ*(−a_i)        g strongly convex
primal      features         w   z    Σ_i c_i φ(z_i)     λ g_j(w_j)          φ differentiable

(Perekrestenko et al. 2017, problems (A) and (B); docs/architecture.md has the notation.) A view
knows how to start, which pair its state stands for, and how far each coordinate is from optimal.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from dualgap.compile.prefetch import prefetch
from dualgap.compile.rules import conj_slope, curvature, dual_step, dual_step_into, prox, slope
from dualgap.linalg import products, storage
from dualgap.linalg.storage import Matrix
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.proof import terms
from dualgap.proof.block_terms import residues as block_residues
from dualgap.proof.certificate import Certificate, Pair
from dualgap.samplings.scores import Scores, late_scores
from dualgap.steps.base import dual_start
from dualgap.steps.coordinate.coordinate_scores import (
    BLUR,
    FeatureScorer,
    SampleScorer,
    feature_scores,
    sample_residues,
)
from dualgap.steps.coordinate.epoch import line_minimum


class PenaltyConjugate(NamedTuple):
    """F of the dual view, per feature and divided by λ; its gradient is w = ∇g*(u)."""

    penalty: Any

    def gradient(self, k, v):
        return conj_slope(self.penalty, v, 0.0, k)

    def quadratic_bound(self):
        return True

    def search(self, matrix, separable, i, x, v, q):
        return x, 0  # never asked for


class LossConjugate(NamedTuple):
    """G of the dual view, divided by c_i."""

    loss: Any
    y: Any

    def step(self, i, x, g, q):
        return dual_step(self.loss, x, g, q, self.y[i])

    def step_into(self, i, x, g, q, out):
        dual_step_into(self.loss, x, g, q, self.y[i], out)

    def expect(self, i):
        prefetch(self.y, i)


class LossSum(NamedTuple):
    """F of the primal view."""

    loss: Any
    y: Any
    c: Any
    quadratic: bool

    def gradient(self, k, v):
        return self.c[k] * slope(self.loss, v, self.y[k])

    def hessian(self, k, v):
        return self.c[k] * curvature(self.loss, v, self.y[k])

    def quadratic_bound(self):
        return self.quadratic

    def search(self, matrix, separable, i, x, v, q):
        return line_minimum(self, matrix, separable, i, x, v, q)


class PenaltyTerms(NamedTuple):
    """G of the primal view."""

    penalty: Any
    lam: float

    def step(self, i, x, g, q):
        if q <= 0.0:  # a feature without entries: the penalty decides
            return conj_slope(self.penalty, 0.0, x, i)
        return prox(self.penalty, x - g / q, self.lam / q, i)

    def expect(self, i):
        pass


@dataclass
class View(ABC):
    """A problem seen through one kind of coordinates, with the state x and v of a run.

    For block losses x and v are flat, with K entries for each sample and each feature.
    """

    problem: Problem
    matrix: Any
    smooth: Any
    separable: Any
    scale: Floats  # v = Σ scale_i x_i A_i
    squares: Floats  # of A_i, in the metric of F: scale · squares bounds the curvature of a step
    x: Floats
    v: Floats

    @property
    def size(self) -> int:
        return len(self.squares)

    @property
    def q(self) -> Floats:
        """Curvature bounds of coordinate steps."""
        with np.errstate(over="ignore"):
            return np.asarray(self.scale * self.squares)

    @property
    def fixed(self) -> tuple[Any, Any, Any, Any, Any]:
        """What epochs take that does not change."""
        return self.matrix, self.smooth, self.separable, self.scale, self.squares

    @property
    @abstractmethod
    def scorer(self) -> Any:
        """The scores of one coordinate, as rules."""

    @property
    @abstractmethod
    def across(self) -> Matrix:
        """The matrix by places: which coordinates have an entry there."""

    @property
    @abstractmethod
    def place_counts(self) -> Floats:
        """How many they are."""

    def refresh(self) -> None:
        """Recompute v from x, so that rounding errors of the updates cannot add up."""
        blocks = self.x.reshape(self.size, -1)
        products.scatter(self.matrix, (self.scale[:, None] * blocks).ravel(), self.v)


class DualView(View):
    """Samples as coordinates. ``offset`` is what their steps add to each decision value."""

    offset: float = 0.0

    def __init__(self, problem: Problem, start: Floats | None = None) -> None:
        super().__init__(
            problem,
            problem.rows,
            PenaltyConjugate(problem.penalty),
            LossConjugate(problem.loss, problem.y),
            storage.divided(problem.c, problem.lam),
            problem.summed_squares(problem.smoothness, of_rows=True),
            dual_start(problem, start),
            np.empty(problem.coef_size),
        )
        refuse_overflow(self.q)
        self.refresh()

    def under(self, problem: Problem) -> DualView:
        """The same state under another penalty of the same strengths."""
        other = copy.copy(self)
        other.problem, other.smooth = problem, PenaltyConjugate(problem.penalty)
        return other

    def pair(self, *, lend: bool = False) -> Pair:
        w, z = np.empty(self.problem.coef_size), np.empty(self.problem.dual_size)
        terms.conj_slopes(self.problem.penalty, self.v, w)
        products.gather(self.matrix, w, z)
        a = self.x if lend else self.x.copy()
        return Pair(w, a, z, self.v.copy(), z_anew=True, lent=lend)

    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        problem = self.problem
        return late_scores(
            residue=lambda: self._residues(pair),
            gap=lambda: certificate.sample_parts,
            curvature=lambda: problem.c * self.q,
            strength=lambda: problem.c * problem.loss.gamma,
            lipschitz=lambda: np.full(self.size, float(problem.loss.lipschitz)),
        )

    def _residues(self, pair: Pair) -> Floats:
        problem, out = self.problem, np.empty(self.size)
        if problem.width == 1:
            sample_residues(self.scorer, pair.z, pair.a, out)
        else:
            block_residues(problem.loss, problem.y, problem.c, pair.z, pair.a, out)
        return out

    @property
    def scorer(self) -> SampleScorer:
        blur = BLUR if self.problem.loss.gamma == 0.0 else 0.0
        return SampleScorer(self.problem.loss, self.problem.y, self.problem.c, blur)

    @property
    def across(self) -> Matrix:
        return self.problem.columns

    @property
    def place_counts(self) -> Floats:
        return self.problem.column_counts


class PrimalView(View):
    """Features as coordinates. ``ceiling`` is the P(w) on which bounds of coefficients rest; ∞: the
    current one."""

    ceiling: float = inf

    def __init__(self, problem: Problem, start: Floats | None = None) -> None:
        q = np.full(problem.d, inf)
        if problem.loss.gamma > 0.0:
            q = problem.summed_squares(problem.c / problem.loss.gamma, of_rows=False)
            refuse_overflow(q)
        q[problem.column_squares == 0.0] = 0.0
        super().__init__(
            problem,
            problem.columns,
            LossSum(problem.loss, problem.y, problem.c, bool(problem.loss.quadratic)),
            PenaltyTerms(problem.penalty, problem.lam),
            np.broadcast_to(1.0, problem.d),
            q,
            (problem.features.origin if start is None else start).copy(),
            np.empty(problem.n),
        )
        self.refresh()

    def pair(self) -> Pair:
        a, u = np.empty(self.problem.n), np.empty(self.problem.d)
        terms.slopes(self.problem.loss, self.problem.y, self.v, a)
        products.gather(self.matrix, self.problem.c * a, u)
        u /= self.problem.lam
        return Pair(self.x.copy(), a, self.v.copy(), u, u_anew=True)

    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        problem = self.problem
        limit, residue, gap = np.empty((3, self.size))
        primal = certificate.primal if self.ceiling == inf else self.ceiling
        feature_scores(self.scorer, primal, pair.w, pair.u, limit, residue, gap)
        return late_scores(
            residue=lambda: residue,
            gap=lambda: gap,
            curvature=lambda: np.where(np.isfinite(self.q), self.q, problem.column_squares),
            strength=lambda: problem.lam * problem.features.strength,
            lipschitz=lambda: limit + np.abs(problem.features.origin),
        )

    @property
    def scorer(self) -> FeatureScorer:
        problem, facts = self.problem, self.problem.features
        return FeatureScorer(
            problem.loss,
            problem.y,
            problem.c,
            problem.penalty,
            problem.lam,
            problem.least,
            problem.column_squares,
            facts.origin,
            np.ascontiguousarray(facts.reach),
            np.ascontiguousarray(facts.strength),
            np.minimum(facts.high, -facts.low),
            self.ceiling,
        )

    @property
    def across(self) -> Matrix:
        return self.problem.rows

    @property
    def place_counts(self) -> Floats:
        return self.problem.row_counts


def refuse_overflow(q: Floats) -> None:
    if not np.isfinite(q).all():
        raise ValueError(
            "lam is so small for data of this size that curvatures overflow: rescale X"
        )
