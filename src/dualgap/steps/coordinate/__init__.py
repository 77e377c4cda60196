"""One coordinate at a time: SDCA and its kin over samples, coordinate descent over features."""

from dualgap.steps.coordinate.coordinate import Coordinate

__all__ = ["Coordinate"]
