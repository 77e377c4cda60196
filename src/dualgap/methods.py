"""Names for methods: each is a step and a sampling.

``solve`` takes a name, or a ``Method`` of your own: ``Method(Coordinate("dual"), Uniform())``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dualgap import samplings
from dualgap.penalties import L2
from dualgap.problem import Problem
from dualgap.samplings.base import Sampling
from dualgap.steps.accprox_sdca import AccProxSDCA
from dualgap.steps.apcg import APCG
from dualgap.steps.asdca import ASDCA
from dualgap.steps.base import Step
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


def _lacks_l2(problem: Problem) -> str | None:
    return None if isinstance(problem.penalty, L2) else "the penalty is not L2"


def _lacks_smooth_loss(problem: Problem) -> str | None:
    if problem.loss.gamma > 0.0:
        return None
    return f"the {type(problem.loss).__name__} loss is not smooth (its slope is not Lipschitz)"


@dataclass(frozen=True)
class Method:
    """A step × a sampling; ``needs`` are checks of the problem beyond those of the step."""

    step: Any
    sampling: Sampling
    about: str = ""
    paper: str = ""
    needs: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.step, Step):
            raise ValueError(f'step must be a step such as Coordinate("dual"), not {self.step!r}')
        if not isinstance(self.sampling, Sampling):
            raise ValueError(
                f"sampling must be a sampling such as Uniform(), not {self.sampling!r}"
            )

    def refusal(self, problem: Problem) -> str | None:
        """What the problem lacks for this method, in words; None when it lacks nothing."""
        lacks = [self.step.refusal(problem), *(need(problem) for need in self.needs)]
        lacks.append(self.step.mismatch(self.sampling))
        if not any(lacks):
            lacks = [self.sampling.refusal(problem, self.step.view_of(problem))]
        return " and ".join(filter(None, lacks)) or None


_DUAL = Coordinate("dual")
_EITHER = Coordinate("auto")
_QU = "Qu, Richtárik, Zhang 2014"
_ZHANG = "Zhang, Xiao 2015"
_CSIBA = "Csiba, Qu, Richtárik 2015"
_PEREKRESTENKO = "Perekrestenko, Cevher, Jaggi 2017"

METHODS: dict[str, Method] = {
    "sdca": Method(
        _DUAL,
        samplings.Uniform(),
        "uniform dual coordinate ascent",
        "Shalev-Shwartz, Zhang 2013",
        (_lacks_l2,),
    ),
    "prox-sdca": Method(
        _DUAL,
        samplings.Uniform(),
        "SDCA for any strongly convex penalty",
        "Shalev-Shwartz, Zhang 2012",
    ),
    "iprox-sdca": Method(
        _DUAL,
        samplings.Importance("smooth"),
        "Prox-SDCA with fixed importance sampling",
        "Zhao, Zhang 2014",
        (_lacks_smooth_loss,),
    ),
    "adasdca": Method(
        _DUAL,
        samplings.Residue(),
        "sampling by residue at each step; for study",
        _CSIBA,
        (_lacks_smooth_loss,),
    ),
    "adasdca+": Method(
        _DUAL,
        samplings.ResidueDecay(10.0, "I"),
        "residues once an epoch, decaying with each visit",
        _CSIBA,
        (_lacks_smooth_loss,),
    ),
    "adasdca+ii": Method(
        _DUAL,
        samplings.ResidueDecay(10.0, "II"),
        "importance sampling, decaying with each visit",
        _CSIBA,
        (_lacks_smooth_loss,),
    ),
    "cd-uniform": Method(
        _EITHER, samplings.Uniform(), "uniform coordinate descent", _PEREKRESTENKO
    ),
    "cd-permutation": Method(
        _EITHER,
        samplings.Permutation(),
        "each coordinate once an epoch, as in liblinear",
        "Hsieh et al. 2008",
    ),
    "cd-importance": Method(
        _EITHER, samplings.Importance("lipschitz"), "fixed importance sampling", _PEREKRESTENKO
    ),
    "cd-support": Method(
        _EITHER,
        samplings.SupportSet(),
        "uniform over unresolved coordinates; for study",
        _PEREKRESTENKO,
    ),
    "cd-adaptive": Method(
        _EITHER, samplings.Adaptive(), "by residue and norm at each step; for study", _PEREKRESTENKO
    ),
    "cd-ada-uniform": Method(
        _EITHER, samplings.AdaUniform(), "mixture of the two above; for study", _PEREKRESTENKO
    ),
    "cd-ada-gap": Method(
        _EITHER, samplings.AdaGap(), "by gap at each step; for study", _PEREKRESTENKO
    ),
    "cd-gap-per-epoch": Method(
        _EITHER,
        samplings.GapPerEpoch(),
        "by gap once an epoch",
        _PEREKRESTENKO,
    ),
    "cd-gap-decay": Method(
        _EITHER,
        samplings.GapPerEpoch(m=10.0),
        "by gap once an epoch, decaying with each visit as in AdaSDCA+: the default",
        f"{_PEREKRESTENKO}; {_CSIBA}",
    ),
    "sweeps": Method(
        Sweeps(),
        samplings.Full(),
        "permuted sweeps over unresolved samples, conjugate gradients on the face they leave",
        "Hsieh et al. 2008; Moré, Toraldo 1991",
    ),
    "quartz": Method(
        Quartz(),
        samplings.Uniform(),
        "Quartz with the sets of your choice: sampling=TauNice(tau), Product(tau), ...",
        _QU,
    ),
    "quartz-u": Method(
        Quartz(), samplings.Uniform(), "Quartz, one sample at a time, uniformly", _QU
    ),
    "quartz-ip": Method(
        Quartz(), samplings.Importance("smooth"), "Quartz with importance sampling", _QU
    ),
    "spdc": Method(
        SPDC(), samplings.Uniform(), "accelerated primal-dual steps, also for kinks and L1", _ZHANG
    ),
    "spdc-weighted": Method(
        SPDC(), samplings.Norms(), "SPDC that samples by norm, for samples of unequal norm", _ZHANG
    ),
    "asdca": Method(
        ASDCA(),
        samplings.Uniform(),
        "accelerated mini-batch SDCA; batches by sampling=TauNice(m)",
        "Shalev-Shwartz, Zhang 2013",
    ),
    "accprox-sdca": Method(
        AccProxSDCA(),
        samplings.Uniform(),
        "accelerated outer steps around Prox-SDCA",
        "Shalev-Shwartz, Zhang 2014",
    ),
    "apcg": Method(
        APCG(),
        samplings.Uniform(),
        "accelerated proximal coordinate gradient on the dual",
        "Lin, Lu, Xiao 2014",
    ),
    "disdca": Method(
        DisDCA(),
        samplings.Distributed(2, 1),
        "dual steps by several machines; machines and batches by sampling=Distributed(c, tau)",
        "Yang 2013",
    ),
    "prox-point": Method(
        ProximalPoint(),
        samplings.GapPerEpoch(m=10.0),
        "for a loss with kinks and a penalty like L1",
        "Rockafellar 1976",
    ),
    "afg": Method(
        FullGradient(),
        samplings.Full(),
        "accelerated full gradient with line search and restarts",
        "Nesterov 2013; O'Donoghue, Candès 2015",
    ),
    "newton": Method(
        Newton(),
        samplings.Full(),
        "semismooth Newton steps for few features, however badly scaled",
        "Li, Sun, Toh 2018",
    ),
    "working-set": Method(
        WorkingSet(),
        samplings.Full(),
        "Newton models on working sets of features, for L1 and its like with many features",
        "Yuan, Ho, Lin 2012; Massias, Gramfort, Salmon 2018",
    ),
    "lbfgs": Method(
        LBFGS(),
        samplings.Full(),
        "SciPy's L-BFGS-B with memory 30",
        "Byrd, Lu, Nocedal, Zhu 1995",
    ),
    "sag": Method(
        SAG("sag"),
        samplings.Full(),
        "scikit-learn's stochastic average gradient",
        "Le Roux, Schmidt, Bach 2012",
    ),
    "sag-smooth": Method(
        AverageGradient(),
        samplings.Uniform(),
        "stochastic average gradient for any smooth loss with L2",
        "Le Roux, Schmidt, Bach 2012",
    ),
    "saga": Method(
        SAG("saga"),
        samplings.Full(),
        "scikit-learn's SAGA",
        "Defazio, Bach, Lacoste-Julien 2014",
    ),
}


def suitable(problem: Problem) -> list[str]:
    """The names of the methods that accept a problem, the practical ones first."""
    practical = ["cd-gap-decay", "prox-point"]
    ordered = practical + [name for name in METHODS if name not in practical]
    return [name for name in ordered if METHODS[name].refusal(problem) is None]


def describe() -> str:
    """A table of all methods, for people."""
    width = max(map(len, METHODS))
    return "\n".join(f"{name:{width}}  {m.about} ({m.paper})" for name, m in METHODS.items())
