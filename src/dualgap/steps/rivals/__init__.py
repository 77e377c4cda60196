"""Methods to compare with: full gradients, L-BFGS, SAG and SAGA, under the same certificate."""

from dualgap.steps.rivals.full_gradient import FullGradient
from dualgap.steps.rivals.lbfgs import LBFGS
from dualgap.steps.rivals.sag import AverageGradient
from dualgap.steps.rivals.sklearn_solvers import SAG

__all__ = ["LBFGS", "SAG", "AverageGradient", "FullGradient"]
