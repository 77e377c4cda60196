"""Methods that pass over all samples: accelerated gradient, L-BFGS, and scikit-learn's SAG."""

import gc
import os
import signal
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from reference import LOSSES, PENALTIES, WEIGHTS, targets

import dualgap as dg
from dualgap.methods import METHODS
from dualgap.penalties import L1, L2, Box, ElasticNet, NonNegative, Weighted
from dualgap.penalties.structure import shape_of
from dualgap.run.solution import Status
from dualgap.steps import LBFGS, SAG, FullGradient, Setting
from dualgap.steps.base import Start
from dualgap.steps.rivals.handover import WORKER, Handover
from dualgap.steps.rivals.lbfgs import ScaledObjective
from dualgap.testing.step_laws import check_step

RIVALS = ("afg", "lbfgs", "sag", "saga")
STEPS = {"afg": FullGradient(), "lbfgs": LBFGS(), "sag": SAG("sag"), "saga": SAG("saga")}
# What scikit-learn's estimators can express, written down independently of the refusals.
SKLEARN = {
    "sag": {("squared", "l2"), ("logistic", "l2")},
    "saga": {("squared", "l2")} | {("logistic", p) for p in ("l2", "l1", "elastic-net")},
}
KINKS = {"hinge", "epsilon-insensitive", "quantile"}


def make(loss="logistic", penalty="l2", n=30, d=8, lam=0.05, kind=np.asarray, seed=0, **more):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    loss = LOSSES.get(loss, loss)
    penalty = PENALTIES.get(penalty, penalty) if isinstance(penalty, str) else penalty
    if isinstance(penalty, Weighted) and penalty.weights is WEIGHTS:
        penalty = Weighted(penalty.base, np.resize(WEIGHTS, d))
    return dg.Problem(kind(X), targets(loss, X[:, 0] - X[:, 1], rng), loss, penalty, lam, **more)


def workers():
    return [thread for thread in threading.enumerate() if thread.name == WORKER]


def long_indices(X):
    S = sp.csr_array(X)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


def accepts(name, loss, penalty):
    return (loss, penalty) in SKLEARN[name] if name in SKLEARN else loss not in KINKS


def pairs():
    """Each loss and each penalty some times, and all that scikit-learn has.

    With DUALGAP_EVERY=1 (``make test-every``) all pairs, each of which takes seconds to compile.
    """
    known = set().union(*SKLEARN.values())
    for i, loss in enumerate(LOSSES):
        for j, penalty in enumerate(PENALTIES):
            chosen = i % len(PENALTIES) == j or (loss, penalty) in known
            if chosen or os.environ.get("DUALGAP_EVERY"):
                yield loss, penalty


@pytest.mark.parametrize(("loss", "penalty"), list(pairs()))
@pytest.mark.parametrize("name", RIVALS)
def test_it_reaches_the_certified_optimum_or_refuses_in_words(name, loss, penalty):
    tall, wide = make(loss, penalty), make(loss, penalty, n=8, d=30)
    if accepts(name, loss, penalty):
        for problem in (tall, wide):
            solution = dg.solve(problem, name, tol=1e-6, max_epochs=20_000)
            assert solution.converged, str(solution)
            assert solution.certificate.gap <= 1e-6 * problem.scale
            assert solution.method.startswith(name)
        return
    with pytest.raises(ValueError, match=f"{name} cannot solve.*would work") as error:
        dg.solve(tall, name)
    other = str(error.value).split("method='")[1].split("'")[0]
    assert dg.solve(tall, other, tol=1e-3).converged


@pytest.mark.parametrize("name", RIVALS)
@pytest.mark.parametrize(
    "kind",
    [
        sp.csr_array,
        sp.csc_matrix,
        np.asfortranarray,
        np.float32,
        long_indices,
    ],
)
def test_every_storage(name, kind):
    problem, plain = make(kind=kind), make()
    solution = dg.solve(problem, name, tol=1e-10)
    assert solution.converged, str(solution)
    np.testing.assert_allclose(solution.coef, dg.solve(plain, tol=1e-12).coef, atol=1e-4)


@pytest.mark.parametrize(
    ("loss", "penalty"),
    [
        ("poisson", Weighted(L2(), [0.0, *[1.0] * 7])),
        ("logistic", Weighted(L1(), [0.0, 0.0, np.inf, *[1.0] * 5])),
        ("squared", Box(-0.1, 0.2, Weighted(L1(), [0.0, np.inf, *[1.0] * 6]))),
        ("poisson", Box(-0.3, -0.1, ElasticNet(0.5))),
        ("logistic", Box(0.05, np.inf, L1())),
        ("squared", Weighted(L2(), [np.inf] * 8)),
    ],
)
@pytest.mark.parametrize("name", ["afg", "lbfgs"])
def test_unpenalised_fixed_and_bounded_features(name, loss, penalty):
    solution = dg.solve(make(loss, penalty), name, tol=1e-6, max_epochs=3000)
    assert solution.converged, str(solution)


@pytest.mark.parametrize("name", ["afg", "lbfgs"])
def test_poisson_far_from_any_sensible_scale(name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    y = rng.poisson(np.exp(np.clip(X[:, 0], -3.0, 2.0))).astype(float)
    X[3] *= 30.0  # one sample whose e^z overflows at the length of an average step
    for factor in (1e-3, 1.0, 1e3):
        solution = dg.solve(dg.Problem(X * factor, y, "poisson", lam=0.05), name, tol=1e-7)
        assert solution.converged, str(solution)


# --- accelerated gradient -------------------------------------------------------------------------


def quadratic(lam, condition=1e4, d=40):
    """A least-squares problem whose Hessian has known eigenvalues, the largest 1."""
    rng = np.random.default_rng(1)
    q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    eigenvalues = np.geomspace(1.0, 1.0 / condition, d)
    X = np.sqrt(d * eigenvalues)[:, None] * q.T
    y = X @ rng.standard_normal(d)
    hessian = X.T @ X / d + lam * np.eye(d)
    return dg.Problem(X, y, "squared", lam=lam), np.linalg.solve(hessian, X.T @ y / d)


@pytest.mark.parametrize("lam", [1e-3, 1e-12])
def test_accelerated_gradient_keeps_its_published_rate(lam):
    """Nesterov 2013, theorem 6: plain gradient steps would miss it by orders of magnitude."""
    problem, best = quadratic(lam)
    step = FullGradient(restart=False)
    run = step.start(problem, Start())
    reach, least = best @ best, problem.primal(best)
    largest = step.up * 1.0
    errors = []
    for k in range(1, 301):
        run.advance(None)
        assert largest >= run.L
        error = problem.primal(run.pair().w) - least
        linear = 2.0 / largest * (1.0 + np.sqrt(lam / (2.0 * largest))) ** (2 * (k - 1))
        weight = max(linear, k**2 / (2.0 * largest))
        assert error <= reach / (2.0 * weight) + 1e-14
        errors.append(error)
    gradient = best.copy()  # of steps 1/L from 0, in closed form: the error is (I − H)^k best
    for _ in range(300):
        gradient -= problem.X.T @ (problem.X @ gradient) / problem.n + lam * gradient
    plain = problem.primal(best - gradient) - least
    assert errors[-1] < 0.1 * plain


def test_iterations_grow_with_the_root_of_the_condition():
    for lam in (1e-2, 1e-4):
        problem, best = quadratic(lam)
        run = FullGradient().start(problem, Start())
        first = problem.primal(np.zeros(problem.d)) - problem.primal(best)
        iterations = 0
        while problem.primal(run.pair().w) - problem.primal(best) > 1e-8 * first:
            run.advance(None)
            iterations += 1
        assert iterations <= 2.0 * np.sqrt(1.0 / lam) * np.log(1e8)


def test_restarts_find_strong_convexity_that_the_penalty_lacks():
    problem = make("squared", "l1", n=60, d=10, lam=0.01)
    rounds = [
        len(dg.solve(problem, FullGradient(restart=restart), tol=1e-10, max_epochs=5000).history)
        for restart in (True, False)
    ]
    assert 2 * rounds[0] < rounds[1]


def test_products_are_counted(monkeypatch):
    problem = make()
    counted = []
    for name in ("decision", "average"):
        original = getattr(dg.Problem, name)
        monkeypatch.setattr(
            dg.Problem, name, lambda self, v, f=original: counted.append(1) or f(self, v)
        )
    for name in ("afg", "lbfgs"):
        counted.clear()
        run = STEPS[name].start(problem, Start())
        operations, updates = np.sum([run.advance(None)[1:] for _ in range(6)], axis=0)
        run.pair()
        assert operations == 30 * len(counted)
        assert updates == 15 * len(counted)
    history = dg.solve(problem, "saga", tol=0, max_epochs=6).history
    np.testing.assert_array_equal(history.epoch, [0, 1, 2, 4, 6])
    np.testing.assert_array_equal(history.vector_operations, 60 * history.epoch)
    np.testing.assert_array_equal(history.iterations, np.arange(5))


# --- the loop around other people's loops ---------------------------------------------------------


@pytest.mark.parametrize("name", RIVALS)
def test_an_impossible_tolerance_stalls(name):
    solution = dg.solve(make(), name, tol=0, max_epochs=100_000, max_seconds=60)
    assert solution.status is Status.STALLED
    assert solution.certificate.relative_gap < 1e-12
    assert not workers()


@pytest.mark.parametrize("name", RIVALS)
def test_limits_and_callbacks_stop_a_run_and_its_worker(name):
    problem = make()
    assert dg.solve(problem, name, tol=1e-6).converged
    assert not workers()
    assert dg.solve(problem, name, tol=0, max_epochs=3).status is Status.MAX_EPOCHS
    assert dg.solve(problem, name, tol=0, max_epochs=0).status is Status.MAX_EPOCHS
    assert dg.solve(problem, name, tol=0, max_seconds=0).status is Status.MAX_SECONDS
    seen = []
    stopped = dg.solve(problem, name, tol=0, callback=lambda s: seen.append(s) or len(seen) == 3)
    assert stopped.status is Status.CALLBACK
    assert len(seen) == len(stopped.history) == 3
    assert not workers()

    def broken(snapshot):
        if snapshot.epoch:
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        dg.solve(problem, name, tol=0, callback=broken)
    assert not workers()


@pytest.mark.parametrize("name", RIVALS)
def test_ctrl_c_returns_the_best_certified_model(name):
    problem = make(n=60, d=20, lam=1e-3)
    dg.solve(problem, name, max_epochs=1)

    def slow(snapshot):
        if snapshot.epoch:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5.0)

    solution = dg.solve(problem, name, tol=0, callback=slow)
    assert solution.status is Status.INTERRUPTED
    assert solution.certificate.primal < problem.scale
    assert dg.certify(problem, solution.coef, solution.dual).gap == solution.certificate.gap
    assert not workers()


def test_ctrl_c_while_the_worker_works(monkeypatch):
    original = ScaledObjective.value
    calls = []

    def interrupting(*arguments):
        calls.append(threading.current_thread().name)
        if len(calls) == 5:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)  # the main thread is waiting, and leaves
        return original(*arguments)

    monkeypatch.setattr(ScaledObjective, "value", interrupting)
    solution = dg.solve(make(lam=1e-3), "lbfgs", tol=0)
    assert solution.status is Status.INTERRUPTED
    assert set(calls) == {WORKER}
    assert not workers()


def test_a_forgotten_run_ends_its_worker():
    run = LBFGS().start(make(), Start())
    run.advance(None)
    assert len(workers()) == 1
    del run
    gc.collect()
    assert not workers()


def test_handover_alternates_ends_and_passes_errors_on():
    log = []

    def work(giver):
        for item in range(3):
            log.append(item)
            giver.give(item)
        raise KeyError("inside")

    items = Handover(work)
    assert not log  # nothing starts before it is wanted
    for item in range(3):
        assert next(items) == item
        assert log == list(range(item + 1))
    with pytest.raises(KeyError, match="inside"):
        next(items)
    assert list(items) == []
    assert not workers()
    closed = Handover(work)
    next(closed)
    closed.close()
    closed.close()
    assert list(closed) == []
    Handover(work).close()
    assert not workers()


def test_an_error_in_the_worker_surfaces(monkeypatch):
    problem = make()
    run = LBFGS().start(problem, Start())

    def broken(*arguments):
        raise OSError("disk")

    monkeypatch.setattr(ScaledObjective, "value", broken)
    with pytest.raises(OSError, match="disk"):
        run.advance(None)
    assert run.advance(None) == (0, 0, 0.0)
    assert not workers()


@pytest.mark.parametrize("name", RIVALS)
def test_the_same_seed_gives_the_same_bits(name):
    problem = make()
    one, two, other = (
        dg.solve(problem, name, random_state=seed, max_epochs=7, tol=0) for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.history.gap, two.history.gap)
    assert np.array_equal(one.coef, other.coef) == (name in ("afg", "lbfgs"))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("name", ["sag", "saga"])
def test_a_longer_run_repeats_the_shorter_one(name, loss):
    problem = make(loss)
    seven, nine = (
        STEPS[name].start(problem, Start(), Setting(max_epochs=epochs)) for epochs in (7, 9)
    )
    for _ in range(3):  # 1, 2, 4 epochs
        seven.advance(None)
        nine.advance(None)
        np.testing.assert_array_equal(seven.w, nine.w)
    before = nine.repeated_seconds
    nine.advance(None)
    assert nine.rounds == 8
    assert nine.repeated_seconds > before
    # The path itself: one epoch after the other, from a fit of that length.
    assert (nine._fit(4)[0] == seven.w).all()


@pytest.mark.parametrize("name", RIVALS)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_sample_weight_is_a_repetition(name, loss):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 4))
    y = targets(LOSSES[loss], X[:, 0], rng)
    counts = rng.integers(0, 6, 20)
    weighted = dg.Problem(X, y, loss, lam=0.1, sample_weight=counts)
    repeated = dg.Problem(np.repeat(X, counts, 0), np.repeat(y, counts), loss, lam=0.1)
    one, two = (dg.solve(p, name, tol=1e-12, max_epochs=5000) for p in (weighted, repeated))
    assert one.converged
    assert two.converged
    np.testing.assert_allclose(one.coef, two.coef, atol=1e-5)


@pytest.mark.parametrize("name", ["sag", "saga"])
def test_gamma_and_uniform_weights_are_translated(name):
    problem = make(dg.losses.Squared(0.3), Weighted(L2(), [2.0] * 8))
    assert dg.solve(problem, name, tol=1e-9).converged


def test_sag_refuses_what_is_missing(monkeypatch):
    for penalty in (Weighted(L2(), np.arange(1.0, 9.0)), NonNegative(), Weighted(L2(), [0.0] * 8)):
        assert "without constraints" in SAG("saga").refusal(make("logistic", penalty))
    assert "no L1 part" in SAG("sag").refusal(make("logistic", "l1"))
    assert "no L1 part" in SAG("saga").refusal(make("squared", "l1"))
    assert "not Huber" in SAG("saga").refusal(make("huber"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "not installed" in SAG("sag").refusal(make())


class Shifted(NamedTuple):
    """½(w − 1)²: a penalty of a user's own."""

    def value(self, w, j):
        return 0.5 * (w - 1.0) * (w - 1.0)

    def conj(self, u, j):
        return 0.5 * u * u + u

    def conj_slope(self, u, near, j):
        return u + 1.0

    def prox(self, u, t, j):
        return (u + t) / (1.0 + t)

    def domain(self, j):
        return -np.inf, np.inf

    def strength(self, j):
        return 1.0


def test_a_penalty_of_a_user():
    problem = make("logistic", Shifted())
    assert dg.solve(problem, "afg", tol=1e-6).converged
    with pytest.raises(ValueError, match="the penalty Shifted is not made of L1 and L2 parts"):
        dg.solve(problem, "lbfgs")
    assert shape_of(Box(0.0, 1.0, Shifted()), 8) is None


@pytest.mark.parametrize("penalty", [*PENALTIES.values(), Box(-1, 1, Box(0, 2, L1()))])
def test_shapes_have_the_values_of_their_penalties(penalty):
    problem = make("squared", penalty, d=5)
    shape = shape_of(problem.penalty, 5)
    for w in np.random.default_rng(0).standard_normal((20, 5)) * 0.4:
        inside = (shape.low <= w).all() and (w <= shape.high).all()
        value = np.sum(shape.l1 * np.abs(w) + 0.5 * shape.l2 * w**2) if inside else np.inf
        assert problem.penalty_value(w) == pytest.approx(problem.lam * value, rel=1e-12)


@pytest.mark.parametrize("name", RIVALS)
def test_only_the_full_sampling_fits(name):
    with pytest.raises(ValueError, match="passes over all samples at once, and Uniform draws some"):
        dg.solve(make(), name, sampling="uniform")
    assert METHODS[name].step == STEPS[name]
    assert dg.solve(make(), STEPS[name]).method.startswith(type(STEPS[name]).__name__)
    with pytest.raises(ValueError, match="one coordinate at a time, and Full draws sets"):
        dg.solve(make(), "sdca", sampling=dg.samplings.Full())


@pytest.mark.parametrize("name", RIVALS)
def test_steps_obey_the_laws(name):
    check_step(STEPS[name], make())


@pytest.mark.parametrize("name", ["afg", "lbfgs"])
def test_warm_starts(name):
    problem = make("logistic", "elastic-net")
    first = dg.solve(problem, name, tol=1e-8)
    assert dg.solve(problem, name, tol=1e-8, warm_start=first).n_iter == 0
    assert dg.solve(problem, name, tol=1e-6, warm_start=first.coef * 1e12).converged


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: FullGradient(up=1.0), "up"),
        (lambda: FullGradient(down=0.5), "down"),
        (lambda: LBFGS(memory=0), "memory"),
        (lambda: SAG("adam"), "solver"),
    ],
)
def test_bad_options_are_named(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()


def test_afg_goes_on_where_the_loss_is_hardly_smooth():
    """Rounding errors of z, times 1/γ, once made every step look too long."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 5))
    noise = 0.5 * rng.standard_normal(30)
    y = np.where(X @ [1.0, -0.5, 0.0, 0.3, 0.0] + noise > 0.0, 1.0, -1.0)
    problem = dg.Problem(X, y, dg.losses.SmoothedHinge(1e-3), lam=0.05)
    solution = dg.solve(problem, "afg", tol=1e-6, max_epochs=5000)
    assert solution.converged, str(solution)
