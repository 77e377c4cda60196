"""All solvers of the race; packages are imported when a solver starts."""

from benchmarks.peers.solvers import (
    adelie,
    celer,
    cyanure,
    dualgap,
    liblinear,
    scikit_learn,
    skglm,
    snapml,
)
from benchmarks.peers.solvers.base import Fit, Solver

OURS = dualgap.SOLVERS[0]
# Those that are often fast come first: the others need not go on for long after them.
PEERS: list[Solver] = [
    *liblinear.SOLVERS, *celer.SOLVERS, *skglm.SOLVERS, *scikit_learn.SOLVERS,
    *snapml.SOLVERS, *cyanure.SOLVERS, *adelie.SOLVERS,
]  # fmt: skip

__all__ = ["OURS", "PEERS", "Fit", "Solver"]
