"""``--offset``: a column of a table that is added to decision values."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dgcheck
import dualgap as dg
from dualgap.cli import app


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Counts with the logarithms of their exposures."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(size=80), "power": 3.0 + rng.normal(size=80)})
    frame["log_years"] = rng.normal(size=80)
    frame["weight"] = rng.uniform(0.5, 2.0, size=80)
    frame["claims"] = rng.poisson(np.exp(0.5 * frame.age - 1.0 + frame.log_years))
    path = tmp_path_factory.mktemp("claims") / "claims.csv"
    frame.to_csv(path, index=False)
    return path, frame


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def fitted(path, model, *more):
    columns = "--target", "claims", "--weights", "weight", "--offset", "log_years"
    return run("fit", path, *columns, "--loss", "poisson", "--lam", 0.1, "-o", model, *more)


def test_a_fit_with_offsets_is_predicted_certified_and_checked(table, tmp_path):
    path, frame = table
    model, proof = tmp_path / "model.json", tmp_path / "proof.dgp"
    result = fitted(path, model, "--proof", proof)
    assert result.exit_code == 0, result.output
    X, o = frame[["age", "power"]], frame.log_years
    expected = dg.PoissonRegressor(alpha=0.1, tol=1e-9).fit(X, frame.claims, frame.weight, offset=o)
    predicted = run("predict", model, path, "--offset", "log_years", "--json", "--decision")
    found = json.loads(predicted.stdout)
    np.testing.assert_allclose(found["prediction"], expected.predict(X, offset=o), rtol=2e-3)
    np.testing.assert_allclose(np.log(found["prediction"]), found["decision"])
    rates = json.loads(run("predict", model, path, "--json").stdout)["prediction"]
    np.testing.assert_allclose(rates, expected.predict(X), rtol=2e-3)
    again = run("certify", model, path, "--weights", "weight")  # of the column of the fit
    assert again.exit_code == 0, again.output
    assert dgcheck.main([str(path), str(proof)]) == 0


def test_parquet_has_offsets_too(table, tmp_path):
    pytest.importorskip("pyarrow")
    path, frame = table
    frame.to_parquet(tmp_path / "claims.parquet")
    for source, name in ((path, "a.json"), (tmp_path / "claims.parquet", "b.json")):
        assert fitted(source, tmp_path / name).exit_code == 0
    one, two = (dg.load_model(tmp_path / name) for name in ("a.json", "b.json"))
    np.testing.assert_array_equal(one.coef, two.coef)
    assert one.settings["offset_column"] == "log_years"


def test_refusals(table, tmp_path):
    path, _ = table
    result = run("fit", path, "--target", "claims", "--offset", "years")
    assert result.exit_code == 2
    assert "the column 'years' is unknown" in result.output
    rows = tmp_path / "rows.svm"
    rows.write_text("1 1:2\n-1 1:3\n")
    result = run("fit", rows, "--offset", "log_years")
    assert result.exit_code == 2
    assert "--offset is for tables" in result.output
