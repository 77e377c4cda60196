"""
A Dask cluster
==============

Two worker processes on this machine stand for a cluster. They make the data themselves, part by
part, so that no process has all of it. One worker is killed on the way. Its dual variables come
back from the last copy, up to ten rounds old. The bound that was proven stays proven, and the run
catches up with it.
"""

import logging
import os
import signal

import dask
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from dask.distributed import Client, LocalCluster

import dualgap as dg

ROWS, FEATURES, PARTITIONS, LAST_LOOK = 2000, 4000, 4, 6


def partition(seed):
    rng = np.random.default_rng(seed)
    X = sp.random_array((ROWS, FEATURES), density=0.005, format="csr", rng=rng) / 3
    return X, np.sign(X @ np.sin(np.arange(FEATURES)) + 0.1 * rng.standard_normal(ROWS))


def main():
    parts = [dask.delayed(partition)(seed) for seed in range(PARTITIONS)]
    problem = dg.distributed.Partitioned(parts, "smoothed-hinge", "l2", lam=1e-3)
    looks = []
    with LocalCluster(2, dashboard_address=None, silence_logs=logging.CRITICAL) as cluster:
        client = Client(cluster)
        victim = min(client.run(os.getpid).values())

        def watch(snapshot):
            looks.append(snapshot.gap)
            if len(looks) == LAST_LOOK:
                os.kill(victim, signal.SIGKILL)

        solution = dg.distributed.solve(problem, client, work=1, tol=1e-8, callback=watch)
        client.close()
    print(solution)

    _, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    label = f"{PARTITIONS} partitions, 2 workers"
    axes.semilogy(solution.history.gap, "o-", color="#0072B2", label=label)
    axes.axvline(LAST_LOOK, color="#D55E00", linestyle="--", label="a worker is killed")
    axes.axhline(solution.target, color="black", linestyle=":", label="target")
    axes.set(xlabel="rounds", ylabel="certified gap", xticks=range(0, 24, 4))
    axes.legend(frameon=False)
    plt.show()


if __name__ == "__main__":
    main()
