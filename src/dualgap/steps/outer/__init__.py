"""Outer steps, each of which solves a simpler problem by another step."""

from dualgap.steps.outer.accprox_sdca import AccProxSDCA
from dualgap.steps.outer.proximal_point import ProximalPoint

__all__ = ["AccProxSDCA", "ProximalPoint"]
