"""Several quantiles in one fit."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import d2_pinball_score

import dgcheck
import dualgap as dg

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = X @ [1.0, -0.5, 0.0] + RNG.standard_normal(60) * (1.0 + (X[:, 0] > 0.0))
WEIGHTS = RNG.integers(0, 3, 60).astype(float)
QUANTILES = [0.1, 0.5, 0.9]


def test_each_is_the_model_of_its_own(tmp_path, capsys):
    frame = pd.DataFrame(X, columns=list("abc"))
    model = dg.QuantileRegressor(quantile=QUANTILES, alpha=0.01, tol=1e-9)
    model.fit(frame, Y, sample_weight=WEIGHTS)
    assert model.coef_.shape == (3, 3)
    assert model.intercept_.shape == model.dual_gap_.shape == (3,)
    assert model.predict(frame).shape == model.decision_radius(frame).shape == (60, 3)
    scores = []
    for k, quantile in enumerate(QUANTILES):
        one = dg.QuantileRegressor(quantile=quantile, alpha=0.01, tol=1e-9)
        one.fit(frame, Y, sample_weight=WEIGHTS)
        np.testing.assert_allclose(model.coef_[k], one.coef_, atol=1e-6)
        np.testing.assert_allclose(model.predict(frame)[:, k], one.predict(frame), atol=1e-6)
        assert model.certificate_[k].primal == pytest.approx(one.certificate_.primal, rel=1e-8)
        scores.append(d2_pinball_score(Y, one.predict(frame), alpha=quantile))
    assert model.score(frame, Y) == pytest.approx(np.mean(scores))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(frame), model.predict(frame))
    again = model.set_params(warm_start=True).fit(frame, Y, sample_weight=WEIGHTS)
    assert (np.asarray(again.dual_gap_) <= 1e-8).all()
    offset = X[:, 0]
    moved = dg.QuantileRegressor(quantile=QUANTILES, alpha=0.01, tol=1e-9)
    moved.fit(frame, Y + offset, sample_weight=WEIGHTS, offset=offset)
    expected = model.predict(frame) + offset[:, None]
    np.testing.assert_allclose(moved.predict(frame, offset=offset), expected, atol=1e-5)
    model.save_proof(tmp_path / "model.dgp")
    np.savez(tmp_path / "data.npz", X=X, y=Y, sample_weight=WEIGHTS)
    code = dgcheck.main([str(tmp_path / "data.npz"), str(tmp_path / "model.dgp")])
    assert code == 0, capsys.readouterr().out


@pytest.mark.parametrize("wrong", [[], [0.5, 1.0], [0.0], [[0.1, 0.2]], ["half"]])
def test_wrong_quantiles_are_refused(wrong):
    with pytest.raises(ValueError, match="quantile must be"):
        dg.QuantileRegressor(quantile=wrong).fit(X, Y)
