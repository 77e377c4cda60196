"""Where a run stands, and what can be proven of it: from the data, whoever is lost meanwhile."""

from __future__ import annotations

import numpy as np

from dualgap.distributed.balancing import balanced_classes, balanced_numbers
from dualgap.distributed.block import Block
from dualgap.distributed.driver_facts import Whole, certificate, point_of
from dualgap.distributed.dual_change import Change, ballasts, keep
from dualgap.distributed.engine import Crew, LostError
from dualgap.distributed.local import Judging, average, judge
from dualgap.distributed.proximal import Held, outer_of, under
from dualgap.distributed.schemes import Scheme
from dualgap.linalg.validate import Floats
from dualgap.proof.ballast import Ballast, chosen, merged
from dualgap.proof.certificate import Certificate
from dualgap.proof.dual_point import Point, balanced, shortened


class Standing:
    """u, the best coefficients so far, and partitions that have the dual variables.

    ``outer``   the outer steps, if the penalty is not strongly convex
    ``change``  that of dual variables to those which the last proof rests on
    ``lost``    partitions set back since the last record
    ``looks``   passes over the data that only judged
    """

    def __init__(self, crew: Crew, whole: Whole, scheme: Scheme) -> None:
        self.crew, self.whole, self.scheme = crew, whole, scheme
        self.frame = whole.frame
        self.u: Floats = np.empty(0)
        self.best: Floats = self.frame.features.origin.copy()
        self.change = Change()
        self.lost = self.looks = 0
        centre = self.best.copy()
        centre[self.frame.free_places] = whole.intercept
        self.outer = outer_of(self.frame, whole.squares, whole.scale, centre)

    @property
    def held(self) -> Held | None:
        return None if self.outer is None else self.outer.held

    @property
    def inner(self) -> Block:
        """The frame of what partitions work on."""
        return under(self.frame, self.held)

    def refresh(self) -> None:
        """Compute u from the data and the dual variables as they are now."""
        while True:
            try:
                self.u = point_of(self.whole, self.crew.ask(average, Change())).u
                return
            except LostError as lost:
                self.lost += len(lost.partitions)

    def prove(self) -> tuple[Certificate, Floats]:
        """The best certificate for the dual variables of now, and its coefficients."""
        while True:
            try:
                point = point_of(self.whole, self.crew.ask(average, Change()))
                self.u = point.u
                points = (self.best, *self.scheme.points(self.inner, point.u))
                point = self._feasible(point, np.max(np.abs(points), axis=0))
                judged = self.crew.ask(judge, Judging(points, True, self.change))
            except LostError as lost:
                self.lost += len(lost.partitions)
                continue
            self.looks += len(points)
            found = [
                (certificate(self.whole, w, point, list(own)), w)
                for w, own in zip(points, zip(*judged))
            ]
            proof = min(found, key=lambda one: one[0].gap)
            self.best = proof[1]
            return proof

    def _feasible(self, point: Point, w: Floats) -> Point:
        """That of the change with which D is finite, for coefficients no larger than ``w``."""
        self.change = Change()
        if len(self.frame.free_places):
            self.change = self._balance(point)
            point = point_of(self.whole, self.crew.ask(average, self.change))

        def at(length: float) -> Point:
            self.change = self.change._replace(factor=length)
            own = Point(length * point.u, point.error if length > 0.0 else 0.0 * point.error)
            return balanced(self.frame, own, self._ballast, w)

        return shortened(self.frame, at)[1]

    def _ballast(self) -> Ballast:
        """The dual variables of all partitions that can make their balance exact."""
        found = self.crew.ask(ballasts, self.change)
        return chosen(merged([own for own, _ in found], [n for _, n in found]))

    def _balance(self, point: Point) -> Change:
        if self.frame.width > 1:
            return balanced_classes(self.crew, self.frame.width, self.frame.shape.n)
        typical = abs(float(point.u[-1])) * self.frame.lam / self.frame.constant
        close = 1e-3 * float(point.error[-1]) * self.frame.lam / self.frame.constant
        return balanced_numbers(self.crew, max(typical, close), close)

    def proven(self) -> tuple[Certificate, Floats, list[Floats]]:
        """A certificate, its coefficients, and the dual variables that it rests on."""
        while True:
            proof, w = self.prove()
            try:
                if self.change != Change():
                    self.crew.run(keep, self.change)
                return proof, w, self.crew.copy()
            except LostError as lost:
                self.lost += len(lost.partitions)
