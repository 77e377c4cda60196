"""One sample of each group, where groups share no feature: parallel at no cost."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.linalg.validate import Floats, whole
from dualgap.problem import Problem
from dualgap.samplings.base import Sets, SetSampling
from dualgap.samplings.eso import occurrences
from dualgap.samplings.labels import as_labels, members_of, same_arrays
from dualgap.samplings.scores import Scores


@dataclass(frozen=True, eq=False)
class Product(SetSampling):
    """One sample of each of ``tau`` groups: p_i = 1/|group of i| (Qu et al. 2014, section 3.3).

    Groups are found in the data, as balanced as it allows; ``bind(problem).groups`` shows them. Or
    they are given as ``groups``: a label for each sample, or a list of index arrays that hold each
    sample once. They may share no feature, and may differ in size.
    The v of sets of one sample serves (Lemma 7): samples of different groups cannot interfere.
    """

    tau: int = 0  # as many as there are ``groups``
    groups: Any = field(default=(), repr=False, metadata={"later": True})

    def __post_init__(self) -> None:
        if isinstance(self.groups, tuple) and not self.groups:
            whole(self.tau, "tau", 1)
            return
        groups = members_of(as_labels(self.groups, "groups"))
        if self.tau not in (0, len(groups)):
            raise ValueError(f"there are {len(groups)} groups, and tau is {self.tau}: leave it out")
        object.__setattr__(self, "tau", len(groups))
        object.__setattr__(self, "groups", groups)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Product):
            return NotImplemented
        return self.tau == other.tau and same_arrays(self.groups, other.groups)

    def __hash__(self) -> int:
        return hash(self.tau)

    def refusal(self, problem: Problem, view: str) -> str | None:
        refusal = super().refusal(problem, view)
        if refusal is not None:
            return refusal
        if self.groups:
            return self._groups_refusal(problem)
        found = len(_components(problem)[0])
        if found >= self.tau:
            return None
        instead = f"Product({found}) or TauNice({self.tau})" if found > 1 else "TauNice"
        return (
            f"it splits into {found} group{'s' * (found != 1)} without common features where "
            f"Product({self.tau}) needs {self.tau}; use {instead}"
        )

    def _groups_refusal(self, problem: Problem) -> str | None:
        """Why groups that were given do not fit."""
        n = sum(map(len, self.groups))
        if n != problem.n:
            return f"it has {problem.n} samples, and groups hold {n}"
        if len(self.groups) == 1:
            return None
        if problem.has_intercept:
            return "all samples share the intercept, and groups may share no feature"
        labels = np.empty(n, np.int64)
        for k, group in enumerate(self.groups):
            labels[group] = k
        shared = np.flatnonzero(occurrences(problem, labels)[1] > 1.0)
        if len(shared) == 0:
            return None
        return (
            f"groups share {len(shared)} feature{'s' * (len(shared) > 1)}, the first of them "
            f"feature {shared[0]}, and product sampling needs groups that share none"
        )

    def bind(self, problem: Problem) -> Product:
        if self.groups:
            return self
        return replace(self, groups=_pack(*_components(problem), self.tau))

    def weights(self, scores: Scores) -> Floats:
        weights = np.empty(len(scores.residue))
        for group in self._bound():
            weights[group] = 1.0 / len(group)
        return weights

    def draw(self, weights: Floats, count: int, rng: np.random.Generator) -> Sets:
        groups = self._bound()
        tau = len(groups)
        sets = max(1, round(count / tau))
        sizes = np.array([len(group) for group in groups])
        # u < 1, but the product may round up to the size.
        places = np.minimum((rng.random((sets, tau)) * sizes).astype(np.int64), sizes - 1)
        order = np.concatenate(groups)[places + np.cumsum(sizes) - sizes]
        return Sets(order.ravel(), tau * np.arange(sets + 1))

    def _bound(self) -> tuple[Any, ...]:
        if not self.groups:
            raise ValueError("Product finds its groups in the data: call bind(problem) first")
        return tuple(self.groups)


def _components(problem: Problem) -> tuple[list[Any], Any]:
    """Samples that features connect, and the samples without any feature.

    Components of the graph of samples and features, which has nnz edges; XXᵀ is never formed.
    """
    from scipy.sparse.csgraph import connected_components  # late: it takes long to import

    if problem.has_intercept:  # a feature of all samples
        return [np.arange(problem.n)], np.arange(0)
    X = sp.csr_array(problem.X, copy=True)  # not the user's, which would lose its zeros
    X.eliminate_zeros()
    n, d = X.shape
    indptr = np.concatenate([X.indptr, np.full(d, X.indptr[-1])])
    edges = np.ones(len(X.indices), np.int8)
    graph = sp.csr_array((edges, X.indices + n, indptr), shape=(n + d, n + d))
    labels = connected_components(graph, directed=False)[1][:n]
    used = np.diff(X.indptr) > 0
    members = np.flatnonzero(used)
    members = members[np.argsort(labels[members], kind="stable")]
    starts = np.flatnonzero(np.diff(labels[members])) + 1
    parts = np.split(members, starts) if len(members) else []
    return parts, np.flatnonzero(~used)


def _pack(parts: list[Any], rest: Any, tau: int) -> tuple[Any, ...]:
    """Each part, the largest first, goes to the smallest group; then what belongs anywhere."""
    groups: list[list[Any]] = [[] for _ in range(tau)]
    heap = [(0, group) for group in range(tau)]
    for part in [*sorted(parts, key=len, reverse=True), *rest.reshape(-1, 1)]:
        size, group = heapq.heappop(heap)
        groups[group].append(part)
        heapq.heappush(heap, (size + len(part), group))
    return tuple(np.sort(np.concatenate(group)) for group in groups)
