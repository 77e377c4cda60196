"""Free columns that nearly depend on each other: bounds hold for the exact optimum."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import hilbert
from sklearn.exceptions import ConvergenceWarning

import dgcheck
import dualgap as dg


def optimum(X, y):
    """The least mean of halved squares, in exact arithmetic."""
    rows = [[*map(Fraction, row.tolist()), Fraction(1)] for row in X]
    values = list(map(Fraction, y.tolist()))
    d = len(rows[0])
    table = [
        [sum(row[j] * row[k] for row in rows) for k in range(d)]
        + [sum(row[j] * v for row, v in zip(rows, values))]
        for j in range(d)
    ]
    for k in range(d):
        pivot = table[k][k]
        for i in range(d):
            if i != k:
                factor = table[i][k] / pivot
                table[i] = [a - factor * b for a, b in zip(table[i], table[k])]
    coef = [row[-1] / row[k] for k, row in enumerate(table)]
    rest = [v - sum(w * x for w, x in zip(coef, row)) for row, v in zip(rows, values)]
    return sum(r * r for r in rest) / (2 * len(values))


def data(kind):
    rng = np.random.default_rng(len(kind))
    X = hilbert(14)[:, :7] if kind == "hilbert" else rng.normal(size=(14, 5))
    if kind != "hilbert":
        X[:, 4] = X[:, 0] - X[:, 1] + float(kind) * rng.normal(size=14)
    return X, rng.normal(size=14) + 1.0


@pytest.mark.parametrize("kind", ["hilbert", "1e-4", "1e-8", "1e-11"])
def test_least_squares_have_a_bound_that_is_true(kind, tmp_path):
    X, y = data(kind)
    best = optimum(X, y)
    model = dg.LinearRegression(tol=1e-3).fit(X, y)
    found = model.certificate_
    assert Fraction(found.dual) <= best <= Fraction(found.upper)
    assert Fraction(found.primal) - best <= Fraction(found.gap)
    assert found.gap <= 1e-3 * found.dual
    model.save_proof(tmp_path / "model.dgp")
    np.savez(tmp_path / "data.npz", X=X, y=y)
    assert dgcheck.main([str(tmp_path / "data.npz"), str(tmp_path / "model.dgp")]) == 0


@pytest.mark.parametrize("nearly", [1e-6, 1e-10])
def test_bounds_of_other_losses_agree_with_those_of_other_columns(nearly):
    """The columns x and x + e span what x and e do, whose bounds need no such care."""
    rng = np.random.default_rng(0)
    # Whole numbers times powers of two: both spans are the same in exact arithmetic.
    x, e = np.round(rng.normal(size=(2, 60)) * 64.0) / 64.0
    far = 2.0 ** np.round(np.log2(nearly))
    y = np.where(x + e + rng.normal(size=60) > 0.0, 1.0, -1.0)
    free = dg.penalties.Weighted(dg.penalties.L2(), np.zeros(2))
    pairs = [np.column_stack([x, x + far * e]), np.column_stack([x, e])]
    near, plain = (
        dg.solve(dg.Problem(X, y, "logistic", free, 1.0, intercept=True), tol=1e-8).certificate
        for X in pairs
    )
    assert near.dual <= plain.upper
    assert plain.dual <= near.upper
    assert near.dual > 0.9 * plain.dual


def test_words_name_the_columns_and_what_helps():
    """A column in other units depends on the first up to rounding: no bound, no long search."""
    X, y = data("1e-4")
    X[:, 4] = 0.1 * X[:, 0]
    words = r"Column 0 of X .* drop it, or use a small penalty\.$"
    for model in (dg.LogisticRegression(C=np.inf), dg.PoissonRegressor(alpha=0)):
        with pytest.warns(ConvergenceWarning, match=words):
            model.fit(X, (y > 1.0) * 1)
        assert model.certificate_.dual <= model.certificate_.primal
        assert model.solution_.passes < 500


def test_a_hopeless_crawl_ends_early():
    y = np.random.default_rng(1).poisson(1.0, size=60)
    with pytest.warns(ConvergenceWarning, match=r"Columns .* of X .* drop some of them"):
        model = dg.PoissonRegressor(alpha=0).fit(hilbert(60)[:, :9], y)
    assert model.n_iter_ < 1000
    assert model.certificate_.relative_gap < 0.01
