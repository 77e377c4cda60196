"""Newton steps compiled as a whole, for small dense data."""

from dualgap.steps.small.small_newton import SmallNewton

__all__ = ["SmallNewton"]
