"""Domains of targets: those of this package, and that of docs/extend/proportion.py."""

from typing import NamedTuple

import numpy as np
import pytest
from proportion import Proportion

import dualgap as dg
from dualgap.estimators import CertifiedClassifier, CertifiedRegressor
from dualgap.losses.targets import DOMAINS, contains_yz, mean, targets_of
from dualgap.testing import check_loss


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = rng.binomial(10, 1.0 / (1.0 + np.exp(-X @ [1.0, -2.0, 0.0, 0.5]))) / 10.0
    return X, y


def test_a_loss_for_proportions_obeys_the_laws():
    assert targets_of(Proportion()).examples == (0.0, 1.0, 0.3)
    check_loss(Proportion())


@pytest.mark.parametrize(
    ("method", "intercept"), [("auto", False), ("sdca", False), ("newton", True)]
)
def test_proportions_are_solved_and_certified(data, method, intercept):
    X, y = data
    problem = dg.Problem(X, y, Proportion(), "l2", 0.01, intercept=intercept)
    solution = dg.solve(problem, method, tol=1e-8)
    assert solution.converged
    again = dg.certify(problem, solution.coef, intercept=solution.intercept)
    assert 0.0 <= again.gap <= 1e-6 * again.scale
    rates = mean(problem.loss, X @ solution.coef + solution.intercept)
    assert np.corrcoef(rates, y)[0, 1] > 0.9


def test_proportions_are_those_of_repeated_labels(data):
    """Samples with proportions are samples with labels 0 and 1 and these weights."""
    X, y = data
    found = dg.solve(dg.Problem(X, y, Proportion(), "l2", 0.01), tol=1e-10)
    twice = dg.Problem(
        np.vstack([X, X]), np.repeat([1, 0], 60), "logistic", "l2", 0.01, np.append(y, 1.0 - y)
    )
    np.testing.assert_allclose(found.coef, dg.solve(twice, tol=1e-10).coef, atol=1e-4)


def test_an_estimator_fits_proportions(data):
    X, y = data
    model = CertifiedRegressor(Proportion(), alpha=0.01).fit(X, y)
    assert model.certificate_.gap <= 1e-4 * model.certificate_.scale
    with pytest.raises(ValueError, match="use CertifiedRegressor"):
        CertifiedClassifier(Proportion()).fit(X, y > 0.5)


@pytest.mark.parametrize(("wrong", "said"), [(-0.1, "negative entries"), (1.5, "entries above 1")])
def test_other_numbers_are_refused_in_words(data, wrong, said):
    X, y = data
    y = np.append(y[1:], wrong)
    words = f"y has {said}; Proportion needs proportions from 0 to 1"
    with pytest.raises(ValueError, match=words):
        dg.Problem(X, y, Proportion())
    with pytest.raises(ValueError, match=words):
        CertifiedRegressor(Proportion()).fit(X, y)


def test_partitions_accept_the_same_targets(data):
    X, y = data
    problem = dg.Problem(X, y, Proportion(), "l2", 0.01, intercept=True)
    found = dg.distributed.solve(problem, partitions=3, tol=1e-6)
    assert found.converged
    np.testing.assert_allclose(found.coef, dg.solve(problem, tol=1e-8).coef, atol=2e-2)


def test_words_stand_for_domains():
    class Own(NamedTuple):
        targets = "count"

    assert targets_of(Own()) is DOMAINS["count"]
    assert contains_yz(Own())
    assert mean(Own(), np.zeros(1)) == 1.0
    for name, kind in dg.losses.REGISTRY.items():
        assert targets_of(kind()) is DOMAINS[kind.targets]
        assert contains_yz(kind()) == (name == "poisson")


@pytest.mark.parametrize("wrong", ["reals", 3, None])
def test_an_unknown_domain_is_refused(data, wrong):
    class Own(Proportion):
        targets = wrong

    with pytest.raises(ValueError, match="targets of Own must be one of real, count"):
        dg.Problem(*data, Own())
