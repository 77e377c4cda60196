"""Steps: what an update does. Each is one file."""

from dualgap.steps.base import Setting, Step
from dualgap.steps.coordinate.coordinate import Coordinate
from dualgap.steps.groups.groups import Groups
from dualgap.steps.newton.newton import Newton
from dualgap.steps.newton_cg.newton_cg import NewtonCG
from dualgap.steps.outer.accprox_sdca import AccProxSDCA
from dualgap.steps.outer.proximal_point import ProximalPoint
from dualgap.steps.outer.smoothing import Smoothing
from dualgap.steps.quasi_newton.quasi_newton import QuasiNewton
from dualgap.steps.rivals.full_gradient import FullGradient
from dualgap.steps.rivals.lbfgs import LBFGS
from dualgap.steps.rivals.sag import AverageGradient
from dualgap.steps.rivals.sklearn_solvers import SAG
from dualgap.steps.sets.apcg import APCG
from dualgap.steps.sets.asdca import ASDCA
from dualgap.steps.sets.disdca import DisDCA
from dualgap.steps.sets.quartz import Quartz
from dualgap.steps.sets.spdc import SPDC
from dualgap.steps.small.small_newton import SmallNewton
from dualgap.steps.sweeps.sweeps import Sweeps
from dualgap.steps.thresholds.thresholds import NewtonThresholds
from dualgap.steps.working_set.working_set import WorkingSet

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
    "Groups",
    "Newton",
    "NewtonCG",
    "NewtonThresholds",
    "ProximalPoint",
    "Quartz",
    "QuasiNewton",
    "Setting",
    "SmallNewton",
    "Smoothing",
    "Step",
    "Sweeps",
    "WorkingSet",
]
