"""Pictures of what a run did. They need matplotlib: ``pip install dualgap[plot]``."""

from dualgap.plots.convergence import ConvergenceDisplay

__all__ = ["ConvergenceDisplay"]
