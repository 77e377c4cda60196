"""Cases of other models: penalties on groups, several targets, log links, categories, and machines
that have all classes in one problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.users.case import PENALISED, Case
from benchmarks.users.data import CLAIMS, MOTOR

# Of the laws of y: what makes it from decision values, and the estimator.
GAMMA = ("GammaRegressor", "sizes", {})
TWEEDIE = tuple(("TweedieRegressor", "sums", {"power": p}) for p in (1.2, 1.5, 1.9))
BINOMIAL = ("NegativeBinomialRegressor", "varied_counts", {})


def other_cases() -> Iterator[Case]:
    yield from _groups()
    yield from _targets()
    yield from _log_links()
    yield from _categories()
    yield from _machines()


def _groups() -> Iterator[Case]:
    shapes: dict[str, tuple[float, ...]] = {
        "groups-300x60/3": (0.1, 0.01),
        "groups-20000x200/10": (0.1, 0.01, 0.001),
        "groups-500x2000/1": (0.1, 0.01),
        "groups-1000x5000/5": (0.5, 0.1, 0.02),
        "groups-200x5000/10": (0.5, 0.1, 0.01, 0.001),
        "groups-100x2000/50": (0.1, 0.01, 0.001),
    }
    for name, shares in shapes.items():
        for share in shares:
            size = int(name.partition("/")[2])
            yield _case(name, "GroupLasso", {"groups": size, "alpha": f"{share:g} λmax"})


def _targets() -> Iterator[Case]:
    shapes: dict[str, tuple[float, ...]] = {
        "targets-200x30/3": (0.1, 0.01),
        "targets-5000x200/5": (0.1, 0.01),
        "targets-100x2000/20": (0.5, 0.1, 0.01),
        "targets-300x1000/50": (0.1, 0.01),
    }
    for name, shares in shapes.items():
        for share in shares:
            yield _case(name, "MultiTaskLasso", {"alpha": f"{share:g} λmax"})


def _log_links() -> Iterator[Case]:
    shapes = {
        "normal-500x10": 0.001,
        "normal-20000x100": 1.0,
        "normal-100000x20": 0.001,
        "normal-500x2000": 0.01,
    }
    for name, alpha in shapes.items():
        for kind, target, params in (GAMMA, *TWEEDIE, BINOMIAL):
            yield _case(name, kind, params | {"alpha": alpha}, target=target)
    for name in ("abalone", "cadata,scaled"):
        yield _case(name, "GammaRegressor")


def _categories() -> Iterator[Case]:
    rate = {"target": "claims", "offset": "exposures"}
    yield _case(MOTOR, "PoissonRegressor", {"alpha": 1e-4}, **rate)
    yield _case(MOTOR, "NegativeBinomialRegressor", {"alpha": 1e-4}, **rate)
    yield _case(MOTOR, "TweedieRegressor", {"power": 1.5, "alpha": 1e-4}, target="amounts")
    yield _case(CLAIMS, "GammaRegressor", {"alpha": 1e-3}, target="severities")
    yield _case(CLAIMS, "Ridge", {"alpha": 1.0}, target="severities")


def _machines() -> Iterator[Case]:
    joint = {"multi_class": "crammer_singer"}
    for name in ("digits", "pendigits", "letter.scale"):
        yield _case(name, "LinearSVC", joint | PENALISED)
        yield _case(name, "LinearSVC", joint, reported=True)


def _case(name: str, kind: str, params: dict[str, Any] | None = None, **more: Any) -> Case:
    return Case("models", name, kind, params or {}, **more)
