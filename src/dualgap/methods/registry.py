"""Names for methods: each is a step and a sampling.

``solve`` takes a name, or a ``Method`` of your own, such as ``Method(Quartz(), Uniform())``.
"""

from __future__ import annotations

from dualgap import samplings, steps
from dualgap.methods.method import Method, l2_refusal, smoothness_refusal

__all__ = ["METHODS", "Method"]

_DUAL = steps.Coordinate("dual")
_EITHER = steps.Coordinate("auto")
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
        (l2_refusal,),
        when="a baseline under L2",
    ),
    "prox-sdca": Method(
        _DUAL,
        samplings.Uniform(),
        "SDCA for any strongly convex penalty",
        "Shalev-Shwartz, Zhang 2012",
        when="a baseline for elastic nets, and for bounds",
    ),
    "iprox-sdca": Method(
        _DUAL,
        samplings.Importance("smooth"),
        "Prox-SDCA with fixed importance sampling",
        "Zhao, Zhang 2014",
        (smoothness_refusal,),
        when="smooth losses, samples of unequal norm",
    ),
    "adasdca": Method(
        _DUAL,
        samplings.Residue(),
        "sampling by residue at each step; for study",
        _CSIBA,
        (smoothness_refusal,),
        when="small data: each step scores all samples",
    ),
    "adasdca+": Method(
        _DUAL,
        samplings.ResidueDecay(10.0, "I"),
        "residues once an epoch, decaying with each visit",
        _CSIBA,
        (smoothness_refusal,),
        when="smooth losses, if few samples matter towards the end",
    ),
    "adasdca+ii": Method(
        _DUAL,
        samplings.ResidueDecay(10.0, "II"),
        "importance sampling, decaying with each visit",
        _CSIBA,
        (smoothness_refusal,),
        when="the same, without computing residues",
    ),
    "cd-uniform": Method(
        _EITHER,
        samplings.Uniform(),
        "uniform coordinate descent",
        _PEREKRESTENKO,
        when="a baseline for any loss and penalty",
    ),
    "cd-permutation": Method(
        _EITHER,
        samplings.Permutation(),
        "each coordinate once an epoch, as in liblinear",
        "Hsieh et al. 2008",
        when="a baseline: what liblinear does, without shrinking",
    ),
    "cd-importance": Method(
        _EITHER,
        samplings.Importance("lipschitz"),
        "fixed importance sampling",
        _PEREKRESTENKO,
        when="coordinates of unequal norm",
    ),
    "cd-support": Method(
        _EITHER,
        samplings.SupportSet(),
        "uniform over unresolved coordinates; for study",
        _PEREKRESTENKO,
        when="small data: each step scores all coordinates",
    ),
    "cd-adaptive": Method(
        _EITHER,
        samplings.Adaptive(),
        "by residue and norm at each step; for study",
        _PEREKRESTENKO,
        when="small data: each step scores all coordinates",
    ),
    "cd-ada-uniform": Method(
        _EITHER,
        samplings.AdaUniform(),
        "mixture of the two above; for study",
        _PEREKRESTENKO,
        when="small data: each step scores all coordinates",
    ),
    "cd-ada-gap": Method(
        _EITHER,
        samplings.AdaGap(),
        "by gap at each step; for study",
        _PEREKRESTENKO,
        when="small data: each step scores all coordinates",
    ),
    "cd-gap-per-epoch": Method(
        _EITHER,
        samplings.GapPerEpoch(),
        "by gap once an epoch",
        _PEREKRESTENKO,
        when="support vectors or sparse coefficients: few coordinates matter",
    ),
    "cd-gap-decay": Method(
        _EITHER,
        samplings.GapPerEpoch(m=10.0),
        "by gap once an epoch, decaying with each visit as in AdaSDCA+: the default",
        f"{_PEREKRESTENKO}; {_CSIBA}",
        when="any loss and penalty, and a sampling of your own in its place",
    ),
    "sweeps": Method(
        steps.Sweeps(),
        samplings.Full(),
        "permuted sweeps over unresolved samples, conjugate gradients on the face they leave",
        "Hsieh et al. 2008; Moré, Toraldo 1991",
        when="L2 with many features; data on disk. What auto takes there",
    ),
    "quartz": Method(
        steps.Quartz(),
        samplings.Uniform(),
        "Quartz with the sets of your choice: sampling=TauNice(tau), Product(tau), ...",
        _QU,
        when="sets of samples for threads, with a rate from theory",
    ),
    "quartz-u": Method(
        steps.Quartz(),
        samplings.Uniform(),
        "Quartz, one sample at a time, uniformly",
        _QU,
        when="smooth losses, with a rate from theory",
    ),
    "quartz-ip": Method(
        steps.Quartz(),
        samplings.Importance("smooth"),
        "Quartz with importance sampling",
        _QU,
        when="the same, for samples of unequal norm",
    ),
    "spdc": Method(
        steps.SPDC(),
        samplings.Uniform(),
        "accelerated primal-dual steps, also for kinks and L1",
        _ZHANG,
        when="small lam, and every penalty",
    ),
    "spdc-weighted": Method(
        steps.SPDC(),
        samplings.Norms(),
        "SPDC that samples by norm, for samples of unequal norm",
        _ZHANG,
        when="the same, for samples of unequal norm",
    ),
    "asdca": Method(
        steps.ASDCA(),
        samplings.Uniform(),
        "accelerated mini-batch SDCA; batches by sampling=TauNice(m)",
        "Shalev-Shwartz, Zhang 2013",
        when="smooth losses, batches of samples",
    ),
    "accprox-sdca": Method(
        steps.AccProxSDCA(),
        samplings.Uniform(),
        "accelerated outer steps around Prox-SDCA",
        "Shalev-Shwartz, Zhang 2014",
        when="smooth losses and small lam",
    ),
    "apcg": Method(
        steps.APCG(),
        samplings.Uniform(),
        "accelerated proximal coordinate gradient on the dual",
        "Lin, Lu, Xiao 2014",
        when="smooth losses, L2 and small lam",
    ),
    "disdca": Method(
        steps.DisDCA(),
        samplings.Distributed(2, 1),
        "dual steps by several workers; workers and batches by sampling=Distributed(c, tau)",
        "Yang 2013",
        when="to study distributed steps; real clusters have dualgap.distributed",
    ),
    "prox-point": Method(
        steps.ProximalPoint(),
        samplings.GapPerEpoch(m=10.0),
        "for a loss with kinks and a penalty like L1",
        "Rockafellar 1976",
        when="where neither samples nor features can be coordinates. What auto takes there",
    ),
    "afg": Method(
        steps.FullGradient(),
        samplings.Full(),
        "accelerated full gradient with line search and restarts",
        "Nesterov 2013; O'Donoghue, Candès 2015",
        when="smooth losses; a full pass is cheap",
    ),
    "newton": Method(
        steps.Newton(),
        samplings.Full(),
        "semismooth Newton steps for few features, however badly scaled",
        "Li, Sun, Toh 2018",
        when="up to two thousand features, an intercept, tight tol. What auto takes there",
    ),
    "small-newton": Method(
        steps.SmallNewton(),
        samplings.Full(),
        "the same steps, compiled as a whole, for small data",
        "Li, Sun, Toh 2018",
        when="data of up to 260,000 numbers and 100 features. What auto takes there",
    ),
    "newton-cg": Method(
        steps.NewtonCG(),
        samplings.Full(),
        "Newton steps by conjugate gradients, for many classes",
        "Dembo, Eisenstat, Steihaug 1982",
        when="softmax and the multiclass hinge under L2. What auto takes there",
    ),
    "smoothing": Method(
        steps.Smoothing(),
        samplings.Full(),
        "Newton steps on a hinge of many classes whose kinks get sharper",
        "Nesterov 2005",
        when="the multiclass hinge with gamma=0 under L2. What auto takes there",
    ),
    "quasi-newton": Method(
        steps.QuasiNewton(),
        samplings.Full(),
        "L-BFGS steps, scaled by correlations of features or samples, for many classes",
        "Liu, Nocedal 1989; Byrd, Nocedal, Schnabel 1994",
        when="softmax under L2 with many features. What auto takes there",
    ),
    "working-set": Method(
        steps.WorkingSet(),
        samplings.Full(),
        "Newton models on working sets of features, for L1 and its like with many features",
        "Yuan, Ho, Lin 2012; Massias, Gramfort, Salmon 2018",
        when="L1, elastic nets and bounds. What auto takes there",
    ),
    "groups": Method(
        steps.Groups(),
        samplings.Full(),
        "Newton models on working sets of groups, for group lassos and several targets",
        "Yuan, Lin 2006; Massias, Gramfort, Salmon 2018",
        when="penalties on groups of features. What auto takes there",
    ),
    "thresholds": Method(
        steps.NewtonThresholds(),
        samplings.Full(),
        "Newton steps on coefficients and gaps between thresholds",
        "Burridge 1981",
        when="ordinal regression. What auto takes there",
    ),
    "lbfgs": Method(
        steps.LBFGS(),
        samplings.Full(),
        "SciPy's L-BFGS-B with memory 30",
        "Byrd, Lu, Nocedal, Zhu 1995",
        when="a baseline for smooth losses, as scikit-learn's default solver",
    ),
    "sag": Method(
        steps.SAG("sag"),
        samplings.Full(),
        "scikit-learn's stochastic average gradient",
        "Le Roux, Schmidt, Bach 2012",
        when="a baseline: logistic or squared loss with L2",
    ),
    "sag-smooth": Method(
        steps.AverageGradient(),
        samplings.Uniform(),
        "stochastic average gradient for any smooth loss with L2",
        "Le Roux, Schmidt, Bach 2012",
        when="a baseline: other smooth losses",
    ),
    "saga": Method(
        steps.SAG("saga"),
        samplings.Full(),
        "scikit-learn's SAGA",
        "Defazio, Bach, Lacoste-Julien 2014",
        when="a baseline: logistic loss with L2, L1 or both, squared loss with L2",
    ),
}
