"""Generated data, and targets that follow a law: functions of y, which are decision values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

LEVELS = {"VehBrand": 11, "VehGas": 2, "Area": 6, "Region": 22}


def _normal(shape: str) -> tuple[Any, Any]:
    n, d = map(int, shape.split("x"))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d) * (rng.random(d) < min(1.0, 50.0 / d))
    return X, X @ w + rng.standard_normal(n)


def _groups(shape: str) -> tuple[Any, Any]:
    """``NxD/SIZE``: about ten groups of correlated features matter, as many for y as noise."""
    sizes, _, size = shape.partition("/")
    n, d = map(int, sizes.split("x"))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) + np.repeat(rng.standard_normal((n, d // int(size))), size, 1)
    used = rng.random(d // int(size)) < min(0.5, 10.0 * int(size) / d)
    z = X @ (rng.standard_normal(d) * np.repeat(used, int(size)))
    return X, z + z.std() * rng.standard_normal(n)


def _targets(shape: str) -> tuple[Any, Any]:
    """``NxD/K``: K targets, for which the same features matter."""
    sizes, _, count = shape.partition("/")
    n, d = map(int, sizes.split("x"))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1))
    W = rng.standard_normal((d, int(count))) * (rng.random((d, 1)) < min(0.5, 20.0 / d))
    Z = X @ W
    return X, Z + Z.std() * rng.standard_normal(Z.shape)


def _motor(shape: str) -> tuple[Any, Any]:
    """Policies as in French motor insurance: five numbers, four categories; y has for each policy
    the number of claims, the size of one, and the exposure in years."""
    import pandas as pd

    n, rng = int(shape), np.random.default_rng(0)
    columns: dict[str, Any] = {
        "VehPower": rng.integers(4, 16, n).astype(float),
        "VehAge": np.minimum(rng.exponential(7.0, n).round(), 30.0),
        "DrivAge": np.clip(rng.normal(45.0, 14.0, n).round(), 18.0, 90.0),
        "BonusMalus": 50.0 + np.minimum(rng.exponential(10.0, n).round(), 150.0),
        "LogDensity": rng.normal(6.0, 1.9, n),
    }
    z = 0.02 * (columns["BonusMalus"] - 60.0) - 0.02 * columns["VehAge"]
    for name, count in LEVELS.items():
        shares = rng.dirichlet(np.full(count, 2.0))
        codes = rng.choice(count, n, p=shares)
        columns[name] = pd.Categorical.from_codes(codes, [f"{name[0]}{k:02}" for k in range(count)])
        z = z + 0.3 * rng.standard_normal(count)[codes]
    exposure = np.clip(rng.beta(0.8, 0.7, n), 0.003, 1.0)
    count = rng.poisson(0.1 * exposure * np.exp(z) * rng.gamma(2.0, 0.5, n))
    size = 1000.0 * np.exp(0.3 * z) * rng.gamma(0.7, 1.0 / 0.7, n) + 1.0
    return pd.DataFrame(columns), np.column_stack([count, size, exposure]).astype(float)


FAMILIES: dict[str, Callable[[str], tuple[Any, Any]]] = {
    "normal": _normal, "groups": _groups, "targets": _targets, "motor": _motor,
}  # fmt: skip


def expanded(frame: Any) -> Any:
    """The numbers of a frame, then a column for each level of its categories."""
    names = [name for name in frame.columns if hasattr(frame[name], "cat")]
    parts = [sp.csr_matrix(frame.drop(columns=names).to_numpy(float))]
    for name in names:
        codes = frame[name].cat.codes.to_numpy()
        ones, rows = np.ones(len(codes)), np.arange(len(codes))
        wide = len(frame[name].cat.categories)
        parts.append(sp.csr_matrix((ones, (rows, codes)), shape=(len(codes), wide)))
    return sp.hstack(parts).tocsr()


# --- targets --------------------------------------------------------------------------------------


def labels(y: Any) -> Any:
    """Two classes from numbers."""
    return np.where(y > 0.0, 1.0, -1.0)


def _mean(y: Any) -> Any:
    return np.exp(np.clip(0.3 * (y - y.mean()) / y.std(), -5.0, 5.0))


def counts(y: Any) -> Any:
    """Poisson counts with a mean that depends on y."""
    return np.random.default_rng(1).poisson(_mean(y)).astype(float)


def varied_counts(y: Any) -> Any:
    """Counts with a variance of μ + μ²."""
    rng = np.random.default_rng(1)
    return rng.poisson(_mean(y) * rng.exponential(1.0, len(y))).astype(float)


def sizes(y: Any) -> Any:
    """Positive numbers, gamma distributed."""
    return _mean(y) * np.random.default_rng(1).gamma(2.0, 0.5, len(y))


def sums(y: Any) -> Any:
    """Sums of a Poisson number of sizes, which are often 0."""
    rng = np.random.default_rng(1)
    return rng.gamma(np.maximum(1e-300, rng.poisson(_mean(y))), 1.0)


def with_outliers(y: Any) -> Any:
    """A twentieth of the targets is far off."""
    rng = np.random.default_rng(2)
    return y + 50.0 * y.std() * (rng.random(len(y)) < 0.05) * rng.standard_normal(len(y))


def claims(y: Any) -> Any:
    """Of policies, the number of claims."""
    return y[:, 0]


def severities(y: Any) -> Any:
    """... the size of a claim."""
    return y[:, 1]


def amounts(y: Any) -> Any:
    """... the size of all claims, in thousands."""
    return 1e-3 * y[:, 0] * y[:, 1]


def exposures(y: Any) -> Any:
    return y[:, 2]
