"""Losses with a logarithm as link: their optima against independent ones, their domains of y."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize

import dgcheck
import dualgap as dg
from dualgap import losses

RNG = np.random.default_rng(0)
N = 80
Z = RNG.standard_normal((N, 4))
MEAN = np.exp(0.5 * Z[:, 0] - 0.3 * Z[:, 1])
UNSCALED = Z * [1e-3, 1.0, 1e3, 50.0] + [0.0, 5.0, 0.0, 1e3]
WEIGHTS = RNG.integers(0, 4, N).astype(float)
POSITIVE = RNG.gamma(2.0, MEAN)
COUNTS = RNG.poisson(2.0 * POSITIVE).astype(float)
CLAIMS = POSITIVE * (RNG.random(N) < 0.6)
CASES = {
    "gamma": (losses.Gamma(), POSITIVE),
    "tweedie-1.5": (losses.Tweedie(1.5), CLAIMS),
    "tweedie-1.1": (losses.Tweedie(1.1), CLAIMS),
    "tweedie-1.9": (losses.Tweedie(1.9), CLAIMS),
    "negative-binomial": (losses.NegativeBinomial(0.8), COUNTS),
    "nearly-poisson": (losses.NegativeBinomial(1e6), COUNTS),
}


def family(loss):
    """The same distribution in statsmodels."""
    link = sm.families.links.Log()
    if isinstance(loss, losses.Gamma):
        return sm.families.Gamma(link)
    if isinstance(loss, losses.Tweedie):
        return sm.families.Tweedie(link, var_power=loss.power, eql=True)
    return sm.families.NegativeBinomial(link, alpha=1.0 / loss.theta)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("X", [Z, UNSCALED], ids=["", "unscaled"])
@pytest.mark.parametrize("name", CASES)
def test_without_a_penalty_the_optimum_is_that_of_statsmodels(name, X, weights):
    loss, y = CASES[name]
    free = dg.penalties.Weighted("l2", np.zeros(4))
    found = dg.solve(dg.Problem(X, y, loss, free, 1.0, weights, intercept=True), tol=1e-12)
    assert found.certificate.relative_gap <= 1e-9
    used = np.ones(N) if weights is None else weights
    design = sm.add_constant(Z)  # well-conditioned, with the same predictions
    theirs = sm.GLM(y, design, family(loss), freq_weights=used).fit(
        tol=1e-13, tol_criterion="params", maxiter=2000
    )
    z = X @ found.coef + found.intercept
    np.testing.assert_allclose(z, np.log(theirs.fittedvalues), rtol=0, atol=5e-6)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("name", CASES)
def test_with_a_penalty_the_gap_is_closed_at_the_optimum(name, size):
    loss, y = CASES[name]
    if not isinstance(loss, losses.NegativeBinomial) or size > 1.0:
        y = size * y
    problem = dg.Problem(Z, y, loss, "l2", 0.1, WEIGHTS, intercept=True)
    found = dg.solve(problem, tol=1e-9)
    assert found.converged
    assert found.certificate.dual <= found.certificate.upper

    def objective(w):
        z = Z @ w[:-1] + w[-1]
        with np.errstate(over="ignore"):
            if name == "gamma":
                values = y * np.exp(-z) + z
            elif name.startswith("tweedie"):
                p = loss.power
                values = y * np.exp((1 - p) * z) / (p - 1) + np.exp((2 - p) * z) / (2 - p)
            else:
                s = z - np.log(loss.theta)
                values = y * np.logaddexp(0.0, -s) + loss.theta * np.logaddexp(0.0, s)
        return np.average(values, weights=WEIGHTS) + 0.05 * w[:-1] @ w[:-1]

    start = np.r_[found.coef, found.intercept]
    scale = found.certificate.scale
    options = {"gtol": 1e-8}
    there = minimize(lambda w: objective(w) / scale, start + 0.01, method="BFGS", options=options)
    best = objective(there.x)
    assert objective(start) == pytest.approx(found.certificate.primal, rel=1e-12)
    assert found.certificate.dual <= best * (1.0 + 1e-12 * np.sign(best))
    assert best - found.certificate.dual <= 1e-7 * max(abs(best), scale)


@pytest.mark.parametrize("intercept", [True, False, "penalised"])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("name", CASES)
def test_dgcheck_verifies_their_proofs(name, penalty, intercept, tmp_path, capsys):
    from dualgap.proof.proof_file import proven_solution, write_proof

    loss, y = CASES[name]
    problem = dg.Problem(UNSCALED, y, loss, penalty, 1e-3, WEIGHTS, intercept=intercept)
    solution = dg.solve(problem, tol=1e-8)
    write_proof(tmp_path / "proof.dgp", UNSCALED, y, [proven_solution(problem, solution)])
    np.savez(tmp_path / "data.npz", X=UNSCALED, y=y)
    code = dgcheck.main([str(tmp_path / "data.npz"), str(tmp_path / "proof.dgp")])
    assert code == 0, capsys.readouterr().out


def test_counts_without_any_have_an_infimum_but_no_minimum():
    for loss in (losses.NegativeBinomial(), losses.Tweedie()):
        found = dg.solve(dg.Problem(Z, np.zeros(N), loss, lam=0.1, intercept=True), tol=1e-6)
        assert found.certificate.gap <= 1e-6 * found.certificate.scale


@pytest.mark.parametrize(
    ("loss", "y", "words"),
    [
        ("gamma", [0.0, 1.0], "y has zeros; Gamma needs numbers > 0: use Tweedie"),
        ("gamma", [-1.0, 1.0], "y has entries below 0|negative entries; Gamma needs numbers > 0"),
        ("gamma", [1e-200, 1.0], "rescale y"),
        ("tweedie", [-1.0, 1.0], "negative entries; Tweedie needs counts or rates >= 0"),
        ("negative-binomial", [-1.0, 1.0], "negative entries; NegativeBinomial needs counts"),
        (losses.Tweedie(2.0), [1.0, 1.0], "power must be < 2, not 2: use the loss Gamma"),
        (losses.Tweedie(1.0), [1.0, 1.0], "power must be > 1"),
        (losses.NegativeBinomial(0.0), [1.0, 1.0], "theta must be positive"),
    ],
)
def test_what_they_refuse(loss, y, words):
    with pytest.raises(ValueError, match=words):
        dg.Problem(np.ones((2, 1)), y, loss)
