"""Categorical columns of dataframes: the fits are those of one-hot columns."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import dgcheck
import dualgap as dg

LEVELS = {"area": 6, "brand": 11, "region": 4}


def frame(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.normal(size=n), "power": rng.normal(size=n)})
    for name, count in LEVELS.items():
        codes = rng.integers(0, count, n)
        X[name] = pd.Categorical.from_codes(codes, [f"{name[0]}{k}" for k in range(count)])
    X["town"] = np.where(rng.random(n) > 0.4, "yes", "no")
    X["old"] = X["age"] > 0.5
    effects = rng.normal(size=20)
    eta = 0.5 * X["age"] + 0.3 * X["old"] + 0.2 * (X["town"] == "yes")
    eta += 0.4 * effects[X["brand"].cat.codes] + 0.3 * effects[10 + X["area"].cat.codes]
    return X, eta.to_numpy(), rng


def one_hot(X):
    return pd.get_dummies(X, columns=[*LEVELS, "town", "old"]).astype(float)


def target(model, eta, rng):
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return np.where(eta + rng.logistic(size=len(eta)) > 0.0, "claim", "none")
    return rng.poisson(np.exp(eta)).astype(float)


MODELS = [
    dg.LinearSVC(),
    dg.LinearSVC(loss="hinge"),
    dg.LogisticRegression(),
    dg.LogisticRegression(l1_ratio=1.0, C=0.1),
    dg.LogisticRegressionCV(cv=3, Cs=3),
    dg.RidgeClassifier(),
    dg.Ridge(),
    dg.RidgeCV(),
    dg.RidgeCV(cv=3),
    dg.Lasso(alpha=0.01),
    dg.LassoCV(cv=3),
    dg.ElasticNet(alpha=0.01),
    dg.ElasticNetCV(cv=3),
    dg.LinearSVR(),
    dg.QuantileRegressor(alpha=0.01),
    dg.HuberRegression(alpha=0.01),
    dg.PoissonRegressor(alpha=0.01),
    dg.CertifiedClassifier("softmax"),
    dg.CertifiedRegressor("huber", "elastic-net"),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_fits_are_those_of_one_hot_columns(model, weighted):
    X, eta, rng = frame()
    y = target(model, eta, rng)
    weights = {"sample_weight": rng.random(len(y))} if weighted else {}
    ours = clone(model).set_params(categories="auto", tol=1e-8).fit(X, y, **weights)
    theirs = clone(model).set_params(tol=1e-8).fit(one_hot(X), y, **weights)
    names = [name.replace("_", "=") for name in theirs.coef_names_]
    assert list(ours.coef_names_) == names
    assert ours.coef_names_[2] == "area=a0"
    size = np.abs(theirs.coef_).max()
    if not isinstance(model, dg.LassoCV):  # whose levels can all move by as much as the intercept
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4 * size)
    one, two = np.atleast_1d(ours.certificate_), np.atleast_1d(theirs.certificate_)
    for mine, other in zip(one, two):
        assert abs(mine.primal - other.primal) <= mine.gap + other.gap
        assert mine.dual <= other.upper
        assert other.dual <= mine.upper
    if hasattr(ours, "decision_function"):
        found, expected = ours.decision_function(X), theirs.decision_function(one_hot(X))
    else:
        found, expected = ours.predict(X), theirs.predict(one_hot(X))
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())
    assert ours.encoded(X).shape == (300, ours.coef_.shape[-1])
    np.testing.assert_array_equal(ours.encoded(X).toarray(), one_hot(X).to_numpy())


def test_what_is_not_asked_for_is_refused():
    X, eta, _ = frame()
    with pytest.raises(ValueError, match=r"'area', 'brand', 'region', 'town'.*categories=\"auto\""):
        dg.Ridge().fit(X, eta)
    with pytest.raises(ValueError, match='add them to "categories"'):
        dg.Ridge(categories=["area", "brand"]).fit(X, eta)
    with pytest.raises(ValueError, match="did you mean 'area'"):
        dg.Ridge(categories=["aera"]).fit(X, eta)
    with pytest.raises(ValueError, match="'all' is unknown"):
        dg.Ridge(categories="all").fit(X, eta)
    with pytest.raises(ValueError, match="must be None"):
        dg.Ridge(categories=3).fit(X, eta)
    with pytest.raises(ValueError, match=r"needs a dataframe.*ndarray"):
        dg.Ridge(categories="auto").fit(np.ones((3, 2)), np.arange(3.0))
    with pytest.raises(ValueError, match="same name"):
        dg.Ridge(categories="auto").fit(pd.concat([X, X], axis=1), eta)
    with pytest.raises(ValueError, match="handle_missing 'drop' is unknown"):
        dg.Ridge(categories="auto", handle_missing="drop").fit(X, eta)
    with pytest.raises(ValueError, match="handle_unknown 'drop' is unknown"):
        dg.Ridge(categories="auto", handle_unknown="drop").fit(X, eta)
    with pytest.raises(ValueError, match="NaN"):
        dg.Ridge(categories="auto").fit(X.assign(age=np.nan), eta)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        dg.Ridge(categories="auto").fit(X, eta[:-1])


def test_numbers_in_other_clothes_stay_numbers():
    X = pd.DataFrame({"a": pd.Series([1.0, 2.0, 4.0], dtype=object), "b": [True, False, True]})
    model = dg.Ridge().fit(X, [1.0, 2.0, 3.0])
    expected = dg.Ridge().fit(X.to_numpy(dtype=float), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert list(model.coef_names_) == ["a", "b"]
    assert list(expected.coef_names_) == ["x0", "x1"]


def test_missing_values():
    X, eta, _ = frame()
    X.loc[[3, 5], "area"] = np.nan
    X.loc[7, "town"] = None
    with pytest.raises(ValueError, match=r"'area': 2, 'town': 1.*handle_missing=\"category\""):
        dg.Ridge(categories="auto").fit(X, eta)
    model = dg.Ridge(categories="auto", handle_missing="category").fit(X, eta)
    names = list(model.coef_names_)
    assert "area=<missing>" in names
    assert "town=<missing>" in names
    assert "brand=<missing>" not in names
    filled = X.astype({"area": object}).fillna({"area": "none", "town": "zz"})
    expected = dg.Ridge(categories="auto").fit(filled, eta)
    np.testing.assert_allclose(model.predict(X), expected.predict(filled), rtol=1e-6)
    X.loc[0, "brand"] = np.nan  # where the fit has seen none
    with pytest.raises(ValueError, match=r"has not seen.*'brand': <missing>"):
        model.predict(X)
    other = dg.Ridge(categories="auto").fit(X.dropna(), eta[X.notna().all(axis=1)])
    with pytest.raises(ValueError, match="missing values"):
        other.predict(X)


def test_unknown_levels():
    X, eta, _ = frame()
    model = dg.Ridge(categories="auto").fit(X, eta)
    new = X.astype({"area": object})
    new.loc[[1, 4], "area"] = "elsewhere"
    with pytest.raises(ValueError, match=r"'area': 'elsewhere'.*handle_unknown=\"ignore\""):
        model.predict(new)
    model.set_params(handle_unknown="ignore")
    own = one_hot(X).to_numpy()
    own[[1, 4], 2:8] = 0.0
    np.testing.assert_allclose(model.predict(new), own @ model.coef_ + model.intercept_)
    assert model.decision_radius(new).shape == (300,)
    np.testing.assert_array_equal(model.encoded(new).toarray(), own)


def test_levels_that_do_not_occur_have_no_coefficient():
    X, eta, _ = frame()
    some = (X["area"] != "a3").to_numpy()
    model = dg.Ridge(categories="auto").fit(X[some], eta[some])
    assert "area=a3" not in list(model.coef_names_)
    with pytest.raises(ValueError, match="has not seen"):
        model.predict(X)


def test_columns_must_be_those_of_the_fit():
    X, eta, _ = frame()
    model = dg.Ridge(categories="auto").fit(X, eta)
    assert list(model.feature_names_in_) == list(X.columns)
    assert model.n_features_in_ == 7
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="missing"):
        model.predict(X.drop(columns="old"))
    with pytest.raises(ValueError, match="fitted to a dataframe with categorical columns"):
        model.predict(one_hot(X).to_numpy())
    plain = dg.Ridge().fit(one_hot(X).to_numpy(), eta)
    plain.fit(X[["age"]], eta)  # a later fit forgets names and levels
    again = model.set_params(categories=None).fit(X[["age"]], eta)
    assert list(again.coef_names_) == ["age"]
    assert again.predict(X[["age"]]).shape == (300,)


def test_codes_that_are_numbers():
    X, eta, _ = frame()
    X["region"] = X["region"].cat.codes + 100
    model = dg.Ridge(categories=["region"]).fit(X[["age", "region"]], eta)
    assert list(model.coef_names_) == ["age", *(f"region={k}" for k in range(100, 104))]


def test_categories_alone():
    X, eta, _ = frame()
    model = dg.Ridge(alpha=1e-9, categories="auto", tol=1e-12).fit(X[["brand"]], eta)
    means = pd.Series(eta).groupby(X["brand"], observed=True).mean()
    np.testing.assert_allclose(model.coef_ + model.intercept_, means, rtol=1e-6)


def test_float32_stays_float32():
    X, eta, _ = frame()
    X = X.astype({"age": np.float32, "power": np.float32})
    model = dg.LogisticRegression(categories="auto").fit(X, eta > 0.0)
    assert model.coef_.dtype == np.float32
    assert model.dual_gap_ < 1e-4


def test_polars_gives_the_same():
    pl = pytest.importorskip("polars")
    X, eta, _ = frame()
    theirs = pl.DataFrame({name: X[name].to_numpy() for name in ("age", "power")})
    for name in LEVELS:
        kind = pl.Enum(sorted(set(X[name]))) if name == "area" else pl.Categorical
        theirs = theirs.with_columns(pl.Series(name, list(X[name]), dtype=kind))
    theirs = theirs.with_columns(
        pl.Series("town", list(X["town"])), pl.Series("old", X["old"].to_list())
    )
    X["brand"] = X["brand"].astype(object)  # of polars only categories of an Enum have an order
    ours = dg.Ridge(categories="auto").fit(X, eta)
    other = dg.Ridge(categories="auto").fit(theirs, eta)
    assert list(ours.coef_names_) == list(other.coef_names_)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(theirs), other.predict(X), rtol=1e-9)
    hole = theirs.with_columns(
        pl.when(pl.col("age") > 1.0).then(None).otherwise(pl.col("town")).alias("town")
    )
    with pytest.raises(ValueError, match=r"missing values.*'town'"):
        ours.predict(hole)
    with pytest.raises(ValueError, match="columns of text"):
        dg.Ridge().fit(theirs, eta)


def test_with_tools_of_sklearn():
    X, eta, rng = frame()
    model = dg.LogisticRegression(categories="auto")
    y = target(model, eta, rng)
    scores = cross_val_score(make_pipeline("passthrough", model), X, y, cv=3)
    expected = cross_val_score(dg.LogisticRegression(), one_hot(X), y, cv=3)
    np.testing.assert_array_equal(scores, expected)
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_estimator_.coef_names_[2] == "area=a0"
    assert make_column_selector(dtype_include="category")(X) == list(LEVELS)
    assert clone(model).categories == "auto"


def test_pickles_remember_the_levels():
    X, eta, _ = frame()
    model = dg.Ridge(categories="auto").fit(X, eta)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert list(again.coef_names_) == list(model.coef_names_)
    np.testing.assert_array_equal(again.decision_radius(X), model.decision_radius(X))


@pytest.mark.parametrize("alpha", [0.0, 0.01])
def test_proofs_are_checked_independently(tmp_path, alpha):
    X, eta, rng = frame(200)
    y = rng.poisson(np.exp(eta)).astype(float)
    model = dg.PoissonRegressor(alpha=alpha, categories="auto").fit(X, y)
    np.savez(tmp_path / "data.npz", X=model.encoded(X).toarray(), y=y)
    model.save_proof(tmp_path / "proof.dgp")
    assert dgcheck.main([str(tmp_path / "data.npz"), str(tmp_path / "proof.dgp")]) == 0
    if alpha:
        problem = dg.Problem(model.encoded(X), y, "poisson", "l2", alpha, intercept=True)
        proof = dg.certify(problem, model.coef_, model.dual_coef_, model.intercept_)
        assert proof.relative_gap < 1e-4


def test_without_a_penalty_all_levels_stay():
    X, eta, rng = frame(2000)
    y = rng.poisson(np.exp(eta)).astype(float)
    model = dg.PoissonRegressor(alpha=0.0, categories="auto", tol=1e-8).fit(X, y)
    less = pd.get_dummies(X, columns=[*LEVELS, "town", "old"], drop_first=True).astype(float)
    other = dg.PoissonRegressor(alpha=0.0, tol=1e-8).fit(less, y)
    assert model.coef_.shape == (2 + 6 + 11 + 4 + 2 + 2,)
    assert model.dual_gap_ < 1e-7
    one, two = model.certificate_, other.certificate_
    assert abs(one.primal - two.primal) <= one.gap + two.gap
    np.testing.assert_allclose(model.predict(X), other.predict(less), rtol=1e-3)


def test_summaries_name_levels():
    X, eta, rng = frame(1000)
    y = rng.poisson(np.exp(eta)).astype(float)
    ours = dg.PoissonRegressor(alpha=1e-3, categories="auto", tol=1e-10).fit(X, y).summary()
    theirs = dg.PoissonRegressor(alpha=1e-3, tol=1e-10).fit(one_hot(X), y).summary()
    assert [name.replace("_", "=") for name in theirs.names] == list(ours.names)
    np.testing.assert_allclose(ours.covariance, theirs.covariance, rtol=1e-6)


def test_warm_starts():
    X, eta, rng = frame()
    y = rng.poisson(np.exp(eta)).astype(float)
    model = dg.PoissonRegressor(alpha=0.01, categories="auto", warm_start=True).fit(X, y)
    coef = model.coef_
    np.testing.assert_allclose(model.fit(X, y).coef_, coef, rtol=1e-3)


def test_encoded_data_are_data_for_others():
    X, eta, _ = frame()
    model = dg.Ridge(categories="auto").fit(X, eta)
    data = model.encoded(X)
    assert sp.issparse(data)
    assert data.format == "csr"
    from sklearn.linear_model import Ridge

    expected = Ridge().fit(data, eta)
    np.testing.assert_allclose(expected.coef_, model.coef_, atol=1e-3)
    assert dg.certify(expected, data, eta).relative_gap < 1e-4


@pytest.mark.parametrize("kind", ["poisson", "logistic"])
def test_levels_without_events_have_a_proof_without_a_penalty(tmp_path, kind):
    """Their optimal coefficient is −∞, so the optimum is that of all other samples."""
    X, eta, rng = frame(400)
    quiet = ((X["area"] == "a2") | (X["brand"] == "b7")).to_numpy()
    if kind == "poisson":
        y = np.where(quiet, 0.0, rng.poisson(np.exp(eta)))
        model = dg.PoissonRegressor(alpha=0.0, categories="auto")
    else:
        y = np.where(quiet, 0, (eta + rng.logistic(size=400) > 0.0).astype(int))
        model = dg.LogisticRegression(C=np.inf, categories="auto")
    model.set_params(tol=1e-6).fit(X, y)
    other = clone(model).set_params(tol=1e-9).fit(X[~quiet], y[~quiet])
    share = (~quiet).mean()
    ours, theirs = model.certificate_, other.certificate_
    assert ours.dual <= share * theirs.upper
    assert share * theirs.dual <= ours.upper
    assert ours.relative_gap <= 1e-6
    np.savez(tmp_path / "data.npz", X=model.encoded(X).toarray(), y=y)
    model.save_proof(tmp_path / "proof.dgp")
    assert dgcheck.main([str(tmp_path / "data.npz"), str(tmp_path / "proof.dgp")]) == 0


@pytest.mark.parametrize("model", [dg.Ridge(), dg.LassoCV(cv=3), dg.RidgeCV(cv=3)], ids=str)
def test_facts_of_columns_are_those_of_all_levels(model):
    X, eta, _ = frame()
    ours = clone(model).set_params(
        categories="auto",
        tol=1e-8,
        penalty_weight={"region": 3.0, "region=r1": 5.0, "age": 2.0},
    )
    ours.fit(X, eta)
    plain = one_hot(X)
    factors = {f"region_r{k}": 5.0 if k == 1 else 3.0 for k in range(4)}
    theirs = clone(model).set_params(penalty_weight={**factors, "age": 2.0}, tol=1e-8)
    theirs.fit(plain, eta)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_offsets():
    X, eta, rng = frame()
    y, offset = rng.poisson(np.exp(eta)).astype(float), rng.normal(size=300)
    model = dg.PoissonRegressor(alpha=0.01)
    ours = clone(model).set_params(categories="auto", tol=1e-8).fit(X, y, offset=offset)
    theirs = clone(model).set_params(tol=1e-8).fit(one_hot(X), y, offset=offset)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
