"""Sharper bounds for one left-out sample of a smooth loss, with the Hessian of the whole objective.

The condition of ``left_out.py`` holds for every direction h of dual variables and for every upper
bound on the best objective without sample j. Here h_i = φ''_i x_i·v, (λ∇²g + Σ c φ'' x xᵀ)v = x_j:
how dual variables follow when the coefficients move along v; and the upper bound is the objective
after a Newton step. For the squared loss both are exact, so that only the gap of the fit remains;
for other losses the interval is of third order in the change. A sample costs a few passes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dualgap.compile.scalar import EPS
from dualgap.linalg import products, storage
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.problem.intercept import joined
from dualgap.proof import terms
from dualgap.proof.feature_terms import feature_terms
from dualgap.proof.rounding import error_of_u, error_of_z

_SHARES = np.array(
    [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0]
)  # how far k is from its best value


class NewtonLeftOut:
    """A fitted model of few features, asked about single samples."""

    def __init__(self, problem: Problem, solution: Any, *, keep_lam: bool) -> None:
        self.problem, self.keep_lam = problem, keep_lam
        # Covers the rounding errors of norms. A looser factor would show: intervals are as wide as
        # the root of what it adds.
        self.slack = 1.0 + (32.0 + problem.d) * EPS
        self.w = joined(problem, solution.coef, solution.intercept)
        self.a = problem.flat(solution.dual, "dual", problem.n)
        certificate = solution.certificate
        self.gap = certificate.gap + EPS * abs(certificate.primal)
        self.z, u = problem.decision(self.w), problem.average(self.a)
        self.z_error = error_of_z(problem, self.w, sharp=False)(slice(0, problem.n))
        self.z_error = self.z_error + EPS * np.abs(self.z)
        free = self.free = problem.features.free
        errors = error_of_u(problem, self.a)
        self.loose = problem.lam * float(np.sum(np.abs(u[free]) + errors[free]))
        u[free] = errors[free] = 0.0
        self.u, self.u_error = u, products.norm(errors) * self.slack
        found = feature_terms(problem.penalty, problem.lam, self.w, u, errors, np.empty(len(u)))
        self.of_penalty = found.gap + found.gap_error
        r = np.empty(len(u))
        terms.conj_slopes(problem.penalty, u, r)
        self.r = np.where(free, 0.0, r - self.w)
        self.mu = float(np.min(problem.features.strength[~free], initial=np.inf))
        self.curvatures = np.empty(problem.n)
        terms.curvatures(problem.loss, problem.y, self.z, self.curvatures)
        X = problem.X.toarray() if storage.is_sparse(problem.X) else np.asarray(problem.X)
        X = X.astype(np.float64, copy=False)
        self.X = (
            np.column_stack([X, np.full(problem.n, problem.constant)])
            if problem.has_intercept
            else X
        )
        weighted = self.X * (problem.c * self.curvatures)[:, None]
        hessian = self.X.T @ weighted + np.diag(problem.lam * np.where(free, 0.0, self.mu))
        self.factor = cho_factor(hessian + np.diag(1e-14 * np.diag(hessian)))
        # A weaker penalty moves coefficients along ``of_w`` and dual variables along ``g``.
        self.of_w = cho_solve(self.factor, np.where(free, 0.0, self.mu * self.w))
        self.g = -self.curvatures * (self.X @ self.of_w)
        self.G = problem.lam * problem.average(self.g)
        self.G_error = problem.lam * products.norm(error_of_u(problem, self.g)) * self.slack
        self.G_0 = float(np.sum(problem.c * self.g)) if free.any() else 0.0

    def interval(self, j: int) -> tuple[float, float]:
        """Bounds on the decision value of sample j at the optimum without it."""
        problem, x = self.problem, self.X[j]
        own = float(problem.c[j])
        lam = problem.lam * (1.0 - own if self.keep_lam else 1.0)
        c = np.array(problem.c)
        c[j] = 0.0
        v = cho_solve(self.factor, x)
        h = self.curvatures * (self.X @ v)
        h[j] = 0.0
        weaker = problem.lam - lam
        start = self.a + weaker * self.g
        start[j] = self.a[j]
        H = (
            float(np.sum(c * h))
            if self.free.any()
            else 1.0 - own * self.curvatures[j] * float(x @ v)
        )
        m, m_error = problem.lam * problem.average(h), problem.lam * error_of_u(problem, h)
        xt = np.where(self.free, 0.0, H * x - m)
        size = products.norm(x)
        xt_error = products.norm(np.where(self.free, 0.0, m_error)) + 4.0 * EPS * abs(H) * size
        gain = self._gain(j, c, v, lam)
        pull = own * float(self.a[j]) - weaker * (self.G_0 - own * float(self.g[j]))
        shift = weaker * (self.u + np.where(self.free, 0.0, self.G - self.G_0 * x))
        shift_error = weaker * (self.G_error + 8.0 * EPS * (products.norm(self.G) + size))
        best = pull / H if H > 0.0 else 0.0
        # Also for samples that hardly matter: what the gap of the fit leaves open.
        unit = abs(best) + np.sqrt(2.0 * self.gap / max(float(x @ v), 1e-300))
        low, high = -np.inf, np.inf
        for k in (best + share * unit for share in (*_SHARES, *-_SHARES)):
            moved = shift - k * xt
            off = shift_error + abs(k) * xt_error + self.loose * size
            off += 8.0 * EPS * (abs(k) * products.norm(xt) + products.norm(shift))
            room = self._gap(c, start + k * h, lam, moved, off) + gain
            slope = pull - k * H
            off = self.loose + (8.0 + problem.n) * EPS * (
                abs(pull) + abs(k) * (1.0 + abs(H)) + weaker * abs(self.G_0)
            )
            if not (np.isfinite(room) and abs(slope) > off):
                continue
            ends = [room / (slope + error) for error in (-off, off)]
            if slope < 0.0:
                low = max(low, min(ends))
            else:
                high = min(high, max(ends))
        error = float(self.z_error[j]) + 8.0 * EPS * abs(float(self.z[j]))
        low -= 8.0 * EPS * abs(low) + error
        high += 8.0 * EPS * abs(high) + error
        return float(self.z[j]) + low, float(self.z[j]) + high

    def _gap(self, c: Floats, a: Floats, lam: float, p: Floats, off: float) -> float:
        """An upper bound on E + Λ B at these dual variables, where u moves by p/Λ, up to off/Λ."""
        samples = self._sums(c, self.z, a)
        off += lam * self.u_error
        length = products.norm(p) * self.slack + off
        tilt = float(self.r @ p) + products.norm(self.r) * (off + (4.0 + len(p)) * EPS * length)
        tilt += self.u_error / self.mu * length
        whole = lam / self.problem.lam * self.of_penalty + tilt
        whole += length**2 / (2.0 * self.mu * lam)
        return float((samples.gap + samples.gap_error + max(whole, 0.0)) * self.slack)

    def _gain(self, j: int, c: Floats, v: Floats, lam: float) -> float:
        """An upper bound on what the objective without j loses by a Newton step: at most 0."""
        problem, x, own = self.problem, self.X[j], float(self.problem.c[j])
        bent = own * self.curvatures[j]
        left = 1.0 - bent * float(x @ v)
        if left <= 0.0:
            return 0.0
        step = (problem.lam - lam) * self.of_w - own * self.a[j] * v
        step = step + v * (bent * float(x @ step)) / left
        new = self.w + step
        z = problem.decision(new)
        before = self._sums(c, self.z, np.zeros(problem.n))
        error = error_of_z(problem, new, sharp=False)(slice(0, problem.n)) + EPS * np.abs(z)
        after = self._sums(c, z, np.zeros(problem.n), error)
        none, parts = np.zeros(len(new)), np.empty(len(new))
        old_size = feature_terms(problem.penalty, lam, self.w, none, none, parts)
        new_size = feature_terms(problem.penalty, lam, new, none, none, parts)
        change = after.values - before.values + new_size.values - old_size.values
        errors = (one.primal_error for one in (after, before, new_size, old_size))
        change += sum(errors) + 4.0 * EPS * (abs(after.values) + new_size.values)
        return min(float(change), 0.0)

    def _sums(self, c: Floats, z: Floats, a: Floats, error: Any = None) -> terms.Sums:
        problem, bound = self.problem, self.z_error if error is None else error
        return terms.sample_terms(
            problem.loss, problem.y, c, z, a, lambda samples: bound[samples], np.empty(0), 1,
            problem.weight_error + 4.0,
        )  # fmt: skip
