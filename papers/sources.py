"""The sources that a run depends on, as a hash: a result is that of today's code, or it is none.

A module depends on those that it imports. ``from package import name`` counts as an import of the
module that ``package/__init__.py`` has the name from, so that a run with one sampling does not
depend on the others. Comments, docstrings and layout do not count.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import dualgap
from dualgap.losses import REGISTRY as LOSSES
from dualgap.penalties import REGISTRY as PENALTIES

_ROOT = Path(dualgap.__file__).parents[1]
_PAPERS = Path(__file__).parents[1]
# What these import does not take part in a run: they hand names on, or are for other uses of its
# results. The loss, the penalty, the step and the sampling of a run are counted one by one.
_NOT_FOLLOWED = tuple(
    f"dualgap.{room}".rstrip(".")
    for room in ("", "methods", "losses", "penalties", "samplings", "steps", "files", "report",
                 "estimators", "proof.certify", "run.checkpoint", "run.loop_state", "plots")
)  # fmt: skip
_OTHER_ROOMS = ("dualgap.methods.", "dualgap.files.", "dualgap.report.", "dualgap.estimators.",
                "dualgap.steps.path.", "papers.sources")  # fmt: skip
_ALWAYS = ("dualgap.run.loop", "dualgap.run.solve", "dualgap.problem", "papers.runs")


def code_of(loss: str, penalty: str, step: Any, sampling: Any) -> str:
    """A hash of what a run with these depends on."""
    parts = (LOSSES[loss], PENALTIES[penalty], type(step), type(sampling))
    return _hash(frozenset(_ALWAYS + tuple(part.__module__ for part in parts)))


@cache
def _hash(roots: frozenset[str]) -> str:
    code = hashlib.sha256()
    for module in sorted(modules(roots)):
        code.update(f"{module}\n{_plain(module)}\n".encode())
    return code.hexdigest()[:16]


def modules(roots: Iterable[str]) -> set[str]:
    """The modules of the project that these import, directly or not, and themselves."""
    found: set[str] = set()
    left = list(roots)
    while left:
        module = left.pop()
        if module in found or _file(module) is None or module.startswith(_OTHER_ROOMS):
            continue
        found.add(module)
        if module not in _NOT_FOLLOWED:
            left += _imports(module)
    return found


@cache
def _file(module: str) -> Path | None:
    """Its file, if it is one of the project's."""
    top = module.partition(".")[0]
    if top not in ("dualgap", "papers"):
        return None
    path = (_ROOT if top == "dualgap" else _PAPERS).joinpath(*module.split("."))
    for candidate in (path / "__init__.py", path.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None


@cache
def _tree(module: str) -> ast.Module:
    path = _file(module)
    assert path is not None
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _plain(module: str) -> str:
    """The code without docstrings, comments and layout."""
    tree = ast.parse(ast.unparse(_tree(module)))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            body[0] = ast.Pass()
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Modules that a module imports, at its top or later, by the names that it takes from them."""
    return tuple(sorted({name for pair in _pairs(_tree(module)) for name in _source(*pair)}))


def _pairs(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def _source(module: str, name: str) -> Iterator[str]:
    """The modules where ``name`` of ``module`` is defined."""
    path = _file(module)
    if path is None:
        return
    if name and _file(f"{module}.{name}") is not None:
        yield f"{module}.{name}"
        return
    if name and path.name == "__init__.py" and module not in _NOT_FOLLOWED:
        passed_on = [pair for pair in _pairs(_tree(module)) if pair[1] == name]
        for pair in passed_on:
            yield from _source(*pair)
        if passed_on:
            return
    yield module
