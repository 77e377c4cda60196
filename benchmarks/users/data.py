"""The data of the cases, by name: toy sets, files in the folder DUALGAP_DATA, generated ones.

Labels of several classes are 0 to K − 1, which every library reads. Files are parsed once: what was
read is kept in the folder for temporary files.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.users import generated

FILES = {
    "covtype.binary": "covtype.binary.scale01",
    "covtype.multi": "covtype.multi.scale01",
    "rcv1": "rcv1_subsets.binary",
    "news20": "news20.svm",  # by its file: the name alone means the set of two classes
}
TOYS = ("iris", "wine", "breast_cancer", "digits", "diabetes")
TALL, WIDE, COUNTS = "normal-1000000x50", "normal-2000x20000", "normal-100000x20"
MOTOR, CLAIMS = "motor-678013", "motor-25000"  # as many policies and claims as in France


def load(name: str) -> tuple[Any, Any]:
    """X and y. After a comma the name says how: scaled, dense, sparse, float32, F-order, /100."""
    base, *words = name.split(",")
    family, _, shape = base.partition("-")
    X, y = generated.FAMILIES[family](shape) if family in generated.FAMILIES else _known(base)
    for word in words:
        X = _CHANGES[word](X)
    return X, y


def _known(name: str) -> tuple[Any, Any]:
    if name in TOYS:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return X, y if name == "diabetes" else y.astype(np.int64)
    first = 10_000 if name == "mnist" else None
    X, y = _file(FILES.get(name, name))
    X, y = X[:first], y[:first]
    labels = np.unique(y)
    if 2 < len(labels) <= 200 and name in _SEVERAL:
        y = np.searchsorted(labels, y)
    # What the files hold without zeros is dense data.
    return (X if name not in _DENSE else X.toarray()), y


_SEVERAL = ("mnist", "pendigits", "letter.scale", "news20", "covtype.multi", "sector.scale")
_DENSE = ("pendigits", "letter.scale", "cadata", "cpusmall", "abalone", "leukemia")


def _scaled(X: Any) -> Any:
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(X)


_CHANGES = {
    "scaled": _scaled,
    "dense": lambda X: X.toarray(),
    "sparse": sp.csr_matrix,
    "float32": lambda X: X.astype(np.float32),
    "F-order": np.asfortranarray,
    "/100": lambda X: X / 100.0,
    "/255": lambda X: X / 255.0,
}


def _file(name: str) -> tuple[Any, Any]:
    return read(kept(name))


def kept(name: str) -> Path:
    """The parsed copy of a file, which is made if there is none."""
    from dualgap import datasets

    path = datasets.locate(name)
    if path is None:
        datasets.load(name, download=False)  # raises, in words
        raise FileNotFoundError(name)
    key = hashlib.sha256(f"{path.name} {path.stat().st_size}".encode()).hexdigest()[:16]
    copy = Path(tempfile.gettempdir()) / f"dualgap-benchmark-{key}.npz"
    if not copy.exists():
        found = datasets.load(name, download=False)
        X = found.X.tocsr()
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        part = copy.with_name(f"{copy.name}.{np.random.default_rng().integers(1 << 40)}.npz")
        np.savez(part, data=X.data, indices=indices, indptr=indptr, shape=X.shape, y=found.y)
        part.replace(copy)
    return copy


def read(copy: Path) -> tuple[Any, Any]:
    """Without an import of dualgap, whose memory is measured elsewhere."""
    with np.load(copy) as arrays:
        parts = arrays["data"], arrays["indices"], arrays["indptr"]
        X = sp.csr_matrix(parts, shape=tuple(int(k) for k in arrays["shape"]))
        return X, arrays["y"]
