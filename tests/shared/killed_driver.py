"""A distributed fit with checkpoints, in a process of its own, which tests kill.

    killed_driver.py FOLDER [ADDRESS]

uses threads, or the workers of the Dask scheduler at ADDRESS. At each gap check it prints how many
rounds it has made.
"""

import sys

from cluster_data import problem

from dualgap.distributed import solve

HOW = {"partitions": 4, "work": 1, "tol": 1e-5}
EVERY = 3  # rounds


def main(folder, address=None):
    client = None
    if address is not None:
        from distributed import Client

        client = Client(address)
    solve(
        problem(),
        client,
        callback=lambda snapshot: print(round(snapshot.epoch), flush=True),
        checkpoint=folder,
        checkpoint_every=EVERY,
        **HOW,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
