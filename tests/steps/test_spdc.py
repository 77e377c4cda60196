"""SPDC: Theorems 1 and 2, lazy steps equal dense ones, perturbations and step sizes."""

import batch_reference as ref
import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.losses import Hinge, SmoothedHinge, Squared
from dualgap.penalties import L1, L2, Box, ElasticNet, NonNegative, Weighted
from dualgap.penalties.proximal import Proximal
from dualgap.proof.certificate import evaluate
from dualgap.proof.goal import Goal
from dualgap.samplings import Custom, Full, Norms, TauNice, Uniform
from dualgap.steps import SPDC, Setting
from dualgap.steps.base import Start
from dualgap.steps.sets.perturbation import Perturbation
from dualgap.steps.sets.saddle import BEFORE, DONE, WIDTH, W
from dualgap.steps.sets.sampling_facts import sampling_facts
from dualgap.steps.sets.spdc import StepSizes, batch_step_sizes, single_step_sizes

GAMMA = 0.5


def make(
    penalty="l2",
    n=40,
    d=12,
    lam=1e-2,
    loss=SmoothedHinge(GAMMA),
    weighted=False,
    spread=1.0,
    kind=sp.csr_array,
):
    X = ref.sparse_rows(n, d, spread=spread)
    s = np.random.default_rng(3).exponential(size=n) if weighted else None
    return dg.Problem(kind(X), ref.labels(X), loss, penalty, lam, s)


def start(problem, sampling, step=None, **setting):
    bound = sampling.bind(problem)
    run = (step or SPDC()).start(problem, Start(), Setting(bound, **setting))
    return run, bound, sampling_facts(problem.with_penalty(L2()), bound)


def rewind(run):
    """Back to iteration 0, at the origin."""
    run.time = 0
    run.a[:] = 0.0
    run.cells[:] = 0.0


def aligned(penalty="l2", weighted=False, spread=0.05, n=40, d=5):
    """Rows in almost one direction, where long steps add up, and no bound on the dual variables."""
    rng = np.random.default_rng(0)
    X = np.ones((n, d)) + 0.1 * rng.standard_normal((n, d))
    X *= np.exp(spread * rng.standard_normal((n, 1)))
    s = rng.exponential(size=n) if weighted else None
    return dg.Problem(sp.csr_array(X), rng.standard_normal(n), Squared(GAMMA), penalty, 1e-2, s)


# --- Theorems 1 and 2 ---------------------------------------------------------------------------


def optimum(problem):
    """w* and a* for the squared loss."""
    X, c = ref.dense(problem), problem.c
    if problem.penalty == L2():
        H = (X.T * c) @ X / GAMMA + problem.lam * np.eye(problem.d)
        w = np.linalg.solve(H, X.T @ (c * problem.y) / GAMMA)
    else:
        best = dg.solve(problem, "cd-permutation", tol=1e-15, max_epochs=3000)
        assert best.certificate.relative_gap < 1e-12
        w = best.coef
    return w, (problem.y - X @ w) / GAMMA


def distances(problem, run, bound, known, times, seeds):
    """‖x_t − x*‖² and the n c_i(a_i − a*_i)², the ŷ of the scaled problem, for each seed and t."""
    w_best, a_best = optimum(problem)
    weights = problem.n * problem.c
    x, y = np.empty((seeds, len(times))), np.empty((seeds, len(times), problem.n))
    for seed in range(seeds):
        rewind(run)
        sets = ref.draw_sets(bound, known, times[-1], np.random.default_rng(seed))
        done = 0
        for k, t in enumerate(times):
            begin, end = sets.offsets[done], sets.offsets[t]
            run.advance(sets.order[begin:end], sets.offsets[done : t + 1] - begin)
            pair = run.pair()
            x[seed, k] = ((pair.w - w_best) ** 2).sum()
            y[seed, k] = weights * (pair.a - a_best) ** 2
            done = t
    return x, y, (w_best**2).sum(), weights * a_best**2


def check_contraction(problem, sampling, m, near, far, pace, step=None, seeds=30):
    """Σ of the weighted distances at t ≤ θ^t Σ of those at 0; ``near``, ``far`` weigh ŷ."""
    run, bound, known = start(problem, sampling, step)
    mu = problem.lam * float(problem.features.strength.min())
    times = [1, *(int(np.ceil(k / (1.0 - pace.theta))) for k in (0.2, 1.0, 3.0))]
    x, y, x0, y0 = distances(problem, run, bound, known, times, seeds)
    weight = 1.0 / (2.0 * pace.tau) + mu
    found = weight * x + (y @ np.broadcast_to(near, problem.n)) / m
    bound_ = weight * x0 + y0 @ np.broadcast_to(far, problem.n) / m
    mean, error = found.mean(axis=0), found.std(axis=0) / np.sqrt(seeds)
    assert (mean - 4.0 * error <= pace.theta ** np.array(times) * bound_).all()


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("sampling", [Uniform(), TauNice(4), Full()], ids=str)
@pytest.mark.parametrize("penalty", ["l2", "elastic-net"])
def test_theorem_1(sampling, penalty, weighted):
    problem = aligned(penalty, weighted)
    n, mu = problem.n, problem.lam * float(problem.features.strength.min())
    m = {"Uniform": 1, "TauNice": 4, "Full": n}[type(sampling).__name__]
    R = np.sqrt((n * problem.c * problem.row_squares).max())
    pace = batch_step_sizes(np.sqrt(n * problem.c * problem.row_squares), m, mu, GAMMA)
    assert pace.tau == pytest.approx(np.sqrt(m * GAMMA / (n * mu)) / (2 * R))
    assert pace.sigma == pytest.approx(np.sqrt(n * mu / (m * GAMMA)) / (2 * R))
    assert 1 / (1 - pace.theta) == pytest.approx(n / m + R * np.sqrt(n / m / (mu * GAMMA)))
    near, far = 1 / (4 * pace.sigma) + GAMMA, 1 / (2 * pace.sigma) + GAMMA
    check_contraction(problem, sampling, m, near, far, pace)


@pytest.mark.parametrize("choice", ["paper", "ours"])
def test_theorem_2(choice):
    """With the paper's step sizes, and with ours, which are longer."""
    problem = aligned(spread=1.5)
    n, lam, lengths = problem.n, problem.lam, np.sqrt(problem.row_squares)
    run, _, known = start(problem, Norms())
    np.testing.assert_allclose(known.p, 0.5 / n + 0.5 * lengths / lengths.sum())
    slow = 2 * n + 2 * lengths.mean() * np.sqrt(n / (lam * GAMMA))
    tau = np.sqrt(GAMMA / (n * lam)) / (4 * lengths.mean())
    paper = StepSizes(tau, n * lam / GAMMA * tau, 1 - 1 / slow)
    ours = single_step_sizes(lengths, known.p, lam, GAMMA)
    assert run.features.t == pytest.approx(ours.tau * lam)
    assert ours.tau > paper.tau
    assert ours.sigma > paper.sigma
    assert ours.theta < paper.theta
    pace = paper if choice == "paper" else ours
    near, far = 7 / (16 * pace.sigma) + 2 * GAMMA / n, 1 / (2 * pace.sigma) + 2 * GAMMA
    check_contraction(problem, Norms(), 1, near, far, pace, SPDC(*pace))


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("kind", ["norms", "any"])
def test_theorem_2_for_any_probabilities(kind, weighted):
    """Its proof gives 1/(4σ) + γ/(p_i n) for every p, with ``single_step_sizes``."""
    problem = aligned(weighted=weighted, spread=1.5)
    n = problem.n
    sampling = Norms() if kind == "norms" else Custom(1.0 + np.arange(n) % 7)
    _, _, known = start(problem, sampling)
    lengths = np.sqrt(n * problem.c * problem.row_squares)
    pace = single_step_sizes(lengths, known.p, problem.lam, GAMMA)
    assert 4 * pace.tau * pace.sigma * (lengths / (known.p * n)).max() ** 2 == pytest.approx(1.0)
    own = GAMMA / (known.p * n)
    near, far = 1 / (4 * pace.sigma) + own, 1 / (2 * pace.sigma) + own
    check_contraction(problem, sampling, 1, near, far, pace)


# --- lazy steps are dense steps -------------------------------------------------------------------

OMEGA = np.array([0.0, np.inf] + [0.3, 2.0, 1.0] * 3 + [0.0])
CENTRE = np.linspace(-0.5, 0.5, 12)
PENALTIES = {
    "l2": (L2(), ref.prox_elastic_net(0.0)),
    "elastic-net": (ElasticNet(0.4), ref.prox_elastic_net(0.4)),
    "l1": (L1(), ref.prox_elastic_net(1.0)),
    "box": (Box(-0.1, 0.2), ref.prox_elastic_net(0.0, low=-0.1, high=0.2)),
    "nonnegative": (NonNegative(ElasticNet(0.4)), ref.prox_elastic_net(0.4, low=0.0)),
    "weighted": (Weighted(ElasticNet(0.4), OMEGA), ref.prox_elastic_net(0.4, OMEGA)),
    "proximal": (
        Proximal(L1(), np.full(12, 0.3), CENTRE),
        ref.held(ref.prox_elastic_net(1.0), 0.3, CENTRE),
    ),
}


def check_lazy(problem, prox, sampling, gamma, iterations=600, stages=1, **setting):
    run, bound, known = start(problem, sampling, **setting)
    X = ref.dense(problem)
    w, a, last = run.cells[W::WIDTH].copy(), run.a.copy(), None
    w_centre, a_centre = np.zeros(problem.d), np.zeros(problem.n)
    rng = np.random.default_rng(0)
    for stage in range(stages):
        inner = (
            ref.held(prox, run.perturbation.delta_w / problem.lam, w_centre)
            if run.perturbation.delta_w
            else prox
        )
        loss = ref.SmoothedHinge(problem.y, gamma, run.perturbation.delta_a)
        steps = known.p, run.samples.q, run.features.t / problem.lam, run.features.theta
        sets = ref.draw_sets(bound, known, iterations, rng)
        run.advance(*sets)
        w, a, last = ref.spdc(
            X, problem.c, problem.lam, ref.members(sets), loss, inner, *steps, w, a, last, a_centre
        )
        pair = run.pair()
        np.testing.assert_allclose(pair.w, w, rtol=1e-9, atol=1e-10 * np.abs(w).max())
        np.testing.assert_allclose(pair.a, a, atol=1e-10)
        np.testing.assert_allclose(run.cells[BEFORE::WIDTH], last, atol=1e-10 * np.abs(w).max())
        assert (run.cells[DONE::WIDTH] == (stage + 1) * iterations).all()
        if stage + 1 < stages:
            run.until = 0
            run.adapt(pair, evaluate(problem, pair))
            w_centre, a_centre = pair.w, pair.a
    return w


@pytest.mark.parametrize("sampling", [Norms(), TauNice(3)], ids=str)
@pytest.mark.parametrize("name", PENALTIES)
def test_lazy_steps_are_dense_steps(name, sampling):
    penalty, prox = PENALTIES[name]
    w = check_lazy(make(penalty, weighted=True), prox, sampling, GAMMA)
    assert np.abs(w).max() > 1e-3


def test_lazy_steps_for_dense_storage_and_uniform():
    check_lazy(make(kind=np.asarray), PENALTIES["l2"][1], Uniform(), GAMMA)


@pytest.mark.parametrize("name", ["l2", "l1"])
def test_lazy_steps_in_stages_with_their_own_centres(name):
    """Both perturbations: a loss with kinks, a penalty that is not strongly convex."""
    penalty, prox = PENALTIES[name]
    problem = make(penalty, loss=Hinge())
    goal = Goal.of(problem, 1e-3, "start")
    check_lazy(problem, prox, Uniform(), 0.0, iterations=300, stages=3, goal=goal)


# --- practice -------------------------------------------------------------------------------------


def test_perturbation_of_the_paper_reaches_the_target_it_was_chosen_for():
    problem = make(loss=Hinge(), spread=0.3)
    fixed = dg.solve(problem, SPDC(recentre=False), tol=1e-3, max_epochs=20_000)
    assert fixed.converged
    better = dg.solve(problem, SPDC(), tol=1e-3, max_epochs=20_000)
    assert better.converged
    assert better.passes < fixed.passes


def test_the_perturbation_of_the_paper_is_the_accuracy_divided_by_its_constant():
    """Zhang, Xiao 2015, section 3.1: δ = ε/(‖w‖² + G²), where a stage has reached w."""
    problem = make("l1", loss=Hinge())
    target, w = 1e-3, np.linspace(-3.0, 3.0, problem.d)
    paper = Perturbation(problem, target, None, 1.0)
    paper.follow(w, gap=0.1, last_gap=1.0)
    delta = target / (np.sum(w**2) + 1.0)  # G = 1 for the hinge
    assert paper.delta_a == pytest.approx(delta)
    assert paper.delta_w == pytest.approx(delta)
    paper.follow(w, gap=0.1, last_gap=0.11)  # ε bounds suboptimality; a certificate needs more
    assert paper.delta_a == pytest.approx(delta / 4.0)
    smooth = Perturbation(make("l2"), target, None, 1.0)
    assert not smooth.needed
    assert smooth.delta_a == smooth.delta_w == 0.0


def test_the_perturbation_of_the_paper_reaches_its_target_under_l1():
    problem = make("l1", loss=Squared())
    solution = dg.solve(problem, SPDC(recentre=False), tol=1e-3, max_epochs=5_000)
    assert solution.converged


def test_step_sizes_can_be_given():
    problem = make()
    run, _, _ = start(problem, Uniform(), SPDC(tau=0.3, sigma=0.7, theta=0.5))
    assert run.features.t == pytest.approx(0.3 * problem.lam)
    assert run.features.theta == 0.5
    np.testing.assert_allclose(run.samples.q, 1.0 / 0.7)
    run, _, known = start(problem, Norms(), SPDC(sigma=0.7))
    np.testing.assert_allclose(run.samples.q, known.p * problem.n / 0.7)
    run, _, _ = start(make("l1", loss=Hinge()), Uniform(), SPDC(delta=0.01))
    assert run.perturbation.delta_a == run.perturbation.delta_w == run.samples.delta == 0.01
    plain, given = (
        dg.solve(problem, step, tol=1e-6, max_epochs=5000) for step in (SPDC(), SPDC(theta=0.0))
    )
    assert plain.converged
    assert list(plain.history.gap[:5]) != list(given.history.gap[:5])
    for wrong in ({"tau": 0.0}, {"sigma": -1.0}, {"theta": 1.5}, {"delta": 0.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            SPDC(**wrong)


def test_weighted_sampling_pays_where_norms_differ():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    X[:6] *= 30.0
    problem = dg.Problem(sp.csr_array(X), ref.labels(X), SmoothedHinge(GAMMA), "l2", 1e-3)
    passes = [dg.solve(problem, m, tol=1e-6, max_epochs=20_000) for m in ("spdc-weighted", "spdc")]
    assert all(run.converged for run in passes)
    assert passes[0].passes < 0.6 * passes[1].passes


def test_a_long_advance_outlasts_the_tables():
    """More iterations in a row than ``longest``: features catch up without a table."""
    penalty, prox = PENALTIES["elastic-net"]
    check_lazy(make(penalty, n=5, d=6), prox, Uniform(), GAMMA, iterations=5000)
