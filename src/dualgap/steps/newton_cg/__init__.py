"""Newton steps by conjugate gradients, for many classes."""

from dualgap.steps.newton_cg.newton_cg import NewtonCG

__all__ = ["NewtonCG"]
