"""Methods: a step and a sampling under a name, and which of them ``"auto"`` chooses."""

from dualgap.methods.method import Method
from dualgap.methods.registry import METHODS
from dualgap.methods.suitable import suitable
from dualgap.methods.table import describe

__all__ = ["METHODS", "Method", "describe", "suitable"]
