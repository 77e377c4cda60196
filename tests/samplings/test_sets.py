"""Sets of samples: how they are drawn, and that v bounds what it should, for all sets if few."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare
from set_data import blocks, equally_likely

import dualgap as dg
from dualgap import samplings
from dualgap.penalties import ElasticNet, Weighted
from dualgap.samplings import Arbitrary, Distributed, Full, Product, TauNice, eso
from dualgap.samplings.floyd import draw_subsets
from dualgap.samplings.scores import Scores
from dualgap.steps import DisDCA
from dualgap.testing import check_eso, check_sampling


def data(kind, n=8, d=6, seed=0):
    """Rows of unequal norms, the first of them zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.exponential(size=(n, 1))
    if kind != "dense":
        X *= rng.random((n, d)) < 0.4
    X[0] = 0.0
    if kind == "aligned":
        X = np.outer(np.arange(n), np.ones(d))  # where Cauchy and Schwarz are equalities
    return X


def together(sets, n):
    """P_ik, the probability that i and k are drawn together."""
    marks = np.zeros((len(sets), n))
    for mark, members in zip(marks, sets):
        mark[list(members)] = 1.0
    return marks.T @ marks / len(sets)


def slack(P, v, X):
    """The least eigenvalue of diag(p∘v) − P∘XXᵀ; (15) holds if it is not negative."""
    return np.linalg.eigvalsh(np.diag(np.diag(P) * v) - P * (X @ X.T)).min()


SMALL = [
    *(TauNice(tau) for tau in (1, 2, 5, 8)),
    Full(),
    *(Distributed(c, tau) for c, tau in [(1, 3), (2, 1), (2, 3), (2, 4), (4, 1), (4, 2), (8, 1)]),
    *(Distributed(c, tau) for c, tau in [(3, 1), (3, 2), (3, 3), (5, 1), (5, 2), (7, 2)]),
]


@pytest.mark.parametrize("kind", ["sparse", "dense", "aligned"])
@pytest.mark.parametrize("sampling", SMALL, ids=str)
def test_v_of_the_lemmas_bounds_all_sets_exactly(sampling, kind):
    X = data(kind)
    problem = dg.Problem(X, np.zeros(8))
    assert sampling.refusal(problem, "dual") is None
    p = sampling.weights(samplings.Scores(*np.ones((5, 8))))
    P = together(equally_likely(sampling, 8), 8)
    np.testing.assert_allclose(np.diag(P), p)
    v = sampling.eso(problem, p)
    assert slack(P, v, X) >= -1e-10 * v.max()
    # No v is needlessly large: the aligned data would break a smaller one.
    if kind == "aligned" and not isinstance(sampling, Distributed):
        assert slack(P, 0.99 * v, X) < 0.0


def test_lemma_8_for_dense_aligned_data_is_tight():
    X = np.ones((8, 1))
    for c, tau in [(2, 3), (4, 1), (8, 1)]:
        P = together(equally_likely(Distributed(c, tau), 8), 8)
        v = eso.distributed(X, c, tau)
        np.testing.assert_allclose(v, c * tau)
        assert abs(slack(P, v, X)) < 1e-12


@pytest.mark.parametrize("sampling", [TauNice(3), Full(), Distributed(3, 2), Product(2)], ids=str)
def test_v_follows_the_metric_of_the_penalty(sampling):
    X, _ = blocks([3, 4], zeros=1)
    weights = np.array([0.5, 2.0, 3.0, np.inf])
    problem = dg.Problem(X, np.zeros(8), penalty=Weighted(ElasticNet(0.5), weights))
    bound = sampling.bind(problem)
    p = bound.weights(samplings.Scores(*np.ones((5, 8))))
    P = together(equally_likely(bound, 8), 8)
    scaled = X / np.sqrt(0.5 * weights)
    v = bound.eso(problem, p)
    assert slack(P, v, scaled) >= -1e-10
    np.testing.assert_allclose(v, bound.eso(dg.Problem(scaled, np.zeros(8)), p), rtol=1e-12)


@pytest.mark.parametrize("zeros", [0, 3])
def test_lemma_7_exactly(zeros):
    X, _ = blocks([2, 3, 1, 2], zeros)
    n = len(X)
    problem = dg.Problem(X, np.zeros(n))
    bound = Product(3).bind(problem)
    p = bound.weights(samplings.Scores(*np.ones((5, n))))
    P = together(equally_likely(bound, n), n)
    np.testing.assert_allclose(np.diag(P), p)
    v = bound.eso(problem, p)
    np.testing.assert_allclose(v, (X**2).sum(axis=1))
    assert slack(P, v, X) >= -1e-12


LARGER = [
    samplings.Uniform(),
    samplings.Importance(),
    TauNice(1),
    TauNice(7),
    TauNice(41),
    Full(),
    Distributed(4, 3),
    Distributed(41),
    Arbitrary(lambda rng: np.flatnonzero(rng.random(41) < 0.1), np.full(41, 0.1)),
]


@pytest.mark.parametrize("kind", ["sparse", "dense", "aligned"])
@pytest.mark.parametrize("sampling", LARGER, ids=lambda s: type(s).__name__)
def test_laws_of_v(sampling, kind):
    X = data(kind, n=41, d=20)
    check_eso(sp.csr_array(X) if kind == "sparse" else X, sampling)


def test_law_of_v_for_groups():
    X, _ = blocks([3, 9, 4, 7], zeros=2)
    check_eso(sp.csc_array(X), Product(3))


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_a_v_that_is_too_small_is_found(kind):
    X = data(kind, n=41, d=20)

    def draw(rng):
        return rng.permutation(41)[:20]

    p = np.full(41, 20 / 41)
    check_eso(X, (p, eso.tau_nice(X, 20), draw))
    with pytest.raises(AssertionError, match="v is too small"):
        check_eso(X, (p, eso.serial(X), draw))
    with pytest.raises(AssertionError, match="marginals differ"):
        check_eso(X, (p / 3, eso.tau_nice(X, 20), draw))


# --- counting -----------------------------------------------------------------------------------


def test_stored_zeros_are_no_entries():
    X = data("sparse", n=30)
    stored = sp.csr_array(np.where(X == 0.0, 1.0, X))
    stored.data[np.isin(stored.data, 1.0)] = 0.0
    assert stored.nnz == X.size
    for given in (stored, stored.tocsc(), X, np.asfortranarray(X), X.astype(np.float32)):
        expected = ((1 + ((X != 0).sum(axis=0) - 1) * 4 / 29) * X**2).sum(axis=1)
        np.testing.assert_allclose(eso.tau_nice(given, 5), expected, rtol=1e-6)


def test_lemma_8_by_hand():
    X = data("sparse", n=12)
    omega = (X != 0).sum(axis=0)
    active = (np.abs(X).reshape(4, 3, -1).sum(axis=1) > 0).sum(axis=0)
    tau, inner = 2, 3 - 1
    last = (tau * 4 / 12 - (tau - 1) / inner) * (active - 1) / active * omega
    factors = 1 + (tau - 1) * (omega - 1) / inner + last
    np.testing.assert_allclose(eso.distributed(X, 4, tau), X**2 @ factors)
    np.testing.assert_allclose(eso.distributed(X, 1, 5), eso.tau_nice(X, 5))
    # Lemma 17: the partition matters less than one part in τ − 1.
    assert (last <= (1 + (tau - 1) * (omega - 1) / inner) / (tau - 1) + 1e-12).all()


def test_v_grows_with_the_sets_up_to_the_sure_bound():
    X = data("sparse", n=40)
    grown = np.array([eso.tau_nice(X, tau) for tau in (1, 2, 10, 40)])
    np.testing.assert_allclose(grown[0], eso.serial(X))
    assert (np.diff(grown, axis=0) >= 0.0).all()
    assert (np.diff(grown, axis=0)[:, 1:] > 0.0).any()
    assert (grown[2] <= 10 * grown[0] + 1e-12).all()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda X: eso.tau_nice(X, 9), "tau must be at most 8"),
        (lambda X: eso.tau_nice(X, 0), "tau must be at least 1"),
        (lambda X: eso.distributed(X, 3, 4), "fewer than tau=4"),
        (lambda X: eso.distributed(X, 9, 1), "c must be at most 8"),
        (lambda X: eso.product(X, [0, 1] * 4), "share 6 features, the first of them feature 0"),
        (lambda X: eso.product(X, [0, 1]), "2 labels where 8"),
        (lambda X: eso.product(X, [[0, 1, 2], [3, 4, 5, 6]]), "exactly once"),
        (lambda X: eso.product(X, [range(8), []]), "exactly once|empty group"),
        (lambda X: eso.estimate(X, TauNice(9)), "fewer than tau=9"),
    ],
)
def test_what_does_not_fit_is_said(call, says):
    with pytest.raises(ValueError, match=says):
        call(data("dense"))


@pytest.mark.parametrize("tau", [1, 2])
def test_lemma_8_for_a_partition_of_ones_own(tau):
    """Exactly, over all sets."""
    labels = np.array([2, 0, 1, 0, 2, 1, 0, 2])
    sampling = Distributed(tau=tau, partition=labels)
    problem = dg.Problem(data("dense"), np.zeros(8))
    assert sampling.c == 3
    P = together(equally_likely(sampling, 8), 8)
    p = sampling.weights(Scores(*np.ones((5, 8))))
    np.testing.assert_allclose(np.diag(P), p)
    X = problem.X
    bound = np.diag(p * sampling.eso(problem, p))
    assert np.linalg.eigvalsh(bound - P * (X @ X.T)).min() >= -1e-10
    drawn = sampling.draw(p, 24_000, np.random.default_rng(0))
    sets = np.split(drawn.order, drawn.offsets[1:-1])
    found = sum(np.bincount(s, minlength=8)[:, None] * np.bincount(s, minlength=8) for s in sets)
    np.testing.assert_allclose(found / len(sets), P, atol=0.03)
    lists = [np.flatnonzero(labels == k) for k in range(3)]
    assert sampling == Distributed(tau=tau, partition=lists)
    assert sampling != Distributed(3, tau)
    run = dg.solve(
        dg.Problem(problem.X, np.arange(8.0), lam=0.3),
        DisDCA(),
        sampling,
        tol=1e-3,
        max_epochs=2_000,
    )
    assert run.converged


def test_groups_of_ones_own():
    X, block = blocks([3, 4, 2])
    problem = dg.Problem(X, np.zeros(9))
    sampling = Product(groups=block)
    assert sampling.tau == 3
    assert sampling.refusal(problem, "dual") is None
    p = sampling.bind(problem).weights(Scores(*np.ones((5, 9))))
    np.testing.assert_allclose(p, 1 / np.bincount(block)[block])
    check_eso(X, sampling)
    assert dg.solve(problem, "quartz", sampling, tol=1e-3).converged
    for groups, says in (
        ([0, 1] * 5, "it has 9 samples, and groups hold 10"),
        ([0] * 5 + [1] * 4, "groups share"),
    ):
        with pytest.raises(ValueError, match=says):
            dg.solve(problem, "quartz", Product(groups=groups))
    with pytest.raises(ValueError, match="there are 3 groups, and tau is 2"):
        Product(2, groups=block)
    with pytest.raises(ValueError, match="3 parts, and c is 2"):
        Distributed(2, 1, partition=block)


def test_groups_may_be_labels_or_lists():
    X, block = blocks([3, 4, 2])
    lists = [np.flatnonzero(block == k) for k in range(3)]
    for groups in (block, list(block), [f"node {k}" for k in block], lists):
        np.testing.assert_array_equal(eso.product(X, groups), eso.serial(X))


# --- estimates ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sparse", "dense", "aligned"])
@pytest.mark.parametrize("tau", [1, 3, 8])
def test_estimate_is_near_the_best_multiple(kind, tau):
    X = data(kind)
    w = (X**2).sum(axis=1)
    P = together(equally_likely(TauNice(tau), 8), 8)
    used = w > 0.0
    scale = np.sqrt(np.diag(P) * w)[used]
    best = np.linalg.eigvalsh((P * (X @ X.T))[used][:, used] / np.outer(scale, scale)).max()
    found = eso.estimate(X, TauNice(tau))
    assert (found[~used] == 0.0).all()
    t = found[used] / w[used]
    assert np.ptp(t) <= 1e-12 * t.max()
    assert 0.98 * best <= t[0] <= min(1.4 * best, tau) + 1e-9
    np.testing.assert_allclose(found, eso.estimate(sp.csc_array(X), TauNice(tau)))


def test_estimate_beats_the_sure_bound_on_sparse_data():
    X = sp.random(200, 400, density=0.01, format="csr", random_state=0)
    t = (eso.estimate(X, TauNice(20)) / np.maximum(eso.serial(X), 1e-300)).max()
    assert 1.0 <= t < 5.0


def test_estimate_where_nothing_interferes_is_serial():
    X = np.diag(np.arange(6.0))
    np.testing.assert_allclose(eso.estimate(X, Product(2)), 1.1 * eso.serial(X))
    np.testing.assert_array_equal(eso.estimate(np.zeros((4, 2)), Full()), np.zeros(4))


def test_arbitrary_sets_with_their_estimate():
    """Pairs that always come together, and a sample that rarely does."""
    X = data("dense")

    def draw(rng):
        pair = rng.integers(3)
        return [2 * pair, 2 * pair + 1] + [6] * (rng.random() < 0.05) + [7]

    p = np.array([1 / 3] * 6 + [0.05, 1.0])
    sampling = Arbitrary(draw, p)
    problem = dg.Problem(X, np.zeros(8))
    check_sampling(sampling, problem=problem)
    check_eso(X, sampling)
    sets = [((2 * k, 2 * k + 1, 7), 19) for k in range(3)]
    sets += [((2 * k, 2 * k + 1, 6, 7), 1) for k in range(3)]
    P = together([members for members, times in sets for _ in range(times)], 8)
    assert slack(P, sampling.eso(problem, p), X) >= 0.0


def test_estimates_and_vectors_follow_the_metric():
    X = data("dense")
    problem = dg.Problem(X, np.zeros(8), penalty=Weighted("l2", np.full(6, 0.25)))

    def draw(rng):
        return rng.permutation(8)[:3]

    p = np.full(8, 3 / 8)
    np.testing.assert_allclose(
        Arbitrary(draw, p).eso(problem, p), 4.0 * eso.estimate(X, Arbitrary(draw, p)), rtol=1e-9
    )
    given = Arbitrary(draw, p, eso.tau_nice(X, 3))
    np.testing.assert_allclose(given.eso(problem, p), 4.0 * eso.tau_nice(X, 3))


# --- drawing ------------------------------------------------------------------------------------


def test_floyd_draws_all_subsets_equally_often():
    order, offsets = draw_subsets(6, 6, np.random.default_rng(0).random((30_000, 1, 3)))
    assert (np.diff(offsets) == 3).all()
    names = np.sort(order.reshape(-1, 3), axis=1) @ [36, 6, 1]
    _, counts = np.unique(names, return_counts=True)
    assert len(counts) == 20
    assert chisquare(counts).pvalue > 1e-4


def test_coins_of_one_stay_inside():
    order, _ = draw_subsets(5, 5, np.full((1, 1, 5), np.nextafter(1.0, 0.0)))
    assert sorted(order) == list(range(5))


def test_parts_are_drawn_independently_and_completed_with_zeros():
    drawn = Distributed(3, 2).draw(np.ones(8), 60_000, np.random.default_rng(0))
    sets = np.split(drawn.order, drawn.offsets[1:-1])
    assert {len(members) for members in sets} == {5, 6}
    P = together(sets, 8)
    expected = together(equally_likely(Distributed(3, 2), 8), 8)
    assert np.abs(P - expected).max() < 5 * 0.5 / np.sqrt(len(sets))


@pytest.mark.parametrize("sampling", [TauNice(5), Distributed(3, 2), Product(4), Full()], ids=str)
@pytest.mark.parametrize("count", [1, 17, 1000])
def test_about_as_many_indices_as_asked(sampling, count):
    problem = dg.Problem(np.eye(17), np.zeros(17))
    bound = sampling.bind(problem)
    weights = bound.weights(samplings.Scores(*np.ones((5, 17))))
    drawn = bound.draw(weights, count, np.random.default_rng(0))
    assert len(drawn.offsets) >= 2
    assert drawn.offsets[-1] == len(drawn.order)
    assert abs(len(drawn.order) - count) <= weights.sum() + 0.02 * count


SEVENTEEN = [
    *(TauNice(tau) for tau in (1, 6, 17)),
    *(Distributed(c, tau) for c, tau in [(1, 1), (4, 2), (4, 5), (17, 1), (6, 3)]),
    *(Product(tau) for tau in (1, 4, 17)),
    Arbitrary(lambda rng: np.flatnonzero(rng.random(17) < 0.02), np.full(17, 0.02)),
]


@pytest.mark.parametrize("sampling", SEVENTEEN, ids=lambda s: repr(s)[:24])
def test_laws_of_sets(sampling):
    check_sampling(sampling)


class Twice(TauNice):
    def draw(self, weights, count, rng):
        return samplings.Sets(np.zeros(count, int), np.arange(0, count + 1, 2))


class First(TauNice):
    def draw(self, weights, count, rng):
        return samplings.Sets(np.arange(count) % 2, np.arange(0, count + 1, 2))


class Few(TauNice):
    def draw(self, weights, count, rng):
        return super().draw(weights, 1, rng)


@pytest.mark.parametrize(
    ("sampling", "sentence"),
    [
        (Twice(2), "no sample twice"),
        (First(2), "marginals differ"),
        (Few(2), "about as many"),
        (TauNice(18), "must accept"),
        (Arbitrary(lambda rng: rng.permutation(17)[:3], np.full(17, 2 / 17)), "marginals differ"),
    ],
)
def test_broken_sets_are_found(sampling, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_sampling(sampling)


# --- groups -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [1, 2, 3, 5])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
def test_groups_are_unions_of_blocks(tau, make):
    X, block = blocks([4, 9, 2, 6, 5], zeros=4)
    sampling = Product(tau)
    problem = dg.Problem(make(X), np.zeros(30))
    assert sampling.refusal(problem, "dual") is None
    groups = sampling.bind(problem).groups
    assert len(groups) == tau
    assert sorted(np.concatenate(groups)) == list(range(30))
    owners = [set(block[group]) - {-1} for group in groups]
    assert sum(map(len, owners)) == 5  # no block is in two groups
    assert all(owners)
    sizes = [len(group) for group in groups]
    assert max(sizes) <= {1: 30, 2: 15, 3: 11, 5: 9}[tau]
    np.testing.assert_array_equal(eso.product(X, groups), eso.serial(X))
    assert sampling == Product(tau)
    assert repr(sampling) == f"Product(tau={tau})"
    assert sampling.groups == ()


def test_connected_data_has_no_groups():
    problem = dg.Problem(data("dense"), np.zeros(8))
    assert "splits into 1 group " in Product(2).refusal(problem, "dual")
    X, _ = blocks([3, 3, 3], zeros=5)
    says = Product(4).refusal(dg.Problem(X, np.zeros(14)), "dual")
    assert "splits into 3 groups" in says
    assert "Product(3) or TauNice(4)" in says
    with pytest.raises(ValueError, match="bind"):
        Product(2).draw(np.ones(3), 1, np.random.default_rng(0))


def test_stored_zeros_connect_nothing():
    X = sp.csr_array(np.ones((4, 4)))
    X.data[:] = np.eye(4).ravel()
    assert len(Product(4).bind(dg.Problem(X, np.zeros(4))).groups) == 4
    assert X.nnz == 16  # and the user's matrix keeps them


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: TauNice(0), "tau"),
        (lambda: TauNice(2.0), "tau"),
        (lambda: Distributed(0), "c "),
        (lambda: Distributed(2, 0), "tau"),
        (lambda: Product(-1), "tau"),
        (lambda: Arbitrary([0, 1], [0.5, 0.5]), "draw must be a function"),
        (lambda: Arbitrary(len, [0.5, 0.0]), "each sample needs a chance"),
        (lambda: Arbitrary(len, [0.5, 1.1]), "p must hold probabilities"),
        (lambda: Arbitrary(len, [0.5, 0.5], "guess"), "eso must be"),
        (lambda: Arbitrary(len, [0.5, 0.5], [1.0]), "eso has 1 entries where 2"),
    ],
)
def test_bad_parameters_are_named(make, names):
    with pytest.raises(ValueError, match=names):
        make()


@pytest.mark.parametrize(
    ("sampling", "says"),
    [
        (TauNice(9), "fewer than tau=9"),
        (Distributed(9), "fewer than c=9"),
        (Distributed(3, 4), "3 samples, fewer than tau=4"),
        (Arbitrary(len, np.full(7, 0.5)), "p has 7 entries"),
        (Arbitrary(len, np.full(8, 0.5), np.full(8, 1e-3)), "eso[1] is 0.001"),
    ],
)
def test_samplings_refuse_data_that_does_not_fit(sampling, says):
    problem = dg.Problem(data("dense"), np.zeros(8))
    assert says in sampling.refusal(problem, "dual")
    assert "samples are the coordinates" in sampling.refusal(problem, "primal")


@pytest.mark.parametrize(
    ("drawn", "says"),
    [
        ([0, 8], "from 0 to 7"),
        ([-1], "from 0 to 7"),
        ([1, 1], "distinct"),
        ([0.5], "vector of indices"),
        ([[0, 1]], "vector of indices"),
        ([], "empty sets"),
    ],
)
def test_a_user_s_sets_are_checked(drawn, says):
    sampling = Arbitrary(lambda rng: drawn, np.full(8, 0.5))
    with pytest.raises(ValueError, match=says):
        sampling.draw(sampling.p, 8, np.random.default_rng(0))


def test_coordinate_steps_want_no_sets():
    problem = dg.Problem(data("dense"), np.zeros(8))
    with pytest.raises(ValueError, match="draws sets"):
        dg.solve(problem, "cd-uniform", sampling="full")
