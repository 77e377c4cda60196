"""Fits by dask-ml and Spark MLlib, for ``race.py``: a script for an environment that has them.

``python peers.py NAME DATA OUT``: reads X, y, lam and the kind of problem from DATA, an archive of
arrays, and writes seconds and coefficients of each try to OUT. Data is spread and kept by two
workers before the clock starts. It does not import dualgap.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np


def read(path: str) -> Any:
    data = np.load(path, allow_pickle=False)
    return data["X"], data["y"], float(data["lam"]), str(data["kind"])


def of_dask_ml(path: str) -> list[dict[str, Any]]:
    """ADMM, L-BFGS and proximal gradient, each with several limits on its iterations."""
    import dask.array as da
    from dask_ml.linear_model import LinearRegression, LogisticRegression
    from distributed import Client, LocalCluster, wait

    X, y, lam, kind = read(path)
    kinds = {"logistic": (LogisticRegression, "l2"), "lasso": (LinearRegression, "l1")}
    if kind not in kinds:
        return []
    make, penalty = kinds[kind]
    found = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        rows = -(-len(y) // 8)
        labels = (y > 0.0).astype(float) if kind == "logistic" else y
        lazy = da.from_array(X, chunks=(rows, X.shape[1])).persist()
        targets = da.from_array(labels, chunks=rows).persist()
        wait([lazy, targets])
        for solver in ("lbfgs", "admm", "proximal_grad"):
            if solver == "lbfgs" and penalty == "l1":
                continue
            for limit in (10, 30, 100):
                began = time.perf_counter()
                try:
                    # Its C multiplies the penalty, and losses are summed.
                    model = make(
                        penalty=penalty, C=1.0 / (lam * len(y)), solver=solver, max_iter=limit
                    )
                    model.fit(lazy, targets)
                except Exception as error:  # a peer may fail; the race goes on
                    print(f"dask-ml {solver}: {error!r}", file=sys.stderr)
                    break
                seconds = time.perf_counter() - began
                own = np.ravel(model.coef_).tolist(), float(np.ravel(model.intercept_)[0])
                found.append(_try(f"dask-ml {solver}", limit, seconds, *own))
                if seconds > 120.0:
                    break
    return found


def of_spark(path: str) -> list[dict[str, Any]]:
    """What MLlib has for the problem, with several limits on its iterations."""
    from pyspark.ml import classification, regression
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import array, col

    X, y, lam, kind = read(path)
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "5g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    import pandas as pd

    names = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    frame["label"] = (y > 0.0).astype(float) if kind != "lasso" else y
    table = session.createDataFrame(frame).repartition(2)
    table = table.select(array_to_vector(array(*map(col, names))).alias("features"), "label")
    table = table.cache()
    table.count()
    fixed = {"regParam": lam, "standardization": False, "fitIntercept": True, "tol": 1e-9}
    makes = {
        "logistic": lambda limit: classification.LogisticRegression(maxIter=limit, **fixed),
        "hinge": lambda limit: classification.LinearSVC(maxIter=limit, **fixed),
        "lasso": lambda limit: regression.LinearRegression(
            maxIter=limit, elasticNetParam=1.0, solver="auto", **fixed
        ),
    }
    found = []
    makes[kind](2).fit(table)  # the JVM compiles
    for limit in (10, 20, 40, 80, 160):
        began = time.perf_counter()
        model = makes[kind](limit).fit(table)
        seconds = time.perf_counter() - began
        own = model.coefficients.toArray().tolist(), float(model.intercept)
        found.append(_try("spark", limit, seconds, *own))
        if seconds > 120.0:
            break
    session.stop()
    return found


def _try(name: str, limit: int, seconds: float, coef: Any, intercept: float) -> dict[str, Any]:
    return {
        "name": name, "limit": limit, "seconds": seconds, "coef": coef, "intercept": intercept
    }  # fmt: skip


if __name__ == "__main__":
    which, data, out = sys.argv[1:]
    tries = of_spark(data) if which == "spark" else of_dask_ml(data)
    with open(out, "w") as file:
        json.dump(tries, file)
