"""A run with checkpoints in a process of its own, which tests kill at any moment.

    python tests/shared/killed.py PATH ROUNDS PAUSE

writes a checkpoint to PATH every ROUNDS rounds. After each round it prints the number of rounds so
far and waits PAUSE seconds.
"""

import sys
import time
from types import SimpleNamespace

import numpy as np
from sparse_data import random_csr

import dualgap as dg
from dualgap.run import checkpoint

METHOD, TOL = "sdca", 1e-9


def problem():
    rng = np.random.default_rng(5)
    X = random_csr((80, 12), 0.5, rng)
    y = np.where(X @ rng.standard_normal(12) + 0.3 * rng.standard_normal(80) > 0.0, 1.0, -1.0)
    return dg.Problem(X, y, "logistic", "l2", lam=2e-4)


def main(path, every, pause):
    made = [0]
    checkpoint.time = SimpleNamespace(monotonic=lambda: float(made[0]))  # rounds as seconds

    def tell(snapshot):
        made[0] = round(snapshot.epoch)
        print(made[0], flush=True)
        time.sleep(pause)

    solution = dg.solve(
        problem(), METHOD, tol=TOL, callback=tell, checkpoint=path, checkpoint_every=every
    )
    print(solution.status.name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
