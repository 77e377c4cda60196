"""The targets of a loss: which y it accepts, how kernels see them, what decision values mean.

A loss declares its domain as ``targets``: one of the words in ``DOMAINS``, or a ``Targets`` object
of its own, such as ``Numbers(0.0, 1.0, "proportions from 0 to 1")``. More declarations are
optional, because losses with the same domain can differ in them:

``contains_yz = True``   φ contains the product y·z, so that its rounding error has to be counted
``of_difference = True`` φ depends on y − z alone, so that an offset lowers y
``mean(z)``              the inverse link: the target that decision values z stand for
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf
from typing import Any

import numpy as np

from dualgap.linalg.validate import LARGEST, SMALLEST, Floats, finite_vector, named, with_rules

CONSTANTS = ("targets", "gamma", "lipschitz", "differentiable", "quadratic")
RULES = ("value", "slope", "curvature", "conj", "project", "dual_step", *CONSTANTS)
BLOCK_RULES = ("value", "conj", "slope_into", "project_into", "dual_step_into", *CONSTANTS[:3])


def check_loss(loss: Any) -> Any:
    """The loss, or the one that a name stands for, with its parameters checked."""
    from dualgap.losses import REGISTRY  # late: the registry imports losses that import this file

    loss = named(loss, REGISTRY, "loss") if isinstance(loss, str) else loss
    block = hasattr(loss, "targets") and targets_of(loss).block
    loss = with_rules(
        loss, "loss", REGISTRY, BLOCK_RULES if block else RULES, "dualgap.losses.Hinge()"
    )
    return loss.checked() if hasattr(loss, "checked") else loss


def targets_of(loss: Any) -> Targets:
    """The domain of a loss."""
    targets = DOMAINS.get(loss.targets) if isinstance(loss.targets, str) else loss.targets
    if not isinstance(targets, Targets):
        raise ValueError(
            f"loss: targets of {type(loss).__name__} must be one of {', '.join(DOMAINS)}, or an "
            f'object such as losses.Numbers(0.0, 1.0, "proportions"), not {loss.targets!r}'
        )
    return targets


def check_targets(y: Any, loss: Any, n: int) -> tuple[Floats, Any]:
    """Targets as kernels see them, and the labels that they stand for, if they do.

    The result is a copy, so later changes of the user's array do not matter.
    """
    return targets_of(loss).check(y, n, type(loss).__name__)


def contains_yz(loss: Any) -> bool:
    """Whether φ contains the product y·z; unless declared, losses of counts do."""
    return bool(getattr(loss, "contains_yz", loss.targets == "count"))


def mean(loss: Any, z: Floats) -> Floats:
    """The targets that decision values stand for; unless declared, e^z for counts, else z."""
    if hasattr(loss, "mean"):
        return np.asarray(loss.mean(z))
    return np.asarray(np.exp(z)) if loss.targets == "count" else z


class Targets:
    """The domain of y. Subclass it, or ``Numbers``, for a domain of your own.

    ``labels``          y holds labels, and the user gets labels back
    ``signs``           kernels see labels as −1 and +1
    ``block``           there is a decision value for each label, and kernels see indices of labels
    ``on_scale_of_y``   decision values are as large as targets
    ``examples``        targets, as kernels see them, at which the laws are checked
    """

    labels = False
    signs = False
    block = False
    examples: tuple[float, ...] = ()

    @property
    def on_scale_of_y(self) -> bool:
        return False

    def check(self, y: Any, n: int, name: str) -> tuple[Any, Any]:
        """y as kernels see it, and its sorted labels or None. ``name``: the loss, for messages."""
        raise NotImplementedError

    def encode(self, y: Any, labels: Any) -> Any:
        """y as kernels see it, if it is known to be valid and all labels are known."""
        raise NotImplementedError

    def decode(self, y: Any, labels: Any) -> Any:
        """The inverse of ``encode``."""
        raise NotImplementedError


@dataclass(frozen=True)
class Numbers(Targets):
    """Numbers from ``low`` to ``high``; ``what`` names them in messages."""

    low: float = -inf
    high: float = inf
    what: str = "numbers"
    examples: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.examples:
            ends = [end for end in (self.low, self.high) if not isinf(end)]
            inside = min(max(0.0, self.low), self.high)
            between = 0.7 * inside + 0.3 * min(max(12.0, self.low), self.high)
            object.__setattr__(self, "examples", (*ends, between))

    @property
    def on_scale_of_y(self) -> bool:
        return isinf(self.low) and isinf(self.high)

    def check(self, y: Any, n: int, name: str) -> tuple[Floats, None]:
        y = finite_vector(y, "y", n)
        low, high = float(y.min()), float(y.max())
        largest = max(-low, high)
        if largest > LARGEST:
            raise ValueError(
                f"y has entries of size {largest:.1e}, whose squares overflow: rescale y"
            )
        if self.on_scale_of_y and 0.0 < largest < SMALLEST:
            raise ValueError(
                f"y has entries of size up to {largest:.1e}, whose squares underflow: rescale y"
            )
        if low < self.low:
            found = "negative entries" if self.low == 0.0 else f"entries below {self.low:g}"
            raise ValueError(f"y has {found}; {name} needs {self.what}")
        if high > self.high:
            raise ValueError(f"y has entries above {self.high:g}; {name} needs {self.what}")
        return y.copy(), None

    def encode(self, y: Any, labels: Any) -> Floats:
        return np.array(y, dtype=np.float64)

    def decode(self, y: Any, labels: Any) -> Any:
        return y


@dataclass(frozen=True)
class PositiveNumbers(Numbers):
    """Numbers above 0, such as durations or costs."""

    low: float = 0.0
    what: str = "numbers > 0"
    examples: tuple[float, ...] = (0.2, 1.0, 12.0)

    def check(self, y: Any, n: int, name: str) -> tuple[Floats, None]:
        y, _ = super().check(y, n, name)
        least = float(y.min())
        if least == 0.0:
            raise ValueError(
                f"y has zeros; {name} needs {self.what}: use Tweedie, which accepts zeros, or "
                "leave these samples out"
            )
        if least < SMALLEST:
            raise ValueError(f"y has entries as small as {least:.1e}: rescale y")
        return y, None


class TwoLabels(Targets):
    """Two numbers, the larger one of which counts as +1. Signs take a byte each."""

    labels = True
    signs = True
    examples = (-1.0, 1.0)

    def check(self, y: Any, n: int, name: str) -> tuple[Any, Floats]:
        y = finite_vector(y, "y", n)
        low, high = float(y.min()), float(y.max())
        largest = max(-low, high)
        if largest > LARGEST:
            raise ValueError(
                f"y has entries of size {largest:.1e}, whose squares overflow: rescale y"
            )
        upper = y == high
        two = low < high and np.count_nonzero(upper) + np.count_nonzero(y == low) == n
        if not two:
            classes = np.unique(y)
            found = (
                f"one class only ({classes[0]:g})"
                if len(classes) == 1
                else f"{len(classes)} different values"
            )
            more = "; for more classes use Softmax or MulticlassHinge" if len(classes) > 2 else ""
            raise ValueError(f"y has {found}; {name} needs labels of exactly two values{more}")
        return _signs(upper), np.array([low, high])

    def encode(self, y: Any, labels: Any) -> Any:
        return _signs(np.asarray(y) == labels[1])

    def decode(self, y: Any, labels: Any) -> Any:
        return labels[(y > 0.0).astype(int)]


class ManyLabels(Targets):
    """Labels of any kind; kernels see the index of each among the sorted labels, as a float."""

    labels = True
    block = True

    def check(self, y: Any, n: int, name: str) -> tuple[Floats, Any]:
        if hasattr(y, "toarray"):
            raise ValueError("y must be dense: use y.toarray().ravel()")
        if isinstance(y, np.ma.MaskedArray) and np.any(y.mask):
            raise ValueError("y has masked entries: remove or fill them in")
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] > 1:
            raise ValueError(
                f"y must have one dimension, a label for each sample, not shape {labels.shape}: "
                "where each row marks a class use y.argmax(axis=1)"
            )
        if labels.dtype.kind in "biuf":
            labels = finite_vector(labels, "y", n).astype(labels.dtype)
        if labels.shape != (n,):
            raise ValueError(f"y must hold one label for each of the {n} samples")
        classes, indices = distinct(labels)
        if len(classes) == 1:
            raise ValueError(f"y has one class only ({classes[0]}); {name} needs at least two")
        return indices.reshape(n).astype(np.float64), classes

    def encode(self, y: Any, labels: Any) -> Floats:
        return np.searchsorted(labels, np.asarray(y)).astype(np.float64)

    def decode(self, y: Any, labels: Any) -> Any:
        return labels[y.astype(int)]


DOMAINS: dict[str, Targets] = {
    "real": Numbers(examples=(-2.5, 0.0, 0.7, 12.0)),
    "count": Numbers(0.0, inf, "counts or rates >= 0", examples=(0.0, 1.0, 7.0)),
    "positive": PositiveNumbers(),
    "binary": TwoLabels(),
    "classes": ManyLabels(),
}


def _signs(upper: Any) -> Any:
    """+1 where ``upper`` and −1 elsewhere, in one byte each: steps read them in random order."""
    return 2 * upper.view(np.int8) - np.int8(1)


def distinct(labels: Any) -> tuple[Any, Any]:
    """The sorted distinct labels, and the index of each sample's label among them."""
    if labels.dtype.kind == "O" and any(label is None or label != label for label in labels):
        raise ValueError("y has missing labels: remove or fill them in")
    try:
        classes, indices = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y must hold labels of one kind: {error}") from None
    return classes, indices
