"""Data whose samples share few features, and the sets that a sampling can draw."""

from itertools import chain, combinations, product

import numpy as np
import scipy.sparse as sp

from dualgap.samplings import Distributed, Full, Product, TauNice


def blocks(sizes, zeros=0, seed=0):
    """Block-diagonal data in random order, and the block of each sample (−1: no features)."""
    rng = np.random.default_rng(seed)
    X = sp.block_diag([rng.uniform(0.5, 2.0, (size, 2)) for size in sizes]).toarray()
    X = np.vstack([X, np.zeros((zeros, X.shape[1]))])
    block = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.full(zeros, -1)])
    order = rng.permutation(len(X))
    return X[order][:, rng.permutation(X.shape[1])], block[order]


def equally_likely(sampling, n):
    """All sets that a bound sampling can draw."""
    match sampling:
        case TauNice(tau=tau):
            return list(combinations(range(n), tau))
        case Full():
            return [tuple(range(n))]
        case Product(groups=groups):
            return list(product(*groups))
        case Distributed(tau=tau):
            labels = sampling.labels(n)
            parts = [list(np.flatnonzero(labels == k)) for k in range(sampling.c)]
            size = max(map(len, parts))
            parts = [part + [n] * (size - len(part)) for part in parts]  # n: a sample of zeros
            drawn = product(*(combinations(part, tau) for part in parts))
            return [tuple(i for i in chain(*sets) if i < n) for sets in drawn]
