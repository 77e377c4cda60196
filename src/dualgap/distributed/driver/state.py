"""The state of a run, and what can be proven of it: from the data, even while workers fail."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.distributed.data.block import Block, ProximalTerm
from dualgap.distributed.driver.balance import balanced_classes, balanced_numbers
from dualgap.distributed.driver.facts import DriverFacts, certificate, dual_point
from dualgap.distributed.driver.proximal import first_outer_step
from dualgap.distributed.engines.protocol import Engine, PartitionsLostError
from dualgap.distributed.messages import DualChange, ProofMessage
from dualgap.distributed.schemes.base import Scheme
from dualgap.distributed.tasks import adopt, ballast_candidates, contribution, proof_terms
from dualgap.linalg.validate import Floats
from dualgap.proof.certificate import Certificate
from dualgap.proof.dual_point import DualPoint, balance_exactly, shrink_until_feasible
from dualgap.proof.free_features import Ballast, merge_candidates, select_ballast


class RunState:
    """u, the best coefficients so far, and an engine whose partitions have the dual variables.

    ``outer``       the outer proximal steps, if the penalty is not strongly convex
    ``change``      from the dual variables to the feasible ones of the last proof
    ``lost``        partitions restored from a copy since the last row of the history
    ``gap_passes``  passes over the data that only evaluated the gap
    """

    def __init__(self, engine: Engine, facts: DriverFacts, scheme: Scheme) -> None:
        self.engine, self.facts, self.scheme = engine, facts, scheme
        self.skeleton = facts.skeleton
        self.u: Floats = np.empty(0)
        self.best: Floats = self.skeleton.features.origin.copy()
        self.change = DualChange()
        self.lost = self.gap_passes = 0
        centre = self.best.copy()
        centre[self.skeleton.free_places] = facts.intercept
        self.outer = (
            first_outer_step(self.skeleton, facts.squares, facts.scale, centre)
            if scheme.needs_strong_convexity
            else None
        )

    @property
    def proximal(self) -> ProximalTerm | None:
        return None if self.outer is None else self.outer.term

    @property
    def inner(self) -> Block:
        """The skeleton of the problem that partitions work on: with the proximal term."""
        return self.skeleton.with_proximal(self.proximal)

    def refresh(self) -> None:
        """Compute u from the data and the present dual variables."""
        while True:
            try:
                contributions = self.engine.ask(contribution, DualChange())
                self.u = dual_point(self.facts, contributions).u
                return
            except PartitionsLostError as error:
                self.lost += len(error.partitions)

    def prove(self, *, parts: bool = False) -> tuple[Certificate, Floats]:
        """The best certificate for the present dual variables, and its coefficients; ``parts``:
        with the contribution of each sample."""
        while True:
            try:
                point = dual_point(self.facts, self.engine.ask(contribution, DualChange()))
                self.u = point.u
                points = (self.best, *self.scheme.points(self.inner, point.u))
                point = self._feasible(point, np.max(np.abs(points), axis=0))
                answers = self.engine.ask(proof_terms, ProofMessage(points, self.change, parts))
            except PartitionsLostError as error:
                self.lost += len(error.partitions)
                continue
            self.gap_passes += len(points)
            found = [
                (certificate(self.facts, w, point, list(gap_terms)), w)
                for w, gap_terms in zip(points, zip(*answers))
            ]
            proof = min(found, key=lambda one: one[0].gap)
            self.best = proof[1]
            return proof

    def _feasible(self, point: DualPoint, w: Floats) -> DualPoint:
        """The point at which D is finite, for coefficients no larger than ``w``; sets ``change``.

        An unpenalised intercept asks for Σ c a = 0: all partitions shift or tilt their dual
        variables. L1 asks for |u_j| ≤ 1: then they are made shorter.
        """
        self.change = DualChange()
        if len(self.skeleton.free_places):
            self.change = self._balance(point)
            point = dual_point(self.facts, self.engine.ask(contribution, self.change))

        def at(factor: float) -> DualPoint:
            self.change = self.change._replace(factor=factor)
            error = point.error if factor > 0.0 else 0.0 * point.error
            return balance_exactly(
                self.skeleton, DualPoint(factor * point.u, error), self._ballast, w
            )

        return shrink_until_feasible(self.skeleton, at)[1]

    def _balance(self, point: DualPoint) -> DualChange:
        skeleton = self.skeleton
        if skeleton.width > 1:
            return balanced_classes(self.engine, skeleton.width, skeleton.totals.n)
        typical = abs(float(point.u[-1])) * skeleton.lam / skeleton.constant
        close = 1e-3 * float(point.error[-1]) * skeleton.lam / skeleton.constant
        return balanced_numbers(self.engine, max(typical, close), close)

    def _ballast(self) -> Ballast:
        """The dual variables of all partitions that can make their balance exact."""
        found = self.engine.ask(ballast_candidates, self.change)
        return select_ballast(
            merge_candidates([candidates for candidates, _ in found], [n for _, n in found])
        )

    def final_proof(self, *, with_samples: bool) -> tuple[Certificate, Floats, Any]:
        """A certificate, its coefficients, and the dual variables that it rests on;
        ``with_samples``: whether what is as long as there are samples is brought here at all."""
        while True:
            proof, w = self.prove(parts=with_samples)
            if not with_samples:
                return proof, w, None
            try:
                if self.change != DualChange():
                    self.engine.run(adopt, self.change)
                return proof, w, np.concatenate(self.engine.copy())
            except PartitionsLostError as error:
                self.lost += len(error.partitions)
