"""Steps: what an update does. Each is one file."""

from dualgap.steps.accprox_sdca import AccProxSDCA
from dualgap.steps.apcg import APCG
from dualgap.steps.asdca import ASDCA
from dualgap.steps.base import Setting, Step
from dualgap.steps.coordinate import Coordinate
from dualgap.steps.disdca import DisDCA
from dualgap.steps.full_gradient import FullGradient
from dualgap.steps.lbfgs import LBFGS
from dualgap.steps.newton import Newton
from dualgap.steps.proximal_point import ProximalPoint
from dualgap.steps.quartz import Quartz
from dualgap.steps.sag import AverageGradient
from dualgap.steps.sklearn_solvers import SAG
from dualgap.steps.spdc import SPDC
from dualgap.steps.sweeps import Sweeps
from dualgap.steps.working_set import WorkingSet

__all__ = [
    "APCG",
    "ASDCA",
    "LBFGS",
    "SAG",
    "SPDC",
    "AccProxSDCA",
    "AverageGradient",
    "Coordinate",
    "DisDCA",
    "FullGradient",
    "Newton",
    "ProximalPoint",
    "Quartz",
    "Setting",
    "Step",
    "Sweeps",
    "WorkingSet",
]
