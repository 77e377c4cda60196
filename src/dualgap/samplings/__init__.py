"""Samplings: which coordinate, or which set of them, to update next. Each is one file."""

from __future__ import annotations

from dualgap.samplings import eso
from dualgap.samplings.ada_uniform import AdaUniform
from dualgap.samplings.adaptive import Adaptive
from dualgap.samplings.arbitrary import Arbitrary
from dualgap.samplings.base import Sampling, Sets, SetSampling, StepRule
from dualgap.samplings.custom import Custom
from dualgap.samplings.distributed import Distributed
from dualgap.samplings.full import Full
from dualgap.samplings.gap import AdaGap, GapPerEpoch
from dualgap.samplings.importance import Importance
from dualgap.samplings.norms import Norms
from dualgap.samplings.permutation import Permutation
from dualgap.samplings.product import Product
from dualgap.samplings.residue import Residue
from dualgap.samplings.residue_decay import ResidueDecay
from dualgap.samplings.scores import Scores
from dualgap.samplings.support_set import SupportSet
from dualgap.samplings.tau_nice import TauNice
from dualgap.samplings.uniform import Uniform

# By name. Samplings with required parameters are not here.
REGISTRY = {
    "uniform": Uniform,
    "permutation": Permutation,
    "norms": Norms,
    "importance": Importance,
    "support-set": SupportSet,
    "adaptive": Adaptive,
    "ada-uniform": AdaUniform,
    "ada-gap": AdaGap,
    "gap-per-epoch": GapPerEpoch,
    "residue": Residue,
    "residue-decay": ResidueDecay,
    "full": Full,
}

__all__ = [
    "AdaGap",
    "AdaUniform",
    "Adaptive",
    "Arbitrary",
    "Custom",
    "Distributed",
    "Full",
    "GapPerEpoch",
    "Importance",
    "Norms",
    "Permutation",
    "Product",
    "Residue",
    "ResidueDecay",
    "Sampling",
    "Scores",
    "SetSampling",
    "Sets",
    "StepRule",
    "SupportSet",
    "TauNice",
    "Uniform",
    "eso",
]
