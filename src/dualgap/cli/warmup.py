"""``dualgap warmup``: compile ahead of the first fit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import typer

from dualgap import estimators
from dualgap.cli import show
from dualgap.linalg.validate import unknown

# Estimators with the targets that they are fitted to; those with a CV use the same kernels.
KINDS = {
    "Ridge": "numbers",
    "Lasso": "numbers",
    "ElasticNet": "numbers",
    "LinearSVR": "numbers",
    "LogisticRegression": "labels",
    "LinearSVC": "labels",
    "HuberRegression": "numbers",
    "QuantileRegressor": "numbers",
    "PoissonRegressor": "counts",
}
_SMALL, _LARGE = 60, 100_000  # samples with 3 features; large data take other kernels


def warmup(
    kinds: Annotated[
        list[str] | None,
        typer.Argument(help="Estimators, such as Ridge; all by default.", show_default=False),
    ] = None,
) -> None:
    """Compile what fits need, so that the first one is as fast as all others.

    Compiled kernels are kept in a folder of the user, and compiled again when
    dualgap is upgraded. In an image for containers, run this while building it.

    Without this, small fits run as plain Python until a process in the background
    has compiled what they need, and larger fits compile it themselves. With the
    environment variable DUALGAP_COMPILE=foreground no process is started, and with
    DUALGAP_COMPILE=always nothing runs as plain Python.

    [bold]Examples[/]

      dualgap warmup

      dualgap warmup LogisticRegression Ridge
    """
    for name in kinds or ():
        if name not in KINDS:
            raise ValueError(unknown("estimator", name, KINDS))
    for name in kinds or KINDS:
        began = time.perf_counter()
        for X, y in _data(KINDS[name]):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the models do not matter
                # With a seed nothing is interpreted.
                getattr(estimators, name)(random_state=0).fit(X, y)
        show.words(f"{name}: {time.perf_counter() - began:.1f} s")


def _data(targets: str) -> Iterator[tuple[Any, Any]]:
    """Small and large arrays, and a sparse matrix; for labels also with three classes."""
    rng = np.random.default_rng(0)
    for n, form in ((_SMALL, np.asarray), (_LARGE, np.asarray), (_SMALL, sp.csr_array)):
        X = rng.standard_normal((n, 3))
        z = X[:, 0] + rng.standard_normal(n)
        if targets == "numbers":
            yield form(X), z
        elif targets == "counts":
            yield form(X), rng.poisson(np.exp(0.3 * z))
        else:
            yield form(X), np.where(z > 0.0, 1, 0)
            yield form(X), np.digitize(z, [-0.5, 0.5])
