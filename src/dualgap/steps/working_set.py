"""Working sets of features: Newton models of the losses, minimised over a few features at a time.

At each look the features outside of the set that could gain most by a step join it. On the set the
losses are replaced by their second-order model around z = Xw (for a squared loss, by themselves),
and coordinate steps minimise model plus penalty; a line search on the objective follows. Where the
set is small, its Gram matrix takes the place of the columns, and once signs are settled a direct
solve of the system of the support ends the model (feature-sign search).

Cost of a round: a pass over X for the look, and passes over the columns of the set. Rate: linear,
in the end that of Newton's method (Friedman, Hastie, Tibshirani 2010; Yuan, Ho, Lin 2012; Massias,
Gramfort, Salmon 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap import terms
from dualgap._scalar import EPS
from dualgap._validate import Floats
from dualgap.certificate import Certificate, Pair
from dualgap.null_model import origin
from dualgap.problem import Problem
from dualgap.penalties.shape import shape_of
from dualgap.steps import working_set_kernels as kernels
from dualgap.steps.base import Setting
from dualgap.steps.full_pass import FullPass, FullPassRun
from dualgap.steps.gram_model import GramModel
from dualgap.steps.start import Start

import os
_FIRST = int(os.environ.get("F",100))
_GROWTH = float(os.environ.get("G",2))
_SPARSE = 0.2
_SWEEPS = 50  # over a set, for one model
_NEWTON = 10  # models between two looks
_INEXACT = 0.1  # what a model may leave of the violations it begins with
_STALE = 0.2  # progress below which a Gram matrix is made anew
_EARLY = float(os.environ.get('E',0.01))
_SET = float(os.environ.get("S",0.1))  # what a set may leave of the violations seen at the look
_SMALL, _SMALL_FIXED = 80, 500  # features up to which Gram matrices pay: a new one each time, one only
_FLATTEST = 1e-3  # relative to the curvature bound
_SHORTEST = 1e-8
_DECREASE = 0.01


@dataclass(frozen=True)
class WorkingSet(FullPass):
    """Newton models on working sets of features."""

    usual = "working-set"

    def describe(self, problem: Problem) -> str:
        return "Newton models on working sets of features"

    def start(self, problem: Problem, warm: Start, setting: Setting = Setting()) -> WorkingSetRun:
        return WorkingSetRun(problem, warm, setting)


class WorkingSetRun(FullPassRun):
    """A run; its state is w with z = Xw, and the set."""

    def __init__(self, problem: Problem, warm: Start, setting: Setting) -> None:
        super().__init__(problem)
        self.matrix = problem.columns
        self.w = (origin(problem) if warm.coef is None else warm.coef).copy()
        empty = problem.column_squares == 0.0
        self.w[empty] = problem.features.origin[empty]
        self.z = problem.decision(self.w)
        self.stored = max(float(problem.row_counts.sum()), 1.0)
        gamma = problem.loss.gamma
        self.bound = problem.column_squares * (problem.c.mean() / gamma if gamma > 0.0 else problem.c.mean())
        self.fixed = bool(problem.loss.quadratic)
        self.r, self.h = np.empty((2, problem.n))
        self.chosen = np.empty(0, np.int64)
        self.u: Floats | None = None
        self.least = 0.1 * problem.lam * setting.target / problem.scale if problem.scale > 0.0 else 0.0
        self.model = GramModel(problem)
        self.log = []

    def pair(self) -> Pair:
        problem = self.problem
        a = np.empty(problem.n)
        terms.slopes(problem.loss, problem.y, self.z, a)
        self.u = problem.average(a)
        return Pair(self.w.copy(), a, self.z.copy(), self.u)

    def refresh(self) -> None:
        self.z = self.problem.decision(self.w)

    def advance(self, order: Any, offsets: Any = None) -> tuple[int, int, float]:
        """Choose a set, and minimise over it."""
        if self.u is None:
            self.pair()
        before = self.w.copy()
        self._choose()
        work = self._fit_set()
        products = work / self.stored
        worth = self.size * products
        return int((self.w != before).any()), int(worth) + self.size, worth / 2 + self.size / 2

    def _choose(self) -> None:
        problem = self.problem
        gain = np.empty(problem.d)
        kernels.violations(problem.penalty, problem.lam, self.bound, self.w, self.u, gain)
        support = np.flatnonzero(self.w != problem.features.origin)
        full = len(support) / max(len(self.chosen), 1)
        if full < _SPARSE and len(self.chosen) > _FIRST:
            self.chosen = support
        inside = np.zeros(problem.d, dtype=bool)
        inside[self.chosen] = True
        inside[support] = True
        gain[inside] = 0.0
        new = np.flatnonzero(gain)
        room = max(_FIRST, int((1 + _GROWTH * full) * len(support)) - len(self.chosen))
        self.complete = len(new) <= room
        if not self.complete:
            new = new[np.argpartition(gain[new], -room)[-room:]]
        old = inside.copy()
        old[self.chosen] = False
        self.chosen = np.concatenate([self.chosen, np.flatnonzero(old), new])
        self.log.append((len(support), len(self.chosen), int((gain > 0).sum()), getattr(self,'models',0),getattr(self,'grams',0)))

    def _fit_set(self) -> float:
        """Models on the set, until its violations are a part of those that it began with."""
        problem, set_ = self.problem, self.chosen
        loss, y, c = problem.loss, problem.y, problem.c
        entries = float(problem.column_counts[set_].sum())
        work, wanted = 0.0, self.least
        small = self.model.pays(set_, entries)
        value = kernels.expand(loss, y, c, self.z, self.r, self.h)
        self.models = self.grams = 0
        last = np.inf
        for turn in range(1 if self.fixed else _NEWTON):
            x = self.w[set_]
            flattest = _FLATTEST * self.bound[set_]
            if small:
                part = (0.0 if self.complete else _EARLY) if self.fixed else 1e-3
                first = self.model.minimise(set_, self.h, self.r, flattest, x, wanted, part)
                self.grams += self.model.h is self.h
                work += 4 * entries
            else:
                q = np.empty(len(set_))
                kernels.squares(self.matrix, self.h, set_, q)
                q = np.maximum(q, flattest)
                part = (0.0 if self.complete else _INEXACT) if self.fixed else _INEXACT
                w = self.w.copy()
                first, _, spent = kernels.descend(
                    self.matrix, problem.penalty, problem.lam, set_, q, self.h, self.r.copy(), w,
                    wanted, part, _SWEEPS if not self.fixed else 1000,
                )
                x = w[set_]
                work += spent + 2 * entries
            self.models += 1
            if turn == 0:
                wanted = max(wanted, _SET * first)
            move = x - self.w[set_]
            if not move.any():
                break
            if self.fixed:
                kernels.add(self.matrix, set_, move, self.z)
                self.w[set_] = x
                break
            value, moved = self._search(x, move, value)
            if first > _STALE * last and self.model.h is not self.h:
                self.model.forget()
            last = first
            if not moved or first <= wanted:
                break
        return work

    def _search(self, x: Floats, move: Floats, value: float) -> tuple[float, bool]:
        """Shorten the move to x until the objective falls by a part of what the model promises."""
        problem, set_ = self.problem, self.chosen
        loss, y, c, penalty, lam = problem.loss, problem.y, problem.c, problem.penalty, problem.lam
        along = np.zeros(problem.n)
        kernels.add(self.matrix, set_, move, along)
        old = self.w[set_]
        base = kernels.set_penalty(penalty, lam, set_, old)
        promise = float(np.sum(self.r * along)) + kernels.set_penalty(penalty, lam, set_, x) - base
        length = 1.0
        r, h = np.empty((2, problem.n))
        while length > _SHORTEST:
            z = self.z + length * along
            losses = kernels.expand(loss, y, c, z, r, h)
            change = losses - value + kernels.set_penalty(penalty, lam, set_, x) - base
            if change <= _DECREASE * length * promise:
                self.w[set_], self.z, self.r, self.h = x, z, r, h
                return losses, True
            length *= 0.5
            x = old + length * move
        return value, False
