"""Samplings: which coordinate to update next. Each is one file."""

from __future__ import annotations

from dualgap.samplings.ada_uniform import AdaUniform
from dualgap.samplings.adaptive import Adaptive
from dualgap.samplings.base import Sampling, Sets, SetSampling
from dualgap.samplings.custom import Custom
from dualgap.samplings.full import Full
from dualgap.samplings.gap import AdaGap, GapPerEpoch
from dualgap.samplings.importance import Importance
from dualgap.samplings.permutation import Permutation
from dualgap.samplings.residue import Residue
from dualgap.samplings.residue_decay import ResidueDecay
from dualgap.samplings.support_set import SupportSet
from dualgap.samplings.uniform import Uniform
from dualgap.steps.views import Scores

# ``Custom`` is not here because it has no meaning without its rule.
REGISTRY = {
    "uniform": Uniform,
    "permutation": Permutation,
    "importance": Importance,
    "support-set": SupportSet,
    "adaptive": Adaptive,
    "ada-uniform": AdaUniform,
    "ada-gap": AdaGap,
    "gap-per-epoch": GapPerEpoch,
    "residue": Residue,
    "residue-decay": ResidueDecay,
}

__all__ = [
    "AdaGap",
    "AdaUniform",
    "Adaptive",
    "Custom",
    "Full",
    "GapPerEpoch",
    "Importance",
    "Permutation",
    "Residue",
    "ResidueDecay",
    "Sampling",
    "Scores",
    "SetSampling",
    "Sets",
    "SupportSet",
    "Uniform",
]
