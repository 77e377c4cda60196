"""Newton steps, for few features."""

from dualgap.steps.newton.newton import Newton

__all__ = ["Newton"]
