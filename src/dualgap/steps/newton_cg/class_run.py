"""What runs over all classes at once share: the pair they hand over, and its balance.

Before a pair is handed over, Newton steps on the free features alone balance it up to rounding
errors, so that the dual point −∇φ(Z) is feasible as it stands.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from dualgap.compile.scalar import EPS
from dualgap.linalg.validate import Floats
from dualgap.penalties.structure import shape_of
from dualgap.problem import Problem
from dualgap.proof.certificate import Pair
from dualgap.steps.base import FullPassRun, Setting
from dualgap.steps.newton.cholesky import solve_scaled
from dualgap.steps.newton_cg.losses_at import ClassLosses, ClassResponse
from dualgap.steps.newton_cg.products import Products
from dualgap.steps.newton_cg.tuning import TUNING


def class_refusal(problem: Problem) -> str | None:
    """Why these runs cannot solve a problem, in words; None if they can."""
    name = type(problem.given_loss).__name__
    if problem.width == 1:
        return f"the {name} loss has one decision value for each sample"
    if not hasattr(problem.loss, "hessian_weights") or problem.loss.gamma == 0.0:
        return f"the {name} loss has no second derivatives"
    shape = shape_of(problem.penalty, problem.coef_size)
    if shape is None or shape.kinked:
        return f"the penalty {type(problem.penalty).__name__} is not made of L2 parts alone"
    return None


class ClassRun(FullPassRun):
    """A run with the losses at Z = XW.

    ``losses`` and ``products`` may be given: of samples that are elsewhere, such as in partitions.
    """

    def __init__(
        self, problem: Problem, setting: Setting, losses: Any = None, products: Any = None
    ) -> None:
        super().__init__(problem)
        shape = shape_of(problem.penalty, problem.coef_size)
        assert shape is not None  # other penalties are refused
        self.l2 = shape.l2.reshape(problem.d, problem.width)
        self.setting = setting
        self.products = Products(problem) if products is None else products
        self.losses = ClassLosses(problem) if losses is None else losses
        # Small data: a proof takes little longer than a gap check, which saves another one.
        small = problem.dual_size * problem.d <= TUNING.small_data
        self.checks_are_proofs = losses is None and small
        self.at: ClassResponse | None = None
        self.handed: Pair | None = None

    def pair(self) -> Pair:
        """The pair at W, whose dual point is −∇φ(Z)."""
        if self.handed is None:
            problem, w = self.problem, self.coefficients.ravel()
            # A proof rests on products that were computed from the data, not kept up to date.
            anew = self.checks_are_proofs
            z = problem.decision(w) if anew else self._evaluated().z.ravel()
            a = self.losses.dual_at(z).ravel()
            self.handed = Pair(w, a, z, problem.average(a), z_anew=anew, u_anew=True)
        return self.handed

    def _evaluated(self) -> ClassResponse:
        if self.at is None:
            self.at = self.losses.at(self.products.times(self.coefficients))
        return self.at

    @property
    @abstractmethod
    def coefficients(self) -> Floats:
        """W, of shape (d, K)."""

    # --- the coefficients of free features ----------------------------------------------------

    def _of_free(self, features: Any) -> Floats:
        """The coefficients of some free features, in a new array."""
        return np.asarray(self.coefficients[features])

    @abstractmethod
    def _replace(self, features: Any, values: Floats, at: ClassResponse) -> None:
        """Give free features other coefficients, with the losses there."""

    def _balance(self) -> None:
        """Minimise over the coefficients of free features, until only rounding errors are left."""
        problem = self.problem
        if not len(problem.free_places):
            return
        free = problem.unpenalised
        if free.collinear or len(free.features) * problem.width > TUNING.balanced_constraints:
            return
        features, X = free.features, free.X
        unit = np.sqrt(problem.column_squares[features])[:, None]
        for _ in range(TUNING.balance_steps):
            at = self._evaluated()
            missing = X.T @ at.slopes
            sizes = np.sqrt(np.sum(at.slopes * at.slopes, axis=0))
            if (np.abs(missing) <= 0.25 * problem.n * EPS * sizes).all():
                break
            H = self.losses.curvature(at).hessian(X)
            move = solve_scaled(H, np.maximum(np.diag(H), 0.0), -missing.ravel())
            move = move.reshape(missing.shape)
            new = self.losses.at(at.z + X @ move)
            if not (np.isfinite(move).all() and new.value <= at.value * (1.0 + TUNING.rounding)):
                break
            self._replace(features, self._of_free(features) + move / unit, new)

    def _centre(self) -> None:
        """Of all intercepts that predict the same, those whose mean is 0: users see them."""
        problem = self.problem
        if problem.intercept is not True:
            return
        last, z = np.array([problem.d - 1]), self._evaluated().z
        own, used = self._of_free(last), ~problem.classes_without_weight
        for _ in range(TUNING.centrings):
            shift = np.mean(own[0, used])
            if (own - shift == own).all():
                break
            own -= shift
            z = z - problem.constant * shift
        if z is not self._evaluated().z:
            self._replace(last, own, self.losses.at(z))
