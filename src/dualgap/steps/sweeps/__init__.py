"""Sweeps over unresolved samples, with conjugate gradients on faces of the dual."""

from dualgap.steps.sweeps.sweeps import Sweeps

__all__ = ["Sweeps"]
