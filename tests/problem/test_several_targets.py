"""Several targets in one problem: independent optima, certificates, and what is refused."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import MultiTaskElasticNet, MultiTaskLasso

import dualgap as dg
from dualgap.penalties import GroupLasso, SparseGroupLasso
from dualgap.proof.screening import proven_zero
from dualgap.run.path import grid, lambda_max, path

N, P, K = 50, 30, 3
rng = np.random.default_rng(2)
X = rng.standard_normal((N, P)) + rng.standard_normal(P)
COEF = np.zeros((P, K))
COEF[:4] = rng.standard_normal((4, K))
Y = X @ COEF + 0.5 * rng.standard_normal((N, K)) + np.array([0.0, 5.0, -30.0])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_matrix, sp.csc_matrix])
def test_the_optimum_is_that_of_scikit_learn(kind, ratio, intercept):
    penalty = GroupLasso(1, l1_ratio=ratio)
    problem = dg.Problem(kind(X), Y, "squared", penalty, 1.0, intercept=intercept)
    problem = problem.with_lam(0.1 * lambda_max(problem))
    solution = dg.solve(problem, tol=1e-10)
    assert solution.converged
    model = MultiTaskElasticNet(
        problem.lam, l1_ratio=ratio, fit_intercept=intercept, tol=1e-12, max_iter=100_000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, Y)
    np.testing.assert_allclose(solution.coef, model.coef_.T, atol=1e-7)
    np.testing.assert_allclose(solution.intercept, model.intercept_ + np.zeros(K), atol=1e-6)
    other = dg.certify(problem, model.coef_.T, intercept=model.intercept_ if intercept else 0.0)
    assert other.primal == pytest.approx(solution.certificate.primal, rel=1e-9)
    assert solution.certificate.dual <= other.upper


def test_separate_problems_sum_up_where_the_penalty_separates():
    """With L1 alone, each target is a problem of its own."""
    weights = rng.integers(0, 4, N).astype(float)
    penalty = SparseGroupLasso(3, 1.0)
    joined = dg.Problem(X, Y, "squared", penalty, 0.3, weights, intercept=True)
    alone = [dg.Problem(X, y, "squared", "l1", 0.3, weights, intercept=True) for y in Y.T]
    proof = dg.solve(joined, tol=1e-10).certificate
    proofs = [dg.solve(problem, tol=1e-10).certificate for problem in alone]
    assert proof.primal == pytest.approx(sum(one.primal for one in proofs), rel=1e-9)
    assert joined.scale == pytest.approx(sum(problem.scale for problem in alone), rel=1e-2)
    highest = max(lambda_max(problem) for problem in alone)
    assert lambda_max(joined) == pytest.approx(highest, rel=1e-9)


def test_any_coefficients_can_be_certified():
    problem = dg.Problem(X, Y, "squared", GroupLasso(5), 0.3, intercept=True)
    best = dg.solve(problem, tol=1e-12).certificate
    for scale in (0.0, 1e-3, 1.0, 100.0):
        coef, intercept = scale * rng.standard_normal((P, K)), scale * rng.standard_normal(K)
        proof = dg.certify(problem, coef, intercept=intercept)
        assert proof.dual <= best.upper
        assert proof.upper >= best.dual
        assert len(proof.sample_parts) == N
        assert len(proof.feature_parts) == P + 1
        parts = proof.sample_parts.sum() + proof.feature_parts.sum()
        assert parts == pytest.approx(proof.gap, rel=1e-6)


def test_losses_other_than_the_squared_one_are_certified_but_not_solved():
    problem = dg.Problem(X, Y, "huber", GroupLasso(1), 0.3, intercept=True)
    alone = [dg.Problem(X, y, "huber", "l1", 0.3, intercept=True) for y in Y.T]
    zero = dg.certify(problem, np.zeros((P, K)))
    assert zero.primal == pytest.approx(sum(one.primal(np.zeros(P + 1)) for one in alone))
    with pytest.raises(ValueError, match="several targets need the squared loss"):
        dg.solve(problem)


def test_screened_rows_are_zero_and_paths_start_warm():
    problem = dg.Problem(X, Y, "squared", GroupLasso(1), 1.0, intercept=True)
    for solution in path(problem, grid(problem, 0.01, 5), tol=1e-9, screen=True):
        assert solution.converged
        zero = proven_zero(solution.problem, solution.certificate, solution.dual)
        assert zero.shape == (P, K)
        assert (solution.coef[zero] == 0.0).all()


def test_float32_and_a_checkpoint(tmp_path):
    problem = dg.Problem(X.astype(np.float32), Y, "squared", GroupLasso(1), 0.1, intercept=True)
    whole = dg.solve(problem, tol=1e-9, checkpoint=tmp_path / "run", checkpoint_every=0)
    again = dg.solve(problem, tol=1e-9, checkpoint=tmp_path / "run", checkpoint_every=0)
    np.testing.assert_array_equal(whole.coef, again.coef)


def test_targets_that_nothing_ties_together_are_refused():
    with pytest.raises(ValueError, match=r"y has 3 columns, but nothing ties .* GroupLasso\(1\)"):
        dg.Problem(X, Y, "squared", "l1", 1.0)
    with pytest.raises(ValueError, match="one dimension"):
        dg.Problem(X, Y, "logistic", GroupLasso(1), 1.0)
    bad = Y.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"y.* is nan"):
        dg.Problem(X, bad, "squared", GroupLasso(1), 1.0)


def test_estimators_are_those_of_scikit_learn():
    weights = rng.integers(1, 4, N).astype(float)
    repeated = np.repeat(np.arange(N), weights.astype(int))
    ours = dg.MultiTaskLasso(0.2, tol=1e-10).fit(X, Y, sample_weight=weights)
    theirs = MultiTaskLasso(0.2, tol=1e-12, max_iter=100_000).fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-7)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-7)
    assert ours.support_certified_.shape == ours.coef_.shape
    assert (ours.coef_[ours.support_certified_] == 0.0).all()
    assert ours.dual_coef_.shape == (K, N)
    again = dg.MultiTaskLasso(0.2, tol=1e-6, warm_start=True).fit(X, Y)
    assert again.fit(X, Y).n_iter_ == 0


def test_offsets_of_each_target():
    offset = rng.standard_normal((N, K))
    shifted = dg.Problem(
        X, Y + offset, "squared", GroupLasso(1), 0.2, intercept=True, offset=offset
    )
    plain = dg.Problem(X, Y, "squared", GroupLasso(1), 0.2, intercept=True)
    found = dg.solve(shifted, tol=1e-10)
    np.testing.assert_allclose(found.coef, dg.solve(plain, tol=1e-10).coef, atol=1e-7)
    model = dg.MultiTaskLasso(0.2, tol=1e-10).fit(X, Y + offset, offset=offset)
    np.testing.assert_allclose(model.coef_.T, found.coef, atol=1e-7)


def test_one_column_no_penalty_and_one_dimension():
    one = dg.MultiTaskLasso(0.2).fit(X, Y[:, :1])
    assert one.coef_.shape == (1, P)
    free = dg.MultiTaskLasso(0.0).fit(X[:, :5], Y)
    expected = np.linalg.lstsq(np.column_stack([X[:, :5], np.ones(N)]), Y, rcond=None)[0]
    np.testing.assert_allclose(free.coef_, expected[:5].T, atol=1e-3)
    with pytest.raises(ValueError, match=r"a column for each target.*use Lasso"):
        dg.MultiTaskLasso().fit(X, Y[:, 0])
