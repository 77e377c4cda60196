"""Losses of other libraries in terms of ours."""

from __future__ import annotations

from typing import Any

from dualgap import losses

_OURS: dict[str, Any] = dict(losses.REGISTRY)
WHOLE = 0.5  # γ of our squared losses r²/(2γ), for r²


def ours(name: str, *parameters: float) -> Any:
    """The loss of that name in ``losses.REGISTRY``."""
    return _OURS[name](*parameters)


def matching(model: Any) -> tuple[Any, float]:
    """The loss that equals the model's ``loss`` when multiplied by the number beside it."""
    epsilon = float(getattr(model, "epsilon", 0.0))
    known = {
        "hinge": ("hinge", (), 1.0),
        "squared_hinge": ("squared-hinge", (WHOLE,), 1.0),
        "log_loss": ("logistic", (), 1.0),
        "modified_huber": ("smoothed-hinge", (2.0,), 4.0),
        "squared_error": ("squared", (), 1.0),
        "huber": ("huber", (epsilon,), 1.0),
        "epsilon_insensitive": ("epsilon-insensitive", (epsilon,), 1.0),
        "squared_epsilon_insensitive": ("squared-epsilon-insensitive", (epsilon, WHOLE), 1.0),
    }
    if model.loss not in known:
        raise ValueError(
            f"loss={model.loss!r} has no match in dualgap; of {type(model).__name__}'s losses "
            f"these have one: {', '.join(known)}"
        )
    name, parameters, factor = known[model.loss]
    return ours(name, *parameters), factor
