"""Which source files kernels are made of: the cache of kernels is named after a hash of these."""

from __future__ import annotations

import hashlib
from pathlib import Path

# No file or folder of these defines a kernel or a rule, nor does a file that does import from them:
# an edit here leaves all kernels as they are. A test keeps the list true.
APART = (
    "__main__.py",
    "_moved.py",
    "choices",
    "cli",
    "datasets",
    "distributed",
    "estimators",
    "files",
    "methods",
    "plots",
    "proof/certify.py",
    "proof/exact_balance.py",
    "proof/predictions.py",
    "proof/proof_file.py",
    "report",
    "run",
    "testing/step_laws.py",
)
# Except for these, which lie in such a folder.
KERNELS = ("datasets/parsing",)

_PACKAGE = Path(__file__).parents[1]


def source_files() -> list[Path]:
    """The files of the package that kernels can depend on."""
    return sorted(_PACKAGE / name for name in _names() if not _is_apart(name))


def is_source(module: str) -> bool:
    """Whether a module of this name is made from one of them."""
    package, *inside = module.split(".")
    if package != "dualgap":
        return False
    name = "/".join(inside)
    return not _is_apart(name if (_PACKAGE / name).is_dir() else f"{name}.py")


def _names() -> list[str]:
    """All files of the package, by their paths inside it."""
    start = len(_PACKAGE.as_posix()) + 1
    return [path.as_posix()[start:] for path in _PACKAGE.rglob("*.py")]


def _is_apart(name: str) -> bool:
    # By strings: comparing Path objects took 10 ms of every import.
    return _within(name, APART) and not _within(name, KERNELS)


def _within(name: str, places: tuple[str, ...]) -> bool:
    return f"{name}/".startswith(tuple(f"{place}/" for place in places))


def source_hash() -> str:
    """A fingerprint of these files: of their names and of what they hold."""
    digest = hashlib.sha256()
    for path in source_files():
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
