"""The laws over everything registered, at the ends of every parameter's range too."""

import numpy as np
import pytest
from reference import LOSSES, targets

from dualgap import Problem, losses, penalties, samplings
from dualgap.penalties import L1, L2, Box, ElasticNet, NonNegative, Weighted
from dualgap.penalties.centred import Centred
from dualgap.penalties.proximal import Proximal
from dualgap.penalties.thresholds import Thresholds
from dualgap.steps.coordinate.coordinate import Coordinate
from dualgap.steps.outer.proximal_point import ProximalPoint
from dualgap.testing import check_loss, check_penalty, check_sampling, check_step

MORE_LOSSES = [
    losses.Squared(0.1),
    losses.SmoothedHinge(1e-3),
    losses.SmoothedHinge(5.0),
    losses.SquaredHinge(3.0),
    losses.Huber(1e-2),
    losses.EpsilonInsensitive(0.0),
    losses.SquaredEpsilonInsensitive(0.0, 0.5),
    losses.Quantile(0.0),
    losses.Quantile(1.0),
    losses.Quantile(0.9),
    losses.Tweedie(1.1),
    losses.Tweedie(1.9),
    losses.NegativeBinomial(0.1),
    losses.NegativeBinomial(1e8),
    losses.NegativeBinomial(1e-6),
]

MORE_PENALTIES = [
    ElasticNet(0.0),
    ElasticNet(1.0),
    NonNegative(L1()),
    NonNegative(ElasticNet(0.3)),
    Box(0.0, 1.0, L1()),
    Box(0.1, 0.5, ElasticNet(0.5)),
    Box(0.2, 0.2),
    Weighted(L1(), np.array([0.5, 2.0, 1.0])),
    Weighted(L2(), np.array([0.5, 0.0, np.inf])),
    Weighted(ElasticNet(0.5), np.array([0.5, 2.0, 1e-3])),
    Box(-1.0, np.inf, Weighted(L2(), np.array([0.5, 2.0, np.inf]))),
    Proximal(L1(), np.array([0.7, 0.2, 0.0]), np.array([1.0, -2.0, 0.0])),
    Centred(np.array([1.0, -20.0, 0.0]), np.array([0.0, 1e-13, 0.0])),
    Thresholds(L2(), np.array([0.0, 0.02, 30.0])),
]

MORE_SAMPLINGS = [
    samplings.Importance("lipschitz"),
    samplings.GapPerEpoch(m=10.0),
    samplings.AdaUniform(0.0),
    samplings.AdaUniform(1.0),
    samplings.ResidueDecay(2.0, "II"),
    samplings.ResidueDecay(50.0),
    samplings.Custom(np.arange(1.0, 18.0)),
    samplings.Custom(lambda scores: scores.residue + 0.1),
]


@pytest.mark.parametrize("loss", [cls() for cls in losses.REGISTRY.values()] + MORE_LOSSES, ids=str)
def test_loss(loss):
    check_loss(loss)


@pytest.mark.parametrize(
    "penalty", [make() for make in penalties.REGISTRY.values()] + MORE_PENALTIES, ids=str
)
def test_penalty(penalty):
    check_penalty(penalty)


@pytest.mark.parametrize(
    "sampling", [cls() for cls in samplings.REGISTRY.values()] + MORE_SAMPLINGS, ids=str
)
def test_sampling(sampling):
    check_sampling(sampling)


@pytest.mark.parametrize(
    "step", [Coordinate("dual"), Coordinate("primal"), ProximalPoint()], ids=str
)
@pytest.mark.parametrize("loss", LOSSES)
def test_step(loss, step):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    problem = Problem(X, targets(LOSSES[loss], X[:, 0], rng), LOSSES[loss], "l2", 0.1)
    if step.refusal(problem):
        assert not LOSSES[loss].differentiable
        assert "no derivative" in step.refusal(problem)
    else:
        check_step(step, problem)


def wrong(cls, **rules):
    """A class with some of its rules replaced."""
    return type(cls.__name__, (cls,), rules)()


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (wrong(losses.Hinge, conj=lambda self, a, y: -0.9 * y * a), "Fenchel-Young"),
        (wrong(losses.Logistic, slope=lambda self, z, y: -y / 2), "Fenchel-Young"),
        (wrong(losses.Squared, dual_step=lambda self, a, z, q, y: a), "dual_step"),
        (wrong(losses.Logistic, gamma=9.0), "gamma"),
        (wrong(losses.Huber, lipschitz=0.5), "lipschitz"),
        (wrong(losses.Squared, curvature=lambda self, z, y: 3.0), "curvature"),
        (wrong(losses.Hinge, project=lambda self, a, y: a), "project"),
    ],
)
def test_a_broken_loss_is_found(loss, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_loss(loss)


@pytest.mark.parametrize(
    ("penalty", "sentence"),
    [
        (wrong(L2, prox=lambda self, u, t, j: u), "prox"),
        (wrong(L1, conj=lambda self, u, j: 0.0), "domain"),
        (wrong(ElasticNet, strength=lambda self, j: 0.9), "strength"),
        (wrong(L2, conj=lambda self, u, j: 0.6 * u * u), "equality"),
    ],
)
def test_a_broken_penalty_is_found(penalty, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_penalty(penalty)


@pytest.mark.parametrize(
    ("sampling", "sentence"),
    [
        (samplings.Custom(lambda scores: np.arange(17.0) * 0.0 + (np.arange(17) > 3)), "coherence"),
        (samplings.Custom(-np.ones(17)), ">= 0"),
        (wrong(samplings.Uniform, draw=lambda self, w, count, rng: np.zeros(17, int)), "marginals"),
    ],
)
def test_a_broken_sampling_is_found(sampling, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_sampling(sampling)
