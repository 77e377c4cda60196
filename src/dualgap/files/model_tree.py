"""A model as a tree of names, numbers, text and arrays, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dualgap import losses
from dualgap.files import describe
from dualgap.files.errors import TooLargeError
from dualgap.files.model import Model, bare
from dualgap.linalg.shift import Shift
from dualgap.linalg.validate import Floats
from dualgap.losses.targets import check_loss
from dualgap.penalties import REGISTRY, GroupLasso, SparseGroupLasso, Weighted
from dualgap.penalties.partition import Partition
from dualgap.penalties.structure import check_penalty
from dualgap.proof.radius import Radius

_LOSSES: dict[str, Any] = dict(losses.REGISTRY)
# Names that stand for a class; the others make an object of one of these.
_PENALTIES: dict[str, Any] = {
    name: kind for name, kind in REGISTRY.items() if isinstance(kind, type)
} | {
    "weighted": Weighted,
    "group-lasso": GroupLasso,
    "sparse-group-lasso": SparseGroupLasso,
    "partition": Partition,
}
# Coefficients are written with their places if at most this share is not zero: a place and a value
# take twice the room of a value alone, a little more as JSON.
_SPARSE_SHARE = 1 / 3


def as_tree(model: Model) -> dict[str, Any]:
    """What a file keeps of a model."""
    proof, reach = model.certificate, model.radius._asdict()
    if (reach["spread"] == reach["spread"][0]).all():
        reach["spread"] = reach["spread"][0]
    return {
        "dualgap": model.version,
        "loss": describe.as_tree(model.loss, _LOSSES, "loss"),
        "penalty": describe.as_tree(model.penalty, _PENALTIES, "penalty"),
        "lam": model.lam,
        "fit_intercept": model.fit_intercept,
        "intercept_scaling": model.intercept_scaling,
        "classes": model.classes,
        "feature_names": model.feature_names,
        "certificate": {
            "primal": proof.primal,
            "dual": proof.dual,
            "gap": proof.gap,
            "relative_gap": proof.relative_gap,
            "scale": proof.scale,
            "least": proof.least,
            "radius": proof.radius,
        },
        "decision_radius": reach,
        "settings": dict(model.settings),
        "intercept": model.intercept,
        "coef": _thin(model.coef),
    }


def as_model(tree: Mapping[str, Any], limit: float = math.inf) -> Model:
    """The model of a tree; raises one of ``MALFORMED`` if the tree is not a model, and
    ``TooLargeError`` if it has more than ``limit`` coefficients."""
    coef, intercept = _full(tree["coef"], limit), _floats(tree["intercept"])
    p, width = len(coef), coef.shape[1:]
    names, classes = tree["feature_names"], tree["classes"]
    if intercept.shape != width or (names is not None and len(names) != p):
        raise ValueError("coefficients, intercept and names of features do not fit together")
    if classes is not None and len(classes) != (*width, 2)[0]:
        raise ValueError("coefficients and classes do not fit together")
    if tree["fit_intercept"] not in (True, False, "penalised"):
        raise ValueError(f"invalid fit_intercept {tree['fit_intercept']!r}")
    return Model(
        coef=coef,
        intercept=intercept if width else float(intercept),
        classes=None if classes is None else np.asarray(classes),
        loss=check_loss(describe.from_tree(tree["loss"], _LOSSES, _parameter)),
        penalty=check_penalty(describe.from_tree(tree["penalty"], _PENALTIES, _parameter), p),
        lam=float(tree["lam"]),
        fit_intercept=tree["fit_intercept"],
        intercept_scaling=float(tree["intercept_scaling"]),
        certificate=_certificate(tree["certificate"]),
        radius=_radius(tree["decision_radius"], p),
        feature_names=None if names is None else tuple(map(str, names)),
        settings=dict(tree["settings"]),
        version=str(tree["dualgap"]),
    )


def _certificate(tree: Mapping[str, Any]) -> Any:
    reach = None if tree["radius"] is None else float(tree["radius"])
    primal, dual, gap, scale = (float(tree[name]) for name in ("primal", "dual", "gap", "scale"))
    # Files of 0.1 do not say it; it is 0 for most losses.
    return bare(primal, dual, gap, scale, reach, float(tree.get("least", 0.0)))


def _radius(tree: Mapping[str, Any], p: int) -> Radius:
    moved = tree.get("shift")
    shift = None if moved is None else Shift(np.asarray(moved[0], np.int64), _floats(moved[1]))
    return Radius(
        float(tree["root"]),
        np.broadcast_to(_floats(tree["spread"]), p).copy(),
        float(tree["constant"]),
        _floats(tree["intercept"])[()],
        None if tree["between"] is None else _floats(tree["between"]),
        shift,
    )


def _parameter(value: Any) -> Any:
    """A number or an array of a loss or penalty."""
    return _floats(value)[()]


def _thin(coef: Floats) -> Any:
    """Coefficients; if most are zero, only the others with their indices."""
    flat = coef.ravel()
    places = np.flatnonzero(flat)
    if len(places) > _SPARSE_SHARE * flat.size:
        return coef
    return {"shape": list(coef.shape), "places": places, "values": flat[places]}


def _full(tree: Any, limit: float) -> Floats:
    if not isinstance(tree, Mapping):
        coef = _floats(tree)
    else:
        size = math.prod(tree["shape"])
        if size > limit:  # zeros that the file does not store would still take memory
            raise TooLargeError(f"it has {size:,} coefficients, but at most {limit:,} are allowed")
        coef = np.zeros(tree["shape"])
        coef.ravel()[np.asarray(tree["places"], dtype=np.int64)] = _floats(tree["values"])
    if coef.ndim not in (1, 2) or not coef.size or not np.isfinite(coef).all():
        raise ValueError("its coefficients are not finite numbers")
    return coef


def _floats(value: Any) -> Floats:
    """Numbers; infinite ones are text in JSON."""
    return np.asarray(value, dtype=np.float64)
