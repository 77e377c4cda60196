"""Pictures of what a run did. They need matplotlib: ``pip install dualgap[plot]``."""

from dualgap.plots.convergence import ConvergenceDisplay
from dualgap.plots.path import PathDisplay
from dualgap.plots.sampling import SamplingDisplay

__all__ = ["ConvergenceDisplay", "PathDisplay", "SamplingDisplay"]
