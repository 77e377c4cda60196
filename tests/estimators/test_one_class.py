"""One-class support vector machines: optimum, certificate, proof file, predictions."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import OneClassSVM as Theirs

import dgcheck
import dualgap as dg

RNG = np.random.default_rng(5)
X = RNG.normal([2.0, 0.5, 0.0], size=(60, 3))
WEIGHTS = np.arange(60) % 4 / 2


def objective(X, s, nu, lam, w, b):
    """That of the certificate, exactly."""
    X = [[Fraction(float(v)) for v in row] for row in X]
    s, nu, lam = [Fraction(float(v)) for v in s], Fraction(nu), Fraction(lam)
    w, b, total = [Fraction(float(v)) for v in w], Fraction(float(b)), sum(s)
    centre = [nu * sum(v * row[j] for v, row in zip(s, X)) / (lam * total) for j in range(len(w))]
    z = [sum(v * x for v, x in zip(w, row)) + b for row in X]
    losses = sum(v * max(nu * each, (nu - 1) * each) for v, each in zip(s, z))
    return losses / total + lam * sum((v - m) ** 2 for v, m in zip(w, centre)) / 2


@pytest.mark.parametrize(
    ("shift", "scale", "nu", "weights", "dtype"),
    [
        (0.0, 1.0, 0.5, None, np.float64),
        (100.0, 1.0, 0.1, WEIGHTS, np.float64),
        (1e6, 1e-2, 0.3, None, np.float64),
        (3.0, 1.0, 0.9, WEIGHTS, np.float32),
    ],
)
def test_the_optimum_is_that_of_libsvm_and_the_bounds_are_exact(
    tmp_path, shift, scale, nu, weights, dtype
):
    data = (X * scale + shift).astype(dtype)
    s = np.ones(60) if weights is None else weights
    model = dg.OneClassSVM(nu=nu, tol=1e-9).fit(data, sample_weight=weights)
    other = Theirs(kernel="linear", nu=nu, tol=1e-9).fit(data, sample_weight=weights)
    certificate, lam = model.certificate_, 1.0 / float(np.sum(s))
    facts = data, s, nu, lam
    mine = objective(*facts, model.coef_[0], model.intercept_[0])
    theirs = objective(*facts, other.coef_[0], other.intercept_[0])
    assert certificate.dual <= mine <= certificate.upper
    assert certificate.dual <= theirs
    assert mine - certificate.dual <= certificate.gap * (1 + 1e-9)
    assert certificate.relative_gap <= (1e-9 if dtype == np.float64 else 1e-7)
    if shift < 1e5:  # where libsvm is exact
        np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-4, atol=1e-4)
        differ = model.predict(data) != other.predict(data)
        assert not (differ & model.predict_certified(data)).any()
    more = {} if weights is None else {"sample_weight": weights}
    np.savez(tmp_path / "data.npz", X=data, y=np.arange(60), **more)  # whatever y is
    model.save_proof(tmp_path / "proof.dgp")
    assert dgcheck.main([str(tmp_path / "data.npz"), str(tmp_path / "proof.dgp")]) == 0


def test_predictions_are_what_they_say():
    model = dg.OneClassSVM(nu=0.2).fit(sp.csr_array(X))
    assert model.coef_.shape == (1, 3)
    assert model.intercept_.shape == model.offset_.shape == (1,)
    np.testing.assert_allclose(
        model.decision_function(X), model.score_samples(X) - model.offset_, atol=1e-12
    )
    assert (model.predict(X) == np.where(model.decision_function(X) >= 0, 1, -1)).all()
    assert model.predict(X).tolist() == model.fit_predict(X).tolist()
    assert 0.0 < np.mean(model.predict(X) == -1) <= 0.25
    exact = dg.OneClassSVM(nu=0.2, tol=1e-12).fit(X)
    away = np.abs(model.decision_function(X) - exact.decision_function(X))
    assert (away <= model.decision_radius(X)).all()
    again = dg.OneClassSVM(nu=0.2, warm_start=True).fit(X)
    assert again.fit(X).n_iter_ <= again.n_iter_
    assert again.dual_coef_.shape == (1, 60)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"nu": 0.0}, "nu must be"),
        ({"nu": 1.5}, "nu must be"),
        ({"kernel": "rbf"}, "known are linear"),
    ],
)
def test_bad_parameters(settings, words):
    with pytest.raises(ValueError, match=words):
        dg.OneClassSVM(**settings).fit(X)


def test_no_standard_errors():
    with pytest.raises(ValueError, match="no standard errors"):
        dg.OneClassSVM().fit(X).summary()
