"""What users run: an estimator with its parameters on data, in six groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.users.case import PENALISED, Case
from benchmarks.users.data import COUNTS, TALL, WIDE
from benchmarks.users.other_cases import other_cases

GROUPS = {
    "tiny": "Tiny data",
    "mid": "Mid-sized data",
    "classes": "Many classes",
    "dense": "Large dense data",
    "selection": "Model selection",
    "models": "Other models",
}
HINGE, SQUARED = {"loss": "hinge"}, {"loss": "squared_hinge"}


def all_cases() -> Iterator[Case]:
    yield from _tiny()
    yield from _mid()
    yield from _classes()
    yield from _dense()
    yield from _selection()
    yield from other_cases()


def _machines(group: str, name: str, losses: Any = (SQUARED, HINGE), **more: Any) -> Iterator[Case]:
    """With the penalised intercept of scikit-learn, and as reported with ours, which is free."""
    for loss in losses:
        yield Case(group, name, "LinearSVC", loss | PENALISED, **more)
        yield Case(group, name, "LinearSVC", loss, reported=True, **more)


def _tiny() -> Iterator[Case]:
    labelled = ("iris", "wine", "breast_cancer", "breast_cancer,scaled", "digits")
    for name in labelled:
        yield Case("tiny", name, "LogisticRegression")
        yield from _machines("tiny", name)
    yield Case("tiny", "wine,scaled", "LogisticRegression")
    for name in ("diabetes", "breast_cancer", "breast_cancer,scaled", "digits"):
        yield Case("tiny", name, "Ridge")
        yield Case("tiny", name, "Lasso", {"alpha": 0.1})
        yield Case("tiny", name, "ElasticNet")


def _mid() -> Iterator[Case]:
    for name in ("a9a", "w8a", "ijcnn1", "imdb-tfidf", "covtype.binary"):
        yield Case("mid", name, "LogisticRegression")
        yield from _machines("mid", name)
    yield Case("mid", "covtype.binary,dense", "LogisticRegression")
    for name in ("cadata", "cpusmall"):
        yield Case("mid", name, "LinearSVR", PENALISED)
        yield Case("mid", name, "LinearSVR", reported=True)
        yield Case("mid", name, "Ridge")
        yield Case("mid", name, "Lasso", {"alpha": 1.0})
        yield Case("mid", name, "ElasticNet")
        yield Case("mid", name, "QuantileRegressor")
        yield Case("mid", name, "HuberRegression")
    yield Case("mid", "abalone", "HuberRegression")
    yield Case("mid", COUNTS, "PoissonRegressor", target="counts")
    yield Case("mid", COUNTS, "HuberRegression", target="with_outliers")


def _classes() -> Iterator[Case]:
    for name in (
        "pendigits", "pendigits,/100", "letter.scale", "mnist,/255", "mnist,/255,dense", "news20",
        "covtype.multi",
    ):  # fmt: skip
        yield Case("classes", name, "LogisticRegression")
    yield from _machines("classes", "sector.scale", (SQUARED,))


def _dense() -> Iterator[Case]:
    for name in (TALL, f"{TALL},float32"):
        yield Case("dense", name, "LogisticRegression", target="labels")
        yield from _machines("dense", name, (SQUARED,), target="labels")
        yield Case("dense", name, "Lasso", {"alpha": 0.1})
    for name in (WIDE, f"{WIDE},F-order"):
        yield Case("dense", name, "Lasso", {"alpha": "0.1 λmax"})


def _selection() -> Iterator[Case]:
    for name in ("diabetes", "leukemia"):
        for kind in ("LassoCV", "ElasticNetCV", "RidgeCV"):
            yield Case("selection", name, kind)
    for name in ("leukemia", "breast_cancer,scaled", "iris", "a9a"):
        yield Case("selection", name, "LogisticRegressionCV")
    yield Case("selection", "rcv1", "LassoCV")
    for name in ("leukemia", "dorothea"):
        yield Case("selection", name, "lasso_path")
    for loss in (HINGE, SQUARED):
        for jobs in (1, 2):
            yield Case("selection", "breast_cancer,scaled", "GridSearchCV", loss | {"n_jobs": jobs})
