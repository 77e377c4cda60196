"""Modules that users of 0.1 import by a path that has changed: it works until 0.3, with a warning.

``sys.meta_path`` asks the finder only for names that no file answers to.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# What the pages of 0.1 showed, and what pickled estimators of 0.1 refer to.
MOVED = {
    "dualgap._compile": "dualgap.compile.kernels",
    "dualgap._rules": "dualgap.compile.rules",
    "dualgap._scalar": "dualgap.compile.scalar",
    "dualgap.auto": "dualgap.methods.auto",
    "dualgap.certificate": "dualgap.proof.certificate",
    "dualgap.estimators.cv": "dualgap.estimators.selection.lasso_cv",
    "dualgap.estimators.logistic_cv": "dualgap.estimators.selection.logistic_cv",
    "dualgap.estimators.ridge_cv": "dualgap.estimators.selection.ridge_cv",
    "dualgap.loop": "dualgap.run.loop",
    "dualgap.model_file": "dualgap.files.model_file",
    "dualgap.path": "dualgap.run.path",
    "dualgap.radius": "dualgap.proof.radius",
    "dualgap.recording": "dualgap.run.recording",
    "dualgap.screening": "dualgap.proof.screening",
    "dualgap.solution": "dualgap.run.solution",
    "dualgap.steps.full_pass": "dualgap.steps.base",
    "dualgap.steps.start": "dualgap.steps.base",
    "dualgap.terms": "dualgap.proof.terms",
    "dualgap.theory": "dualgap.samplings.theory",
}


# Public under this path for good, as an attribute of dualgap: it does not warn.
KEPT = {"dualgap.theory"}

# Names that have left such a module for another one.
MOVED_NAMES = {
    "dualgap.certificate": {"certify": "dualgap.proof.certify", "prove": "dualgap.proof.prove"},
    "dualgap.terms": {"feature_terms": "dualgap.proof.feature_terms"},
}


class _Redirect(Loader):
    def __init__(self, new: str) -> None:
        self.new = new

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name not in KEPT:
            warnings.warn(
                f"{spec.name} has moved: import {self.new} instead (for a pickle: save it again); "
                "the old name goes in 0.3",
                DeprecationWarning,
                stacklevel=2,
            )
        module = importlib.import_module(self.new)
        for name, home in MOVED_NAMES.get(spec.name, {}).items():
            setattr(module, name, getattr(importlib.import_module(home), name))
        self.spec = module.__spec__  # the import system is about to replace it
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It has been executed under its own name, and keeps that."""
        module.__spec__ = self.spec


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        new = MOVED.get(name)
        return None if new is None else ModuleSpec(name, _Redirect(new))


def keep_old_names() -> None:
    """Let ``import`` find them."""
    sys.meta_path.append(_Finder())
