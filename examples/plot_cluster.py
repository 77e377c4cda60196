"""
A Dask cluster
==============

Two worker processes on this machine stand for a cluster. The data are a Dask array; no process has
all of it, and the driver has none. One of the workers is killed on the way, and the run goes on.
"""

import os
import signal

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster

import dualgap as dg


def main():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 100)) / 10
    y = np.sign(X @ rng.standard_normal(100) + 0.2 * rng.standard_normal(8000))
    model = dg.LinearSVC(C=0.01, intercept_penalty="l2", tol=1e-6)
    gaps, killed = [], []

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        workers = list(client.run(os.getpid).values())

        def watch(snapshot):
            gaps.append(snapshot.gap)
            if len(gaps) == 4:
                os.kill(workers[0], signal.SIGKILL)
                killed.append(len(gaps) - 1)

        parts = da.from_array(X, chunks=(2000, 100)), da.from_array(y, chunks=2000)
        model.set_params(callback=watch)
        dg.distributed.fit(model, *parts, client=client, work=2)

    print(model.certificate_)
    here = dg.LinearSVC(C=0.01, intercept_penalty="l2", tol=1e-6).fit(X, y)
    print(f"on one machine: {here.certificate_}")

    _, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    axes.semilogy(gaps, "o-", color="#0072B2", label="4 partitions, 2 workers")
    axes.axvline(killed[0], color="#D55E00", linestyle="--", label="a worker is killed")
    axes.axhline(model.solution_.target, color="#999999", linestyle=":", label="target")
    axes.set(xlabel="rounds", ylabel="certified gap")
    axes.legend(frameon=False)
    plt.show()


if __name__ == "__main__":
    main()
