"""Penalties on groups: which groups are accepted, the laws, and what breaks them."""

from math import inf
from typing import Any, NamedTuple

import numpy as np
import pytest

import dualgap as dg
from dualgap.penalties import (
    L1,
    Box,
    ElasticNet,
    GroupLasso,
    NonNegative,
    SparseGroupLasso,
    Weighted,
    structure,
)
from dualgap.penalties.partition import check_groups
from dualgap.testing import check_penalty

SCATTERED = [[5, 0], [1, 2, 3, 8], [], [4], [6, 7, 9]]
WEIGHTS = np.array([1.0, 0.5, 3.0, 2.0, 0.0])


# --- groups ---------------------------------------------------------------------------------------


def test_three_ways_to_name_the_same_groups():
    for groups in (2, [2, 2, 2], [[0, 1], [2, 3], [4, 5]], np.array([2, 2, 2])):
        found = check_groups(groups, 6)
        assert found.order.tolist() == list(range(6))
        assert found.starts.tolist() == [0, 2, 4, 6]


def test_groups_may_be_empty_of_one_feature_or_not_contiguous():
    found = check_groups(SCATTERED, 10)
    assert found.sizes.tolist() == [2, 4, 0, 1, 3]
    assert found.labels.tolist() == [0, 1, 1, 1, 3, 0, 4, 4, 1, 4]
    assert check_groups([10], 10).sizes.tolist() == [10]


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (4, "groups=4 does not divide the 10 features"),
        (0, "groups=0 does not divide"),
        ([4, 4], "add up to 8, where there are 10 features"),
        ([12, -2], "negative size"),
        ([[0, 1, 2], [2, 3, 4, 5, 6, 7, 8, 9]], "overlap: feature 2 is in groups 0 and 1"),
        ([[0, 0, 1], [2, 3, 4, 5, 6, 7, 8, 9]], "overlap: feature 0 is in group 0 twice"),
        ([[0, 1], [3, 4, 5, 6, 7, 8, 9]], "leave out feature 2"),
        ([[0, 1], [2, 3, 4, 5, 6, 7, 8, 10]], r"groups\[1\] has feature 10"),
        ([[0, 1], [-1]], r"groups\[1\] has feature -1"),
        ([[0.5, 1.0]], "whole numbers"),
        ("all", "must be the size of all groups"),
        (True, "must be the size of all groups"),
        (2.0, "must be the size of all groups"),
    ],
)
def test_other_groups_are_refused_in_words(groups, words):
    with pytest.raises(ValueError, match=words):
        GroupLasso(groups).checked(10)


def test_partitions_of_other_data_are_refused():
    """Kernels would follow their indices out of bounds."""
    with pytest.raises(ValueError, match="groups are those of 10 features, where there are 12"):
        GroupLasso(check_groups(5, 10)).checked(12)


def test_groups_on_some_of_the_features():
    kept = np.array([0, 2, 4, 9])
    found = GroupLasso(SCATTERED, WEIGHTS).checked(10).on_features(kept)
    assert found.groups.labels.tolist() == [0, 1, 3, 4]
    assert found.groups.n_groups == len(WEIGHTS)


@pytest.mark.parametrize(
    ("penalty", "words"),
    [
        (GroupLasso(5, [1.0]), "weights must have one entry for each of the 2 groups"),
        (GroupLasso(5, [1.0, -1.0]), "weights must be finite numbers >= 0"),
        (GroupLasso(5, [1.0, inf]), "weights must be finite numbers >= 0"),
        (GroupLasso(5, l1_ratio=1.5), "l1_ratio must be >= 0 and <= 1"),
        (GroupLasso(5, [0.0, 1.0], positive=True), "cannot be bounded on one side"),
        (SparseGroupLasso(5, -0.5), "tau must be >= 0"),
        (SparseGroupLasso(5, 1.0, positive=True, feature_weights=[0] * 10), "on one side"),
        (SparseGroupLasso(5, 1.0, feature_weights=[0, *[1] * 9]), "feature 0 has no penalty"),
        (Box(0.0, 1.0, GroupLasso(5)), "is on groups of features and cannot be the base"),
        (Weighted(GroupLasso(5), np.ones(10)), "is on groups of features and cannot be the base"),
    ],
)
def test_parameters_are_checked(penalty, words):
    with pytest.raises(ValueError, match=words):
        structure.check_penalty(penalty, 10)


def test_nonnegative_makes_a_penalty_on_groups_positive():
    assert NonNegative(GroupLasso(2)) == GroupLasso(2, positive=True)
    assert NonNegative(SparseGroupLasso(2)).positive


def test_a_penalised_intercept_is_refused():
    X = np.eye(4)
    with pytest.raises(ValueError, match="leaves the intercept alone"):
        dg.Problem(X, np.arange(4.0), "squared", GroupLasso(2), 1.0, intercept="penalised")


# --- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "penalty",
    [
        GroupLasso(SCATTERED),
        GroupLasso(SCATTERED, WEIGHTS),
        GroupLasso(SCATTERED, WEIGHTS, l1_ratio=0.4),
        GroupLasso(SCATTERED, l1_ratio=0.0),
        GroupLasso(SCATTERED, WEIGHTS + 1.0, l1_ratio=0.4, positive=True),
        GroupLasso(SCATTERED, positive=True),
        SparseGroupLasso(SCATTERED, 0.3),
        SparseGroupLasso(SCATTERED, 0.3, WEIGHTS),
        SparseGroupLasso(SCATTERED, 0.0, WEIGHTS),
        SparseGroupLasso(SCATTERED, 1.0, WEIGHTS),
        SparseGroupLasso(SCATTERED, 0.6, WEIGHTS + 1.0, l1_ratio=0.7, positive=True),
        SparseGroupLasso(SCATTERED, 0.6, WEIGHTS + 1.0, feature_weights=np.arange(10.0)),
        SparseGroupLasso(SCATTERED, 0.6, WEIGHTS, l1_ratio=0.7),
    ],
    ids=repr,
)
def test_penalties_on_groups_obey_the_laws(penalty):
    check_penalty(penalty, 10)


class Broken(NamedTuple):
    """A group lasso, some rules of which a test replaces."""

    groups: Any
    weights: Any

    l1_ratio = 1.0
    positive = False
    value = GroupLasso.value
    conj = GroupLasso.conj
    conj_slope_into = GroupLasso.conj_slope_into
    prox_into = GroupLasso.prox_into
    gauge = GroupLasso.gauge
    strength = GroupLasso.strength


def half_conj(self, u, k):
    return 0.0 if np.linalg.norm(u) <= 2.0 * self.weights[k] else inf


def steep_prox(self, u, t, k, out):
    GroupLasso.prox_into(self, u, 2.0 * t, k, out)


def small_gauge(self, u, k):
    return 0.5 * GroupLasso.gauge(self, u, k)


def strong(self, k):
    return 0.1


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"conj": half_conj}, "conj"),
        ({"prox_into": steep_prox}, "prox_into is not the minimiser"),
        ({"gauge": small_gauge}, "gauge"),
        ({"strength": strong}, "strength"),
    ],
)
def test_a_broken_rule_is_found(rule, words):
    kind = type("Bad", (Broken,), rule)
    with pytest.raises(AssertionError, match=words):
        check_penalty(kind(check_groups(SCATTERED, 10), np.ones(5)), 10)


def test_the_sparse_group_lasso_ends_at_its_relatives():
    """τ = 0 is the group lasso; τ = 1 and groups of one feature are the Lasso."""
    rng = np.random.default_rng(0)
    u, out, same = rng.standard_normal((3, 4))
    group = GroupLasso([4], [1.7]).checked(4)
    sparse = SparseGroupLasso([4], 0.0, [1.7]).checked(4)
    for t in (0.1, 1.0, 10.0):
        group.prox_into(u, t, 0, out)
        sparse.prox_into(u, t, 0, same)
        np.testing.assert_allclose(out, same, rtol=1e-14)
    assert sparse.gauge(u, 0) == pytest.approx(group.gauge(u, 0), rel=1e-13)
    lasso, net = SparseGroupLasso([4], 1.0).checked(4), SparseGroupLasso(1, 0.5).checked(4)
    lasso.prox_into(u, 0.3, 0, out)
    np.testing.assert_allclose(out, [L1().prox(v, 0.3, 0) for v in u], rtol=1e-14)
    assert lasso.gauge(u, 0) == pytest.approx(np.abs(u).max(), rel=1e-13)
    for j in range(4):
        net.prox_into(u[j : j + 1], 0.3, j, out[:1])
        assert out[0] == pytest.approx(ElasticNet(1.0).prox(u[j], 0.3, j), rel=1e-14)
