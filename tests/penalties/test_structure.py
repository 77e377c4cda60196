"""Penalties answer questions about their structure; those that do not still work."""

from math import inf
from typing import NamedTuple

import numpy as np
import pytest

import dualgap as dg
from dualgap.penalties import L1, L2, Box, ElasticNet, Weighted, structure
from dualgap.penalties.per_class import PerClass
from dualgap.testing.penalty_laws import _check_structure

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((30, 4)), rng.standard_normal(30)
WEIGHTS = np.array([1.0, 0.5, inf, 2.0])


class Pull(NamedTuple):
    """g(w) = ½(w − 1)², without a word about its structure."""

    def value(self, w, j):
        return 0.5 * (w - 1.0) * (w - 1.0)

    def conj(self, u, j):
        return 0.5 * u * u + u

    def conj_slope(self, u, near, j):
        return u + 1.0

    def prox(self, u, t, j):
        return (u + t) / (1.0 + t)

    def domain(self, j):
        return -inf, inf

    def strength(self, j):
        return 1.0


class UniformPull(NamedTuple):
    """The same, one line longer."""

    uniform = True

    value = Pull.value
    conj = Pull.conj
    conj_slope = Pull.conj_slope
    prox = Pull.prox
    domain = Pull.domain
    strength = Pull.strength


class Fields(NamedTuple):
    """A penalty whose fields have the names of questions."""

    uniform: bool = True
    bounds: float = 3.0
    on_features: float = 1.0


class DoubledL2(L2):
    """A subclass may have rules of its own, so it inherits no answers."""

    def value(self, w, j):
        return w * w


def test_what_is_not_declared_is_not_assumed():
    for penalty in (Pull(), DoubledL2()):
        assert not structure.is_uniform(penalty)
        assert structure.shape_of(penalty, 4) is None
        assert structure.on_features(penalty, np.array([0])) is None
        assert structure.bounds(penalty) == (-inf, inf)
        assert type(structure.per_class(penalty, 3)) is PerClass
        assert structure.per_class(penalty, 1) is penalty
        assert structure.with_constant(penalty, 4, 1.0) is penalty
        assert type(structure.with_constant(penalty, 4, 0.0)) is Weighted
        assert structure.on_features(Box(0.0, 1.0, penalty), np.array([0])) is None
        assert structure.on_features(Weighted(penalty, WEIGHTS), np.array([0])) is None
    assert not structure.is_uniform(Fields())
    assert structure.on_features(Fields(), np.array([0])) is None


def test_a_uniform_penalty_needs_one_line():
    plain, uniform = (dg.Problem(X, Y, "squared", g, 0.1) for g in (Pull(), UniformPull()))
    assert uniform.origin_value == plain.origin_value == 0.0
    for one, other in zip(uniform.features, plain.features):
        np.testing.assert_array_equal(one, other)
    found = dg.solve(uniform, tol=1e-10)
    np.testing.assert_allclose(found.coef, dg.solve(plain, tol=1e-10).coef, atol=1e-5)
    small = uniform.on_features(np.array([0, 3]))
    assert small.penalty is uniform.penalty
    assert plain.on_features(np.array([0, 3])) is None
    classes = dg.Problem(X, np.digitize(Y, [-0.5, 0.5]), "softmax", UniformPull(), 0.1)
    assert type(classes.penalty) is UniformPull
    assert dg.solve(classes, tol=1e-6).converged


@pytest.mark.parametrize(
    ("penalty", "expected"),
    [
        (Weighted(L1(), WEIGHTS), Weighted(L1(), WEIGHTS[[1, 2]])),
        (Box(-1.0, 2.0, ElasticNet(0.3)), Box(-1.0, 2.0, ElasticNet(0.3))),
        (
            Box(-np.arange(4.0), 5.0, Weighted(L2(), WEIGHTS)),
            Box(np.array([-1.0, -2.0]), np.array([5.0, 5.0]), Weighted(L2(), WEIGHTS[[1, 2]])),
        ),
    ],
)
@pytest.mark.parametrize("intercept", [False, True])
def test_some_features(penalty, expected, intercept):
    problem = dg.Problem(X, Y, "squared", penalty, 0.1, intercept=intercept)
    small = problem.on_features(np.array([1, 2]))
    direct = dg.Problem(X[:, [1, 2]], Y, "squared", expected, 0.1, intercept=intercept)
    w = np.array([1.5, 0.0, 0.7][: small.d])
    assert repr(small.penalty) == repr(direct.penalty)
    assert small.primal(w) == direct.primal(w)


WRONG = {
    "g is declared uniform": {"uniform": True, "value": lambda self, w, j: 0.5 * w * w * (1.0 + j)},
    "g is not its elastic_form": {"elastic_form": structure.ElasticForm(l1=0.0, l2=2.0)},
    "g is finite outside of its bounds": {"bounds": (-1.0, 1.0)},
}


@pytest.mark.parametrize("law", WRONG)
def test_the_laws_cover_what_is_declared(law):
    wrong = type("Wrong", (L2,), WRONG[law])
    with pytest.raises(AssertionError, match=law):
        _check_structure(wrong(), 3, 1)
    for penalty in (L2(), L1(), ElasticNet(0.3), Box(0.1, 0.5), Weighted(L1(), WEIGHTS)):
        _check_structure(penalty, 4, 2)


def test_bounds_in_bounds():
    both = Box(-1.0, 1.0, Box(0.0, np.array([2.0, 0.5])))
    low, high = structure.bounds(both)
    assert low == 0.0
    assert (high == [1.0, 0.5]).all()
    form = structure.elastic_form(both)
    assert (form.l1, form.l2, form.weights) == (0.0, 1.0, None)


def test_what_is_left_without_strength():
    left = structure.without_strength(Box(-1.0, 1.0, Weighted(L1(), WEIGHTS)), 4)
    assert (left.low, left.high) == (-1.0, 1.0)
    assert (left.base.weights == [0.0, 0.0, inf, 0.0]).all()
    assert (structure.without_strength(Pull(), 3).weights == 0.0).all()
