"""Steps that each look at everything: many in a kernel are what Python does one by one."""

from math import inf
from typing import NamedTuple

import batch_reference as ref
import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap import losses, penalties, samplings
from dualgap.compile.rules import level
from dualgap.methods import Method
from dualgap.proof.certificate import evaluate
from dualgap.run import epochs
from dualgap.samplings.base import step_rule
from dualgap.steps import Coordinate
from dualgap.steps.base import Start
from dualgap.steps.coordinate.adaptive_steps import AdaptiveSteps, _draw

SAMPLINGS = [
    samplings.Residue(),
    samplings.Adaptive(),
    samplings.SupportSet(),
    samplings.AdaUniform(0.3),
    samplings.AdaGap(),
]
WEIGHTS = [0.0, 1.0, 0.5, 2.0]
# View, loss, penalty, storage.
CASES = {
    "squared": ("dual", losses.Squared(0.7), "l2", sp.csr_array),
    "hinge": ("dual", losses.Hinge(), "l2", sp.csc_array),
    "lasso": ("primal", losses.Squared(), "l1", sp.csr_array),
    "unpenalised": ("primal", losses.Squared(), "weighted", np.asarray),
}


def named(sampling):
    return type(sampling).__name__


def one_by_one(sampling):
    """The same sampling without a rule for kernels."""

    class Plain(type(sampling)):
        def weights(self, scores):
            return super().weights(scores)

    return Plain(**vars(sampling))


def problem_of(name, n=40, d=12):
    view, loss, penalty, storage = CASES[name]
    X = ref.sparse_rows(n, d, spread=0.5)
    X[5] = 0.0
    y = ref.labels(X) if loss.targets == "binary" else X[:, 0] + np.linspace(-1, 1, n)
    if penalty == "weighted":
        penalty = penalties.Weighted(penalties.ElasticNet(0.5), np.resize(WEIGHTS, d))
    s = np.resize([1.0, 2.0, 1.0, 0.0, 3.0], n)
    return dg.Problem(storage(X), y, loss, penalty, 0.02, sample_weight=s), view


def solved(problem, view, sampling, epochs, **options):
    method = Method(Coordinate(view), sampling)
    return dg.solve(problem, method, tol=0.0, max_epochs=epochs, **options)


def state(problem, view, seed=0):
    """A run at a point where no score hangs on a rounding error, with its scores."""
    rng = np.random.default_rng(seed)
    a, w = 0.4 * problem.y * rng.random(problem.n), 0.3 * rng.standard_normal(problem.d)
    w *= rng.random(problem.d) < 0.5
    w = np.clip(w, -0.2, 0.3) if isinstance(problem.penalty, penalties.Box) else w
    run = Coordinate(view).start(problem, Start(w, a))
    pair = run.pair()
    return run, pair, run.scores(pair, evaluate(problem, pair))


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=named)
@pytest.mark.parametrize("name", CASES)
def test_a_draw_follows_the_weights(name, sampling):
    """Against cumulative sums of ``weights(scores)``, over several groups of coordinates."""
    problem, view = problem_of(name, 600, 300)
    run, pair, scores = state(problem, view)
    view = run.view
    g = pair.z if view.matrix is problem.rows else -problem.lam * pair.u
    groups = np.empty((2, -(-view.size // 256)))
    rule = step_rule(sampling, scores)
    total = np.cumsum(sampling.weights(scores))
    for coin in np.random.default_rng(1).random(200):
        height = level(view.scorer, view.x, view.v)
        drawn = _draw(view.scorer, rule, height, coin, view.x, g, *groups)
        near = np.searchsorted(total, total[-1] * (coin + np.array([-1e-12, 1e-12])))
        assert near[0] <= drawn <= near[1]
        assert sampling.weights(scores)[drawn] > 0.0


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=named)
@pytest.mark.parametrize("name", CASES)
def test_steps_in_a_kernel_are_those_of_python(name, sampling, monkeypatch):
    """Call by call, so that g is the same bit for bit: the score of a coordinate that has just
    been optimised, at a kink, is decided by a rounding error."""
    monkeypatch.setattr(epochs, "TUNING", epochs.TUNING._replace(entries_per_block=1))
    problem, view = problem_of(name)
    assert_same(*(solved(problem, view, s, 3) for s in (sampling, one_by_one(sampling))))


@pytest.mark.parametrize("sampling", [SAMPLINGS[0], SAMPLINGS[1], SAMPLINGS[4]], ids=named)
@pytest.mark.parametrize("name", ["squared", "unpenalised"])
def test_many_steps_in_one_call_are_the_same_steps(name, sampling, monkeypatch):
    """Where scores are continuous, and for so many steps that errors of g could add up."""
    problem, view = problem_of(name)
    calls = []
    advance = AdaptiveSteps.advance
    monkeypatch.setattr(AdaptiveSteps, "advance", lambda *a: calls.append(len(a[1])) or advance(*a))
    epochs = 8
    many = solved(problem, view, sampling, epochs)
    size = problem.n if view == "dual" else problem.d
    assert set(calls) == {size - 1}  # the first look of an epoch is that of the certificate
    assert_same(many, solved(problem, view, one_by_one(sampling), epochs))


def assert_same(many, single):
    np.testing.assert_allclose(many.coef, single.coef, rtol=0, atol=1e-10)
    np.testing.assert_allclose(many.dual, single.dual, rtol=0, atol=1e-10)
    for column in ("updates", "iterations", "vector_operations"):
        np.testing.assert_array_equal(many.history[column], single.history[column])
    assert many.passes == single.passes


def test_errors_do_not_add_up():
    """20,000 steps in one call, towards the optimum and on around it."""
    problem, _ = problem_of("squared", 60, 15)
    run, _, scores = state(problem, "dual")
    steps = AdaptiveSteps(run.view, step_rule(samplings.Residue(), scores))
    order, moved, operations = steps.advance(np.random.default_rng(0).random(20_000))
    assert operations == len(order) + moved
    assert len(np.unique(order)) == np.count_nonzero(scores.residue)
    assert evaluate(problem, run.pair()).relative_gap < 1e-15


@pytest.mark.parametrize("sampling", SAMPLINGS[:4], ids=named)
def test_nothing_left_to_do_ends_the_run(sampling):
    """One step solves it, after which every weight is 0."""
    solution = dg.solve(dg.Problem(np.eye(4), [0.0, 0.0, 1.0, 0.0]), "sdca", sampling, tol=0.0)
    assert solution.history.updates[-1] < 20
    assert solution.certificate.relative_gap < 1e-12


class Cubed(samplings.AdaGap):
    """A subclass whose weights are not those of the rule that it inherits."""

    def weights(self, scores):
        return scores.gap**3


class Greedy(samplings.Residue):
    """The same for draws."""

    def draw(self, weights, count, rng):
        return np.full(count, np.argmax(weights))


@pytest.mark.parametrize("sampling", [Cubed(), Greedy()], ids=named)
def test_a_sampling_of_ones_own_is_asked_at_every_step(sampling, monkeypatch):
    problem, view = problem_of("squared")
    asked = []
    name = "weights" if isinstance(sampling, Cubed) else "draw"
    own = getattr(type(sampling), name)
    monkeypatch.setattr(type(sampling), name, lambda *a: asked.append(1) or own(*a))
    assert solved(problem, view, sampling, 2).history.updates[-1] == len(asked) == 2 * problem.n


def test_weights_without_a_finite_sum_are_refused():
    """Also when that happens inside a call."""

    class Endless(NamedTuple):
        """A squared loss that says that no a > 3 is feasible, and goes there."""

        gamma: float = 1.0
        targets = "real"
        lipschitz = inf
        differentiable = True
        quadratic = True
        value, slope, curvature = (
            losses.Squared.value,
            losses.Squared.slope,
            losses.Squared.curvature,
        )
        project, dual_step = losses.Squared.project, losses.Squared.dual_step

        def conj(self, a, y):
            return a * (0.5 * a - y) if a < 3.0 else inf

    problem = dg.Problem(np.eye(5), [1.0, 2.0, 3.0, 4.0, 5.0], Endless(), "l2", 10.0)
    with pytest.raises(ValueError, match="AdaGap gave negative or non-finite weights"):
        solved(problem, "dual", samplings.AdaGap(), 5)
