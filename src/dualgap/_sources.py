"""Which source files kernels are made of: the cache of kernels is named after a hash of these."""

from __future__ import annotations

import hashlib
from pathlib import Path

# No file or folder of these defines a kernel or a rule, nor does a file that does import from them:
# an edit here leaves all kernels as they are. A test keeps the list true.
APART = frozenset(
    {
        "__main__.py",
        "auto.py",
        "certifying.py",
        "checkpoint.py",
        "checkpoint_file.py",
        "cli",
        "datasets",
        "distributed",
        "estimators",
        "exact_balance.py",
        "identity.py",
        "interrupting.py",
        "loop.py",
        "loop_state.py",
        "method.py",
        "methods.py",
        "model.py",
        "model_file.py",
        "model_tree.py",
        "papers",
        "path.py",
        "plots",
        "progress.py",
        "proof_file.py",
        "proven.py",
        "proven_predictions.py",
        "recording.py",
        "report",
        "safe_npz.py",
        "solution.py",
        "solve.py",
        "spelling.py",
    }
)


def source_files() -> list[Path]:
    """The files of the package that kernels can depend on."""
    root = Path(__file__).parent
    return sorted(p for p in root.rglob("*.py") if p.relative_to(root).parts[0] not in APART)


def is_source(module: str) -> bool:
    """Whether a module of this name is made from one of them."""
    package, _, inside = module.partition(".")
    first = inside.split(".")[0]
    return package == __package__ and not {first, f"{first}.py"} & APART


def source_hash() -> str:
    """A fingerprint of these files: of their names and of what they hold."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in source_files():
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
