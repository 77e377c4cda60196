"""Each method with the losses and penalties that it accepts, and a selection of these."""

import os
from functools import cache
from itertools import product

import block_reference
import numpy as np
import reference
import scipy.sparse as sp

import dualgap as dg
from dualgap import penalties
from dualgap.methods import METHODS, Method
from dualgap.problem.ordinal import ordinal_problem, rows_of
from dualgap.samplings import Distributed, Full, TauNice, Uniform
from dualgap.steps import ASDCA, SPDC, Coordinate, DisDCA, Quartz

# Samples, features, λ. "wide" is also where acceleration has something to gain.
SHAPES = {
    "dense": (24, 5, 0.05),
    "csr": (30, 6, 0.05),
    "wide": (10, 30, 0.02),
    "tall": (100, 4, 0.05),
}
BLOCKS = block_reference.LOSSES
LOSSES = {**reference.LOSSES, **BLOCKS}
PAIRS = [
    *product(reference.LOSSES, reference.PENALTIES),
    *product(BLOCKS, block_reference.PENALTIES),
]


def one_of_three(rng):
    """Sets of a sampling without a lemma: each part of the samples is as likely as the others."""
    return np.arange(int(rng.integers(3)), 10, 3)


VARIANTS = {
    "quartz-ii": Method(Quartz("II"), Uniform()),
    "quartz-10": Method(Quartz(multiplier=10.0), Uniform()),
    "quartz-tau-nice": Method(Quartz(multiplier=100.0), TauNice(4)),
    "quartz-ii-tau-nice": Method(Quartz("II", multiplier=10.0), TauNice(4)),
    "quartz-distributed": Method(Quartz(multiplier=100.0), Distributed(4, 2)),
    "quartz-full": Method(Quartz(multiplier=100.0), Full()),
    "disdca-basic": Method(DisDCA("basic"), Distributed(4, 2)),
    "disdca-4-2": Method(DisDCA(), Distributed(4, 2)),
    "asdca-tau-nice": Method(ASDCA(), TauNice(4)),
    "spdc-tau-nice": Method(SPDC(), TauNice(4)),
    "spdc-full": Method(SPDC(), Full()),
}
# Methods for penalties and losses of their own, whose tests compare them with other solvers.
SPECIAL = {
    "groups": ("squared", penalties.GroupLasso(2)),
    "smoothing": (dg.losses.MulticlassHinge(0.0), "l2"),
    "thresholds": ("logistic", penalties.L2()),
}
EVERY = {**{name: one for name, one in METHODS.items() if name not in SPECIAL}, **VARIANTS}


@cache
def special_problem(name):
    if name == "thresholds":
        return ordinal_of_three()
    loss, penalty = SPECIAL[name]
    rng = np.random.default_rng(3)
    X = rng.standard_normal((24, 6))
    z = X @ [1.0, -0.5, 0.0, 0.3, 0.0, 0.0]
    y = z + rng.standard_normal(24) if name == "groups" else np.digitize(z, [-0.5, 0.5])
    return dg.Problem(X, y, loss, penalty, 0.05, intercept=True)


def ordinal_of_three():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((24, 6))
    y = np.digitize(X[:, 0] + rng.logistic(size=24), [-0.5, 0.5])
    return ordinal_problem(X, y, 3, rows_of(y, 3), penalties.L2(), 0.05, None)


@cache
def problem_of(loss, penalty, shape):
    n, d, lam = SHAPES[shape]
    rng = np.random.default_rng(3)
    X = 2.0 / np.sqrt(d) * rng.standard_normal((n, d))
    if loss in BLOCKS:
        y = np.argmax(X[:, :3] + 0.5 * rng.gumbel(size=(n, 3)), axis=1)
        y[:3] = 0, 1, 2
    else:
        y = reference.targets(LOSSES[loss], X @ np.resize([1.0, -0.5, 0.0, 0.3], d), rng)
    s = rng.integers(1, 4, n).astype(float)
    if shape == "csr":
        X[rng.random(X.shape) < 0.6] = 0.0
        X[7] = 0.0
    if shape != "dense":
        X = sp.csr_array(X)
    if penalty.startswith("weighted"):
        weights = np.resize(WEIGHTS[loss in BLOCKS], d)
        penalty = penalties.Weighted(penalties.ElasticNet(0.4), weights)
    else:
        penalty = {**reference.PENALTIES, **block_reference.PENALTIES}[penalty]
    return dg.Problem(X, y, LOSSES[loss], penalty, lam, sample_weight=s)


WEIGHTS = (reference.WEIGHTS, block_reference.WEIGHTS)


def kind_of(name, problem):
    """Which kernels a method runs: those of its step, for coordinate steps those of the view."""
    step = EVERY[name].step
    if isinstance(step, Coordinate):
        pace = "stepwise" if EVERY[name].sampling.refresh == "step" else "coordinate"
        return f"{pace}, {step.view_of(problem)} view"
    return f"Quartz {step.option}" if isinstance(step, Quartz) else type(step).__name__


@cache
def accepted():
    """For each kind of step, its methods and the pairs of loss and penalty that each accepts."""
    found = {}
    for pair in PAIRS:
        problem = problem_of(*pair, "dense")
        for name, method in EVERY.items():
            if method.refusal(problem) is None:
                methods = found.setdefault(kind_of(name, problem), {})
                methods.setdefault(name, []).append(pair)
    return found


def family_of(kind):
    """Kinds of steps that take the rules of a loss in the same way."""
    return "sets" if kind in SETS else kind.replace("stepwise", "coordinate")


SETS = ("Quartz I", "Quartz II", "SPDC", "ASDCA", "APCG", "DisDCA")


def wanted(kind, methods, losses):
    """What is to be met: (method, penalty or shape), and (family, loss) but for known losses."""
    return {
        *((name, pair[1]) for name, pairs in methods.items() for pair in pairs),
        *((name, shape) for name in methods for shape in SHAPES),
        *((family_of(kind), pair[0]) for pairs in methods.values() for pair in pairs),
    } - {(family_of(kind), loss) for loss in losses}


def meets(kind, methods, pair, shape):
    found = {(family_of(kind), pair[0])}
    for name, pairs in methods.items():
        if pair in pairs:
            found |= {(name, pair[1]), (name, shape)}
    return found


@cache
def selection():
    """(kind, loss, penalty, shape). Greedy: next is what meets most of the missing, then what is a
    new pair of loss and penalty."""
    chosen, met = [], {}
    for kind, methods in accepted().items():
        pairs = sorted({pair for pairs in methods.values() for pair in pairs}, key=PAIRS.index)
        if os.environ.get("DUALGAP_EVERY"):
            chosen += [(kind, *pair, shape) for pair in pairs for shape in SHAPES]
            continue
        losses = met.setdefault(family_of(kind), set())
        missing = wanted(kind, methods, losses)
        while missing:
            known = {case[1:3] for case in chosen}

            def worth(case, kind=kind, methods=methods, missing=missing, known=known):
                return len(meets(kind, methods, *case) & missing), case[0] not in known

            pair, shape = max(product(pairs, SHAPES), key=worth)
            chosen.append((kind, *pair, shape))
            losses.add(pair[0])
            missing -= meets(kind, methods, pair, shape)
    return chosen
