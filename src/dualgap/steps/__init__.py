"""Steps: what an update does. Each is one file."""

from dualgap.steps.base import Setting, Step
from dualgap.steps.coordinate import Coordinate
from dualgap.steps.full_gradient import FullGradient
from dualgap.steps.lbfgs import LBFGS
from dualgap.steps.proximal_point import ProximalPoint
from dualgap.steps.sklearn_solvers import SAG

__all__ = ["LBFGS", "SAG", "Coordinate", "FullGradient", "ProximalPoint", "Setting", "Step"]
