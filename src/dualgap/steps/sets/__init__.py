"""Steps on sets of samples: Quartz, SPDC, ASDCA, APCG, DisDCA."""

from dualgap.steps.sets.apcg import APCG
from dualgap.steps.sets.asdca import ASDCA
from dualgap.steps.sets.disdca import DisDCA
from dualgap.steps.sets.quartz import Quartz
from dualgap.steps.sets.spdc import SPDC

__all__ = ["APCG", "ASDCA", "SPDC", "DisDCA", "Quartz"]
