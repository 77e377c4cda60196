"""The problem: data, targets, weights and intercept, with a loss, a penalty and λ."""

from dualgap.problem.problem import Problem

__all__ = ["Problem"]
