"""Newton steps on sums over partitions: few rounds, whatever the number of partitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from cluster_data import problem, sparse_data

import dgcheck
import dualgap as dg
from dualgap.distributed import Partitioned, fit, solve
from dualgap.distributed.data.block import ModelSpec, Totals, check_spec, without_samples
from dualgap.distributed.driver import newton_rounds
from dualgap.distributed.driver.work import busiest
from dualgap.distributed.engines.protocol import PartitionsLostError
from dualgap.distributed.engines.threads import ThreadEngine
from dualgap.distributed.schemes.newton import cheapest_systems
from dualgap.losses import Quantile
from dualgap.proof.proof_file import proven_solution, write_proof
from dualgap.run.solution import Status

RNG = np.random.default_rng(0)
N, D = 2000, 12
X = RNG.normal(size=(N, D)) * np.exp(RNG.normal(size=D)) + RNG.normal(size=D)
SIGNAL = (X - X.mean(axis=0)) @ (RNG.normal(size=D) / X.std(axis=0))
Y = SIGNAL + RNG.normal(size=N)
SIGNS = np.sign(SIGNAL + RNG.logistic(size=N))
CLASSES = np.digitize(Y, [-1.5, 1.5])
COUNTS = RNG.poisson(np.exp(0.2 * SIGNAL))
WIDE = sp.random(200, 3000, 0.02, "csr", random_state=0)
WIDE_SIGNS = np.sign(WIDE @ np.random.default_rng(1).normal(size=3000) + 0.3)

CASES = {
    "logistic": (SIGNS, "logistic", "l2", 1e-4),
    "squared hinge": (SIGNS, "squared-hinge", "l2", 1e-4),
    "hinge": (SIGNS, "hinge", "l2", 1e-4),
    "ridge": (Y, "squared", "l2", 1e-3),
    "lasso": (Y, "squared", "l1", 0.1),
    "L1 logistic": (SIGNS, "logistic", "l1", 1e-2),
    "elastic net": (Y, "huber", dg.penalties.ElasticNet(0.5), 1e-2),
    "box": (Y, "squared", dg.penalties.NonNegative(dg.penalties.L2()), 1e-3),
    "quantile": (Y, Quantile(0.8), "l2", 1e-3),
    "epsilon": (Y, "epsilon-insensitive", "l2", 1e-3),
    "softmax": (CLASSES, "softmax", "l2", 1e-3),
    "poisson": (COUNTS, "poisson", "l2", 1e-3),
    "wide L1": (None, "logistic", "l1", 2e-3),
    "classes": (CLASSES, "softmax", "l2", 1e-3),
}
# Rounds at which losses with kinks must have converged; smooth ones take a step for each.
MOST = {"hinge": 40, "quantile": 60, "epsilon": 60, "wide L1": 40, "classes": 30}


def stated(name, intercept=True, weights=None):
    y, loss, penalty, lam = CASES[name]
    if y is None:
        return dg.Problem(WIDE, WIDE_SIGNS, loss, penalty, lam, weights, intercept=intercept)
    return dg.Problem(X, y, loss, penalty, lam, weights, intercept=intercept)


@pytest.fixture(autouse=True)
def many_classes_take_products(request, monkeypatch):
    """For the case of this name, although its Hessian would be cheaper."""
    given = getattr(request.node, "callspec", None)
    if given is not None and given.params.get("name") == "classes":
        monkeypatch.setattr(newton_rounds, "cheapest_systems", lambda *arguments: "classes")


@pytest.mark.parametrize("name", CASES)
def test_few_rounds_reach_the_optimum_of_one_machine(name):
    one = stated(name)
    best = dg.solve(one, tol=1e-9).certificate
    rounds = []
    for partitions in (2, 16):
        solution = solve(one, 2, partitions=partitions, tol=1e-4)
        assert solution.converged
        assert solution.name == "newton"
        own = solution.certificate
        assert best.dual <= own.primal <= best.primal + own.gap + 1e-14
        assert own.scale == pytest.approx(best.scale, rel=2e-3)  # its digits are not exact
        rounds.append(solution.history.iterations[-1])
    assert max(rounds) <= MOST.get(name, 12)
    assert abs(rounds[1] - rounds[0]) <= max(1, 0.1 * rounds[0])


@pytest.mark.parametrize("name", ["logistic", "hinge", "softmax"])
@pytest.mark.parametrize("intercept", [False, "penalised"])
def test_other_intercepts_and_weights(name, intercept):
    one = stated(name, intercept, RNG.integers(0, 3, N).astype(float))
    here, there = dg.solve(one, tol=1e-8), solve(one, 2, partitions=5, tol=1e-6)
    assert there.converged
    assert there.certificate.primal - here.certificate.dual <= 1e-6 * one.scale


@pytest.mark.parametrize("name", ["hinge", "wide L1", "classes"])
def test_an_independent_checker_accepts_the_proof(name, tmp_path):
    one = stated(name)
    solution = solve(one, 2, "newton", partitions=3, tol=1e-3)
    assert solution.converged
    own = write_proof(
        tmp_path / "proof.dgp", one.given, one.given_y, [proven_solution(one, solution)]
    )
    data = one.given.toarray() if sp.issparse(one.given) else one.given
    np.savez(tmp_path / "data.npz", X=data, y=one.given_y)
    assert dgcheck.main([str(tmp_path / "data.npz"), str(own)]) == 0


def test_one_machine_certifies_the_model():
    one = stated("lasso")
    solution = solve(one, 2, partitions=4, tol=1e-6)
    again = dg.certify(one, solution.coef, solution.dual, intercept=solution.intercept)
    assert again.primal == pytest.approx(solution.certificate.primal, rel=1e-12)
    assert again.gap <= 2.0 * solution.certificate.gap + 1e-12


def test_sparse_partitions_and_names_of_classes():
    data = sp.random(800, 30, 0.2, "csr", random_state=0)
    labels = np.where(data @ RNG.normal(size=30) > 0.0, "yes", "no")
    parts = [(data[i : i + 200], labels[i : i + 200]) for i in range(0, 800, 200)]
    there = fit(dg.LogisticRegression(tol=1e-8), parts, client=2)
    here = dg.LogisticRegression(tol=1e-8).fit(data, labels)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-3)
    assert there.predict(data[:5]).tolist() == here.predict(data[:5]).tolist()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("lam", [0.1, 1e-3])
def test_many_features_take_products(intercept, lam):
    one = dg.Problem(WIDE, WIDE_SIGNS, "logistic", "l2", lam, intercept=intercept)
    best = dg.solve(one, tol=1e-9).certificate
    for partitions in (2, 8):
        solution = solve(one, 2, partitions=partitions, tol=1e-5)
        assert solution.name == "newton"
        assert solution.converged
        own = solution.certificate
        assert best.dual <= own.primal <= best.primal + own.gap + 1e-14
        assert solution.history.iterations[-1] <= 150
        exchanges = solution.history.iterations[-1] + 1
        assert solution.history.received.sum() <= 3 * partitions * exchanges * 8 * (3000 + 100)


def test_auto_takes_epochs_where_newton_steps_are_impossible_or_work_asks_for_them():
    many = dg.Problem(WIDE, WIDE_SIGNS, "hinge", "l2", 0.1)
    assert solve(many, 2, partitions=2, tol=1e-2).name == "cocoa+"
    with pytest.raises(ValueError, match="Hessians of 3000 coefficients"):
        solve(many, scheme="newton")
    assert solve(problem(), 2, partitions=2, tol=1e-2).name == "newton"
    assert solve(problem(), 2, partitions=2, tol=1e-2, work=2).name == "cocoa+"


@pytest.mark.parametrize("name", ["logistic", "hinge", "wide L1", "classes"])
def test_an_interrupted_run_resumes(name, tmp_path):
    one = stated(name)
    how = {"scheme": "newton", "partitions": 4, "tol": 1e-8}
    uninterrupted = solve(one, 2, **how)
    seen = []

    def stop(snapshot):
        seen.append(snapshot)
        return len(seen) == 3

    kept = {**how, "checkpoint": tmp_path, "checkpoint_every": 1}
    assert not solve(one, 2, callback=stop, **kept).converged
    resumed = solve(one, 2, **kept)
    assert resumed.converged
    np.testing.assert_array_equal(resumed.coef, uninterrupted.coef)
    assert resumed.certificate.gap == uninterrupted.certificate.gap


class Losing(ThreadEngine):
    """Each of these calls loses partition 1, whose dual variables are then those of the copy."""

    at = ()
    calls = 0

    def _lose(self):
        self.calls += 1
        if self.calls in self.at:
            self._duals[1] = None if self._copies is None else self._copies[1]
            raise PartitionsLostError([1])

    _copies = None

    def run(self, task, message):
        self._lose()
        return super().run(task, message)

    def ask(self, task, message):
        self._lose()
        return super().ask(task, message)

    def keep(self):
        self._copies = self.copy()


@pytest.mark.parametrize("name", ["hinge", "lasso", "softmax", "wide L1", "classes"])
@pytest.mark.parametrize("at", [range(3, 6), range(8, 60, 7), range(10, 80, 11)])
def test_lost_partitions_cost_rounds_only(name, at, monkeypatch):
    one = stated(name)
    clean = solve(one, 2, "newton", partitions=4, tol=1e-6)
    monkeypatch.setattr(Losing, "at", tuple(at))
    monkeypatch.setattr("dualgap.distributed.engines.ThreadEngine", Losing)
    solution = solve(one, 2, "newton", partitions=4, tol=1e-6)
    assert solution.converged
    assert (
        solution.certificate.primal - clean.certificate.primal <= solution.certificate.gap + 1e-14
    )


@pytest.mark.parametrize("name", ["ridge", "lasso", "hinge"])
def test_a_tolerance_below_rounding_ends(name):
    solution = solve(stated(name), 2, "newton", partitions=3, tol=0.0, max_epochs=1000)
    assert solution.status is Status.STALLED
    assert solution.certificate.gap <= 1e-8 * solution.certificate.scale


def test_a_round_without_answers_kept_nobody_busy():
    assert busiest([]) == 0.0


def test_a_sample_saves_rounds(monkeypatch):
    one = dg.Problem(np.tile(X, (8, 1)), np.tile(SIGNS, 8), "logistic", "l2", 1e-5, intercept=True)
    with_sample = solve(one, 2, "newton", partitions=4).history.iterations[-1]
    monkeypatch.setattr(newton_rounds, "sample_start", lambda *arguments: None)
    without = solve(one, 2, "newton", partitions=4).history.iterations[-1]
    assert with_sample < without


def test_the_history_counts_bytes():
    one = stated("logistic")
    history = solve(one, 2, "newton", partitions=4, tol=1e-6).history
    triangle = 8 * (D + 1) * (D + 2) // 2
    exchanges = np.diff(history.iterations)
    assert history.received.sum() >= 4 * (exchanges.sum() - 1) * triangle  # but at the start
    assert (history.received[1:] <= 4 * exchanges * (triangle + 8 * (D + 1) + 200)).all()
    assert 0.0 < history.sent.sum() <= 4 * exchanges.sum() * 16 * (D + 1)


@pytest.mark.parametrize(
    ("n", "d", "classes", "penalty", "way"),
    [
        (600_000, 54, 2, "l2", "hessians"),
        (600_000, 54, 7, "l2", "classes"),
        (600_000, 54, 7, "l1", "hessians"),
        (20_000, 50_000, 2, "l2", "products"),
        (20_000, 50_000, 2, "l1", "sets"),
    ],
)
def test_the_way_of_newton_steps_does_not_depend_on_partitions(n, d, classes, penalty, way):
    loss = "softmax" if classes > 2 else "logistic"
    spec = check_spec(ModelSpec(loss, penalty, 1e-6, True))
    for partitions in (2, 64):
        totals = Totals(d, n, float(n), partitions, n // partitions, np.arange(classes))
        assert cheapest_systems(without_samples(spec, totals), 12.0 * n) == way


def test_dual_variables_may_stay_with_the_workers():
    one = stated("hinge")
    here, there = (solve(one, 2, partitions=4, dual=dual) for dual in (True, False))
    assert there.dual.size == there.certificate.sample_parts.size == 0
    assert len(here.dual) == len(here.certificate.sample_parts) == N
    assert there.certificate.gap == here.certificate.gap
    with pytest.raises(ValueError, match="dual must be True, False"):
        solve(one, dual="never")


def test_refusals():
    with pytest.raises(ValueError, match="no second derivatives"):
        solve(dg.Problem(X, CLASSES, "multiclass-hinge", "l2", 0.1), scheme="newton")
    with pytest.raises(ValueError, match="work must be at most 1"):
        solve(stated("ridge"), scheme="newton", work=3)
    data, y = sparse_data()
    with pytest.raises(ValueError, match="loss"):
        Partitioned([(data, y)], "no-such-loss")
