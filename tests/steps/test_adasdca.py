"""AdaSDCA: the expected ascent of a step, exactly, against θ(κ, p) (Csiba et al. 2015)."""

import batch_reference as ref
import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.losses import SmoothedHinge, Squared
from dualgap.proof.certificate import evaluate
from dualgap.samplings import Importance, Residue, Uniform
from dualgap.steps import Coordinate
from dualgap.steps.base import Start

N = 20


def problem_of(loss, penalty="l2"):
    X = ref.sparse_rows(N, 6)
    X[3] = 0.0
    y = ref.labels(X) if loss.targets == "binary" else X[:, 0] + np.linspace(-1, 1, N)
    return dg.Problem(sp.csr_array(X), y, loss, penalty, 0.03)


def state(problem, a):
    """A run at a; its certificate, residues and scores."""
    run = Coordinate("dual").start(problem, Start(None, a))
    pair = run.pair()
    proof = evaluate(problem, pair)
    return run, proof, run.scores(pair, proof)


def ascent(problem, a, p):
    """E[D(a⁺)] − D(a): the step on every sample, from the same point."""
    _, before, _ = state(problem, a)
    gained = 0.0
    for i in np.flatnonzero(p):
        run, _, _ = state(problem, a)
        run.advance(np.array([i]))
        gained += p[i] * (evaluate(problem, run.pair()).dual - before.dual)
    return gained


def theta_of(problem, kappa, p):
    """θ(κ, p), from the data."""
    X = ref.dense(problem)
    easy = N * problem.lam * problem.loss.gamma
    used = np.abs(kappa) > 1e-14
    hard = kappa**2 * ((X**2).sum(axis=1) + easy)
    return easy * (kappa[used] ** 2).sum() / (hard[used] / p[used]).sum()


def points(problem):
    rng = np.random.default_rng(0)
    yield np.zeros(N)
    for size in (0.1, 1.0, 5.0):
        yield size * rng.standard_normal(N)
    nearly = dg.solve(problem, "adasdca+", tol=1e-3).dual
    yield nearly
    yield np.where(np.arange(N) < 15, dg.solve(problem, "adasdca+", tol=1e-9).dual, 0.5)


@pytest.mark.parametrize("name", ["optimal", "uniform", "importance", "random"])
def test_a_step_gains_theta_times_the_gap(name):
    """Lemma 5 with θ(κ, p): for the squared loss, whatever the coherent p."""
    problem = problem_of(Squared(0.7))
    X = ref.dense(problem)
    for k, a in enumerate(points(problem)):
        _, proof, scores = state(problem, a)
        w = X.T @ (problem.c * a) / problem.lam
        kappa = a + (X @ w - problem.y) / 0.7
        kappa[problem.row_squares == 0.0] = 0.0  # settled at the start of a run
        weights = {
            "optimal": lambda s=scores: Residue().weights(s),
            "uniform": lambda s=scores: Uniform().weights(s),
            "importance": lambda s=scores: Importance("smooth").weights(s),
            "random": lambda k=k: np.random.default_rng(k).exponential(size=N),
        }[name]()
        p = weights / weights.sum()
        if name == "optimal":
            best = np.abs(kappa) * np.sqrt((X**2).sum(axis=1) + N * problem.lam * 0.7)
            np.testing.assert_allclose(p, best / best.sum(), atol=1e-12)
        theta = theta_of(problem, kappa, p)
        gained = ascent(problem, a, p)
        assert gained >= theta * proof.gap * (1 - 1e-9) - 1e-14 * proof.scale
        assert gained > 0.0


def test_no_distribution_has_a_larger_theta():
    """(14) maximises θ(κ, p); uniform and importance sampling are no better."""
    problem = problem_of(Squared(0.7))
    rng = np.random.default_rng(1)
    for a in points(problem):
        _, _, scores = state(problem, a)
        kappa = scores.residue
        p = Residue().weights(scores) / Residue().weights(scores).sum()
        most = theta_of(problem, kappa, p)
        for other in (np.ones(N), scores.curvature + scores.strength, rng.exponential(size=N)):
            assert theta_of(problem, kappa, other / other.sum()) <= most * (1 + 1e-12)


@pytest.mark.parametrize("penalty", ["l2", "elastic-net"])
def test_proposition_6_for_other_losses(penalty):
    """Where θ(κ, p) ≤ min p: any smooth loss, and any strongly convex penalty by its metric."""
    problem = problem_of(SmoothedHinge(0.5), penalty)
    strength = float(problem.features.strength.min())
    stronger = dg.Problem(problem.X / np.sqrt(strength), problem.y, problem.loss, "l2", problem.lam)
    checked = 0
    for point in points(problem):
        a = problem.y * np.clip(problem.y * point, 0.0, 1.0)
        _, proof, scores = state(problem, a)
        for weights in (np.ones(N), scores.curvature + scores.strength):
            p = weights / weights.sum()
            theta = min(theta_of(stronger, scores.residue, p), p[scores.residue > 1e-14].min())
            assert ascent(problem, a, p) >= theta * proof.gap * (1 - 1e-9) - 1e-14 * proof.scale
            checked += 1
    assert checked == 12
