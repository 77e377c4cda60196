"""Methods of coordinate steps, replayed in plain NumPy with the same coins, from the papers.

Each replay computes its own probabilities and steps; where an alias table draws, the draws are
taken over, and only the weights are compared.
"""

import batch_reference as ref
import numpy as np
import pytest
from plain_clocks import plain_draws

import dualgap as dg
from dualgap import samplings
from dualgap.proof.certificate import evaluate
from dualgap.samplings import Sampling
from dualgap.steps import AccProxSDCA, Coordinate, Step
from dualgap.steps.base import Start

N, LAM, GAMMA = 14, 0.02, 0.6


class Squared:
    def __init__(self, y):
        self.y = y

    def step(self, a, z, q, i):
        return a + (self.y[i] - z - GAMMA * a) / (GAMMA + q)

    def slope(self, z, i):
        return (z - self.y[i]) / GAMMA


class Recorded(Sampling):
    """Another sampling, with the weights and the draws of each round."""

    def __init__(self, inner):
        self.inner, self.refresh, self.rounds = inner, inner.refresh, []

    def weights(self, scores):
        return self.inner.weights(scores)

    def draw(self, weights, count, rng):
        order = self.inner.draw(weights, count, rng)
        self.rounds.append((weights.copy(), np.asarray(order).copy()))
        return order


class Kept(Step):
    """Another step, with the last run that it has started."""

    def __init__(self, inner):
        self.inner = inner

    def refusal(self, problem):
        return self.inner.refusal(problem)

    def view_of(self, problem):
        return self.inner.view_of(problem)

    def describe(self, problem):
        return self.inner.describe(problem)

    def start(self, problem, warm, setting):
        self.run = self.inner.start(problem, warm, setting)
        return self.run


def replayed(problem, step, sampling, rounds):
    """Weights and draws of the rounds, and the coordinates in the end."""
    recorded, kept = Recorded(sampling), Kept(step)
    dg.solve(problem, kept, recorded, tol=0.0, max_epochs=rounds)
    return recorded.rounds, kept.run.view.x


def proportional(found, expected):
    """Up to the rounding of weights: differences of numbers of about 1."""
    atol = max(1e-8, 4.0 * np.finfo(np.float64).eps / expected.max())
    np.testing.assert_allclose(found / found.max(), expected / expected.max(), rtol=1e-6, atol=atol)


# --- samples as coordinates -----------------------------------------------------------------------


def dual_problem(loss):
    X = ref.sparse_rows(N, 6, seed=2)
    if loss == "squared":
        y = X[:, 0] + np.linspace(-1.0, 1.0, N)
        return dg.Problem(X, y, dg.losses.Squared(GAMMA), "l2", LAM), Squared(y)
    y = ref.labels(X)
    plain = ref.SmoothedHinge(y, GAMMA)
    return dg.Problem(X, y, dg.losses.SmoothedHinge(GAMMA), "l2", LAM), plain


class Samples:
    """SDCA's state: α and w = Xᵀα/(λn)."""

    def __init__(self, problem, loss):
        self.X, self.loss = np.asarray(problem.X), loss
        self.v = (self.X**2).sum(axis=1)
        self.a = np.zeros(N)

    @property
    def w(self):
        return self.X.T @ self.a / (LAM * N)

    def update(self, i):
        z = self.X[i] @ self.w
        self.a[i] = self.loss.step(self.a[i], z, self.v[i] / (LAM * N), i)

    @property
    def residues(self):
        every = np.arange(N)
        return np.abs(self.a + self.loss.slope(self.X @ self.w, every))

    @property
    def importance(self):
        return self.v + N * LAM * GAMMA

    @property
    def gaps(self):
        """φ + φ* + αz for each sample."""
        z, a = self.X @ self.w, self.a
        if isinstance(self.loss, Squared):
            r = self.loss.y - z
            return 0.5 * r**2 / GAMMA + 0.5 * GAMMA * a**2 - a * self.loss.y + a * z
        b, margin = self.loss.y * a, 1.0 - self.loss.y * z
        value = np.where(margin > GAMMA, margin - GAMMA / 2, np.maximum(margin, 0) ** 2 / 2 / GAMMA)
        return value + 0.5 * GAMMA * b**2 - b + a * z

    lipschitz = 1.0


LOSSES = ["squared", "smoothed-hinge"]


@pytest.mark.parametrize("m", [2.0, 10.0, 50.0])
@pytest.mark.parametrize("option", ["I", "II"])
@pytest.mark.parametrize("loss", LOSSES)
def test_adasdca_plus(loss, option, m):
    """Csiba et al. 2015, Algorithm 2."""
    problem, plain = dual_problem(loss)
    rounds, a = replayed(problem, Coordinate("dual"), samplings.ResidueDecay(m, option), 4)
    state, coins = Samples(problem, plain), np.random.default_rng(0)
    assert len(rounds) == 4
    for weights, order in rounds:
        roots = state.residues * np.sqrt(state.importance)
        proportional(weights, roots if option == "I" else state.importance)
        assert list(order) == plain_draws(weights, N, m, coins)
        for i in order:
            state.update(i)
    np.testing.assert_allclose(a, state.a, rtol=1e-9, atol=1e-12)


def step_weights(name, state, found):
    """What a sampling weighs at a state, by its paper. Whether a coordinate that was just minimised
    has a residue of 0 or of a rounding error is for the library to say."""
    kappa, norm = state.residues, np.sqrt(state.v)
    support = np.where(kappa > 1e-10, 1.0, found > 0.0)
    adaptive = kappa * norm
    return {
        "uniform": np.ones(len(kappa)),
        "importance": state.importance,
        "residue": kappa * np.sqrt(state.importance),
        "support-set": support,
        "adaptive": adaptive,
        "ada-uniform": 0.5 * support / support.sum() + 0.5 * adaptive / adaptive.sum(),
        "ada-gap": state.gaps,
        "gap-per-epoch": state.gaps,
        "lipschitz": state.lipschitz * norm,
    }[name]


DUAL = {
    "uniform": samplings.Uniform(),  # SDCA
    "importance": samplings.Importance("smooth"),  # IProx-SDCA
    "residue": samplings.Residue(),  # AdaSDCA
    "support-set": samplings.SupportSet(),
    "adaptive": samplings.Adaptive(),
    "ada-uniform": samplings.AdaUniform(),
    "ada-gap": samplings.AdaGap(),
    "gap-per-epoch": samplings.GapPerEpoch(),
    "lipschitz": samplings.Importance("lipschitz"),
}


def check_replay(name, sampling, rounds, state, coins):
    """Weights and draws of all rounds; updates the state."""
    assert len(rounds) == 3 * len(state.v) if sampling.refresh == "step" else 3
    start = step_weights(name, state, rounds[0][0])
    for weights, order in rounds:
        now = start if sampling.refresh == "never" else step_weights(name, state, weights)
        proportional(weights, now)
        if name == "uniform":
            assert list(order) == list(coins.integers(len(weights), size=len(weights)))
        if sampling.refresh == "step":
            total = np.cumsum(weights)
            assert order[0] == np.searchsorted(total, coins.random() * total[-1], side="right")
        for i in order:
            state.update(i)


@pytest.mark.parametrize("name", [name for name in DUAL if name != "lipschitz"])
@pytest.mark.parametrize("loss", LOSSES)
def test_samplings_over_samples(loss, name):
    problem, plain = dual_problem(loss)
    rounds, a = replayed(problem, Coordinate("dual"), DUAL[name], 3)
    state = Samples(problem, plain)
    check_replay(name, DUAL[name], rounds, state, np.random.default_rng(0))
    np.testing.assert_allclose(a, state.a, rtol=1e-8, atol=1e-11)


# --- features as coordinates: the Lasso -----------------------------------------------------------


class Features:
    """Coordinate descent for the Lasso, with B = P(w)/λ of now or of the start."""

    def __init__(self, problem, bound):
        self.X, self.y, self.w = np.asarray(problem.X), problem.y, np.zeros(problem.d)
        self.v = (self.X**2).sum(axis=0) / len(self.y)
        self.fixed = self.objective if bound == "start" else None

    @property
    def objective(self):
        return ((self.X @ self.w - self.y) ** 2).mean() / 2.0 + LAM * np.abs(self.w).sum()

    @property
    def gradient(self):
        return self.X.T @ (self.X @ self.w - self.y) / len(self.y)

    @property
    def lipschitz(self):
        return (self.objective if self.fixed is None else self.fixed) / LAM

    def update(self, j):
        self.w[j] = ref.soft(self.w[j] - self.gradient[j] / self.v[j], LAM / self.v[j])

    @property
    def residues(self):
        """The distance from w_j to the maximiser of its conjugate: 0, or ±B beyond the kink."""
        g = self.gradient
        inside = np.where(np.abs(g) > LAM * (1 + 1e-9), -np.sign(g) * self.lipschitz, 0.0)
        at_kink = np.abs(np.abs(g) - LAM) <= LAM * 1e-9
        return np.where(at_kink & (self.w * g <= 0.0), 0.0, np.abs(self.w - inside))

    @property
    def gaps(self):
        g = self.gradient
        beyond = self.lipschitz * np.maximum(np.abs(g) - LAM, 0.0)
        return beyond + LAM * np.abs(self.w) + self.w * g

    @property
    def importance(self):
        return np.ones(len(self.w))


@pytest.mark.parametrize("bound", ["current", "start"])
@pytest.mark.parametrize("name", [n for n in DUAL if n not in ("importance", "residue")])
def test_samplings_over_features(name, bound):
    """Perekrestenko et al. 2017, section 3.4, with the Lipschitzing trick of section 4.1."""
    X = ref.sparse_rows(20, 8, seed=3)
    problem = dg.Problem(X, 3.0 * X[:, 0] + np.linspace(-1, 1, 20), "squared", "l1", LAM)
    rounds, w = replayed(problem, Coordinate("primal", bound), DUAL[name], 3)
    state = Features(problem, bound)
    check_replay(name, DUAL[name], rounds, state, np.random.default_rng(0))
    np.testing.assert_allclose(w, state.w, rtol=1e-8, atol=1e-11)


def test_a_bound_that_is_fixed_is_larger():
    """And the kernel of many steps knows it: the two take different ways."""
    X = ref.sparse_rows(20, 8, seed=3)
    problem = dg.Problem(X, 3.0 * X[:, 0] + np.linspace(-1, 1, 20), "squared", "l1", LAM)
    found = {}
    for bound in ("current", "start"):
        kept = Kept(Coordinate("primal", bound))
        dg.solve(problem, kept, samplings.AdaGap(), tol=0.0, max_epochs=3)
        found[bound] = kept.run.view.x.copy()
        state = Features(problem, bound)
        state.w = kept.run.view.x
        pair = kept.run.pair()
        scores = kept.run.scores(pair, evaluate(problem, pair))
        np.testing.assert_allclose(scores.lipschitz, state.lipschitz, rtol=1e-9)
        if bound == "start":
            assert kept.run.state()["ceiling"] == pytest.approx(state.fixed)
    assert not np.array_equal(found["current"], found["start"])
    with pytest.raises(ValueError, match="bound must be"):
        Coordinate(bound="last")


# --- AccProx-SDCA ---------------------------------------------------------------------------------


def accelerated(problem, plain, rounds, passes=None):
    """Shalev-Shwartz and Zhang 2014, section 2, with the inner method of ``Samples``."""
    state, coins = Samples(problem, plain), np.random.default_rng(0)
    kappa = state.v.max() / (GAMMA * N) - LAM
    eta = np.sqrt(0.5 * LAM / (0.5 * LAM + kappa))
    beta = (1.0 - eta) / (1.0 + eta)
    y = last = np.zeros(problem.d)
    first = problem.value_at_origin + 0.0  # P(0) − D(0), D(0) = 0
    steps, made, ends = 0, 0, []
    for _ in range(rounds):
        for i in coins.integers(N, size=N):
            w = inner(state, kappa, y)
            q = state.v[i] / (N * (LAM + kappa))
            state.a[i] = plain.step(state.a[i], state.X[i] @ w, q, i)
        w, made = inner(state, kappa, y), made + 1
        allowed = 0.5 * eta * first * (1.0 - 0.5 * eta) ** steps
        solved = made >= passes if passes else inner_gap(problem, state, kappa, y) <= allowed
        ends.append(bool(solved))
        if solved:
            y, last, steps, made = w + beta * (w - last), w, steps + 1, 0
    return state.a, ends


def inner(state, kappa, y):
    return (state.X.T @ state.a / N + kappa * y) / (LAM + kappa)


def inner_gap(problem, state, kappa, y):
    """P − D of the inner problem, at w = argmin λ/2‖w‖² + κ/2‖w − y‖² − ⟨w, Xᵀα/n⟩."""
    w = inner(state, kappa, y)
    z, a = state.X @ w, state.a
    if isinstance(state.loss, Squared):
        conjugate = 0.5 * GAMMA * a**2 - a * state.loss.y
        losses = 0.5 * (z - state.loss.y) ** 2 / GAMMA
    else:
        b, margin = state.loss.y * a, 1.0 - state.loss.y * z
        conjugate = 0.5 * GAMMA * b**2 - b
        losses = np.where(
            margin > GAMMA, margin - GAMMA / 2, np.maximum(margin, 0) ** 2 / 2 / GAMMA
        )
    return float(np.mean(losses + conjugate + a * z))


@pytest.mark.parametrize("passes", [None, 2])
@pytest.mark.parametrize("loss", LOSSES)
def test_accprox_sdca(loss, passes, monkeypatch):
    """A wrong κ, η, β or inner accuracy takes another way."""
    monkeypatch.setattr("test_replay.LAM", 2e-3)
    problem, plain = dual_problem(loss)
    kept = Kept(AccProxSDCA(passes))
    dg.solve(problem, kept, samplings.Uniform(), tol=0.0, max_epochs=60)
    a, ends = accelerated(problem, plain, 60, passes)
    assert kept.run.steps == sum(ends) >= 3
    assert passes or not all(ends[:10])  # the first accuracy takes more than one pass
    np.testing.assert_allclose(kept.run.view.x, a, rtol=1e-6, atol=1e-9)


def test_the_accuracy_of_inner_problems_rests_on_the_start(monkeypatch):
    """P(0) − D(0), also where the gap after a pass is 200 times as large."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    problem = dg.Problem(X, np.sign(X[:, 0]), dg.losses.SmoothedHinge(1.0), "l2", 1e-6)
    run = AccProxSDCA().start(problem, Start())
    first = problem.value_at_origin
    assert run.first_gap == pytest.approx(first)
    assert run.allowed_gap == pytest.approx(0.5 * run.eta * first)
    run.advance(rng.integers(200, size=200))
    pair = run.pair()
    proof = evaluate(problem, pair)
    assert proof.gap > 10.0 * first
    run.adapt(pair, proof)
    assert run.allowed_gap <= 0.5 * run.eta * first * (1.0 + 1e-12)
