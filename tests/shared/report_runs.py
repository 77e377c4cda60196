"""Runs that tests of pictures and of the report page share: one converges, one does not."""

import functools

import numpy as np

import dualgap as dg


@functools.cache
def made():
    """A problem, runs by name and their recordings."""
    X = np.random.default_rng(0).standard_normal((60, 5))
    problem = dg.Problem(X, X[:, 0] + np.sin(9 * X[:, 1]), "squared", lam=0.01)
    recordings = {name: dg.Recording() for name in ("adasdca+", "sdca")}
    runs = {
        name: dg.solve(problem, name, tol=1e-9, max_epochs=most, callback=recordings[name])
        for name, most in (("adasdca+", 500), ("sdca", 12))
    }
    return problem, runs, recordings
