"""Quasi-Newton steps with limited memory, for many classes."""

from dualgap.steps.quasi_newton.quasi_newton import QuasiNewton

__all__ = ["QuasiNewton"]
