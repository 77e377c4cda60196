"""Bad input gets a ValueError that names the argument; nothing else crashes."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap import losses, penalties
from dualgap.penalties import L1, L2, Box, ElasticNet, NonNegative, Weighted
from dualgap.penalties.structure import facts_of, shape_of

X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 1.0]])
REAL = np.array([1.0, 2.0, 0.5])
LABELS = np.array([1.0, -1.0, 1.0])


def with_entry(value):
    bad = X.copy()
    bad[1, 0] = value
    return bad


def broken_csr():
    matrix = sp.csr_matrix(X)
    matrix.indices = matrix.indices.copy()
    matrix.indices[0] = 99
    return matrix


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (with_entry(np.nan), "X has NaN or infinite"),
        (with_entry(np.inf), "X has NaN or infinite"),
        (sp.csr_array(with_entry(np.nan)), "X has NaN or infinite"),
        (with_entry(1e200), "X has entries of size"),
        (X * 1e-300, "X has entries of size"),
        (np.empty((0, 2)), "X is empty"),
        (np.empty((3, 0)), "X is empty"),
        (sp.csr_array((3, 0)), "X is empty"),
        (X[0], "X must have two dimensions"),
        (X[None], "X must have two dimensions"),
        ([["a", "b"]] * 3, "X must hold"),
        ([[None, object()]] * 3, "X must hold"),
        (X + 1j, "X must hold real numbers"),
        (sp.csr_array(X + 1j), "X must hold real numbers"),
        ([[1.0, 2.0], [3.0], [1.0]], "X must hold"),
        (broken_csr(), "X is a damaged sparse matrix"),
    ],
)
def test_bad_x(bad, says):
    with pytest.raises(ValueError, match=says):
        dg.Problem(bad, REAL)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([1.0, 2.0], "y has 2 entries where 3 are needed"),
        ([1.0, np.nan, 2.0], r"y\[1\] is nan"),
        ([1.0, np.inf, 2.0], r"y\[1\] is inf"),
        ([[1.0], [2.0], [3.0]], r"y must have one dimension.*y.ravel\(\)"),
        (np.array(["1", "2", "3"], dtype=object), "y must hold"),
        (np.ma.masked_array(REAL, [0, 1, 0]), "y has masked entries"),
        (sp.csr_array(REAL[:, None]), "y must be dense"),
        (["a", "b", "c"], "y must hold"),
        ([1.0, 2.0, 1e200], "y has entries of size"),
    ],
)
def test_bad_y(bad, says):
    with pytest.raises(ValueError, match=says):
        dg.Problem(X, bad)


@pytest.mark.parametrize("loss", ["hinge", "smoothed-hinge", "squared-hinge", "logistic"])
def test_labels_must_have_two_values(loss):
    with pytest.raises(ValueError, match="y has one class only"):
        dg.Problem(X, [1.0, 1.0, 1.0], loss)
    with pytest.raises(ValueError, match="y has 3 different values"):
        dg.Problem(X, [0.0, 1.0, 2.0], loss)
    coefficients = []
    for labels in (LABELS, LABELS > 0, np.where(LABELS > 0, 7, 3)):
        problem = dg.Problem(X, labels, loss, lam=0.1)
        assert (problem.y == LABELS).all()
        coefficients.append(dg.solve(problem).coef)
    np.testing.assert_array_equal(coefficients[0], coefficients[1])
    np.testing.assert_array_equal(coefficients[0], coefficients[2])


def test_counts_must_not_be_negative():
    with pytest.raises(ValueError, match="y has negative entries"):
        dg.Problem(X, [1.0, -1.0, 2.0], "poisson")


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([1.0, -1.0, 1.0], "sample_weight has negative"),
        ([0.0, 0.0, 0.0], "sample_weight is zero"),
        ([1.0, 1.0], "sample_weight has 2 entries"),
        ([1.0, np.nan, 1.0], "sample_weight"),
        (["a", "b", "c"], "sample_weight must hold"),
    ],
)
def test_bad_sample_weight(bad, says):
    with pytest.raises(ValueError, match=says):
        dg.Problem(X, REAL, sample_weight=bad)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, "much", "1.0", True, None])
def test_bad_lam(bad):
    with pytest.raises(ValueError, match="lam"):
        dg.Problem(X, REAL, lam=bad)


def test_a_vanishing_lam_is_refused_in_words():
    with pytest.raises(ValueError, match="lam is so small"):
        dg.solve(dg.Problem(X * 1e100, REAL, lam=1e-140))
    with pytest.raises(ValueError, match="lam must be"):
        dg.Problem(X, REAL, lam=1e-200)


def test_an_objective_that_overflows_at_the_start_is_refused():
    with pytest.raises(ValueError, match="objective overflows"):
        dg.solve(dg.Problem(np.abs(X) * 1e4, REAL, "poisson", Box(1.0, 2.0)))


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("huge", "loss 'huge' is unknown"),
        (losses.Hinge, r"write Hinge\(\)"),
        (L2(), "loss must be a loss object"),
        (3, "loss must be"),
        (losses.SmoothedHinge(0.0), "gamma"),
        (losses.Squared(-1.0), "gamma"),
        (losses.Squared(np.inf), "gamma"),
        (losses.Squared(1e-320), "gamma"),
        (losses.SquaredHinge(np.nan), "gamma"),
        (losses.Huber(0.0), "delta"),
        (losses.EpsilonInsensitive(-0.1), "epsilon"),
        (losses.SquaredEpsilonInsensitive(0.1, 0.0), "gamma"),
        (losses.Quantile(1.5), "q must be"),
        (losses.Quantile("half"), "q must be"),
    ],
)
def test_bad_loss(bad, says):
    with pytest.raises(ValueError, match=says):
        dg.Problem(X, LABELS, bad)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("l3", "penalty 'l3' is unknown"),
        (L2, r"write L2\(\)"),
        (losses.Hinge(), "penalty must be"),
        (None, "penalty must be"),
        (ElasticNet(1.5), "l1_ratio"),
        (ElasticNet(-0.1), "l1_ratio"),
        (Box(2.0, 1.0), "high"),
        (Box(np.nan, 1.0), "low"),
        (Box(np.inf, np.inf), "low"),
        (Box(-np.inf, -np.inf), "high"),
        (Box(2.0, 3.0, Box(0.0, 1.0)), "no coefficients at all"),
        (NonNegative("l7"), "penalty 'l7' is unknown"),
        (Weighted(L1(), [1.0]), "weights must have one entry for each of the 2"),
        (Weighted(L1(), [1.0, -1.0]), "weights must be >= 0"),
        (Weighted(L1(), [1.0, np.nan]), "weights must be >= 0"),
        (Weighted(NonNegative(), [1.0, 1.0]), "inside a constraint"),
        (NonNegative(Weighted(L1(), [0.0, 1.0])), "bounded on one side only"),
    ],
)
def test_bad_penalty(bad, says):
    with pytest.raises(ValueError, match=says):
        dg.Problem(X, REAL, penalty=bad)


def test_whole_numbers_are_fine_as_parameters():
    problem = dg.Problem(X.astype(int), [1, 0, 1], losses.SmoothedHinge(1), Box(-1, 1), lam=1)
    assert dg.solve(problem).converged
    assert problem.loss == losses.SmoothedHinge(1.0)
    assert dg.Problem(X, REAL, penalty=Box(0, 1, "l1")).penalty == Box(0.0, 1.0, L1())


@pytest.mark.parametrize("loss", losses.REGISTRY)
@pytest.mark.parametrize("penalty", penalties.REGISTRY)
def test_names_stand_for_objects(loss, penalty):
    problem = dg.Problem(X, np.abs(LABELS - 0.5), loss, penalty)  # numbers > 0
    assert problem.loss == losses.REGISTRY[loss]()
    assert problem.penalty == penalties.REGISTRY[penalty]()
    assert "3 samples x 2 features" in repr(problem)


def test_later_changes_of_y_do_not_matter():
    y, s = REAL.copy(), np.ones(3)
    problem = dg.Problem(X, y, sample_weight=s)
    before = problem.primal(np.zeros(2))
    y[:] = s[:] = 0.0
    assert problem.primal(np.zeros(2)) == before


def test_vectors_of_a_wrong_length_never_reach_a_kernel():
    problem = dg.Problem(X, REAL)
    for method, length in (("decision", 3), ("primal", 1), ("penalty_value", 3), ("average", 2)):
        with pytest.raises(ValueError, match="entries"):
            getattr(problem, method)(np.ones(length))


def test_problems_on_the_same_data_share_what_they_know_of_a_penalty() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    first = dg.Problem(X, y, "squared", penalties.ElasticNet(0.5), 0.1, intercept=True)
    assert first.features.strength[0] == 0.5
    for penalty in (penalties.ElasticNet(0.5), penalties.ElasticNet(0.25), penalties.L1()):
        for lam in (0.1, 3.0):
            shared = dg.Problem(first, 2.0 * y, "squared", penalty, lam, intercept=True)
            alone = dg.Problem(X, 2.0 * y, "squared", penalty, lam, intercept=True)
            np.testing.assert_array_equal(shared.features.strength, alone.features.strength)
            assert shared.scale == alone.scale
            assert shared.primal(np.ones(4)) == alone.primal(np.ones(4))
    other = first.with_penalty(penalties.L2())
    again = dg.Problem(other, y, "squared", penalties.ElasticNet(0.5), 0.1, intercept=True)
    assert again.features.strength[0] == 0.5


@pytest.mark.parametrize("intercept", [False, True, "penalised"])
def test_what_is_remembered_of_a_penalty_is_what_it_says(intercept):
    for lam, width in ((0.1, 2), (0.2, 1), (0.3, 2)):
        for penalty in (L1(), L2(), ElasticNet(0.5), ElasticNet(0.25)):
            one = dg.Problem(X[:, :width], REAL, "squared", penalty, lam, intercept=intercept)
            assert one.feature_penalty == penalty
            facts = facts_of(one.penalty, one.d)
            np.testing.assert_array_equal(one.features, facts)
            np.testing.assert_array_equal(one.penalty_shape, shape_of(one.penalty, one.d))
            np.testing.assert_array_equal(one.free_places, np.flatnonzero(facts.free))
        for _ in range(2):
            with pytest.raises(ValueError, match="l1_ratio"):
                dg.Problem(X, REAL, "squared", ElasticNet(2.0), lam, intercept=intercept)
