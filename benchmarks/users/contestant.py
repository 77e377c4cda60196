"""Who takes part: a model made from the parameters of a case and a setting.

The first setting are the constructor's defaults, the next ones are tighter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from benchmarks.users.case import Instance

Setting = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Contestant:
    """``prepare`` brings what is compiled into a process from which others are forked."""

    name: str
    package: str
    make: Callable[[Instance, Setting], Any]
    ladder: Sequence[Setting] = ({},)
    accepts: Callable[[Instance], bool] = lambda _: True
    prepare: Callable[[], None] | None = None


def ladder(*tols: float, name: str = "tol", **more: Any) -> list[Setting]:
    """The defaults, then these tolerances."""
    return [{}, *({name: tol, **more} for tol in tols)]


def class_at(path: str) -> Any:
    module, name = path.rsplit(".", 1)
    return getattr(import_module(module), name)


def plain(path: str, **fixed: Any) -> Callable[[Instance, Setting], Any]:
    """The class with the parameters of the case, under their own names."""

    def make(instance: Instance, setting: Setting) -> Any:
        params = {k: v for k, v in instance.params.items() if k != "intercept_penalty"}
        return class_at(path)(**params | fixed | setting)

    return make
