"""Estimators on Dask arrays, dataframes and files: as on one machine, without leaving the workers.

Without a client, so that threads of this process do the work.
"""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from cluster_data import blocks, sparse_data
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

import dualgap as dg
from dualgap import distributed
from dualgap.distributed import MODELS, from_libsvm
from dualgap.distributed.lazy import for_workers

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

COUNTS = ("PoissonRegressor", "NegativeBinomialRegressor", "TweedieRegressor")
LABELS = ("LinearSVC", "LogisticRegression", "RidgeClassifier", "CertifiedClassifier")


def dense_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    return X, X @ np.array([1.0, -1.0, 0.5, 0.0]) + 0.1 * rng.standard_normal(120)


def data_for(name):
    X, z = dense_data()
    if name in LABELS:
        return X, np.array(["a", "b", "c"])[np.digitize(z, [-1.0, 1.0])]
    if name in COUNTS or name == "GammaRegressor":
        return X, np.round(np.exp(0.3 * z)) + (name == "GammaRegressor")
    return X, z


def both(name):
    """The estimator for one machine, and that for partitions."""
    own = {} if name in LABELS or name == "LinearSVR" else {"alpha": 0.01}
    return getattr(dg, name)(**own), clone(getattr(distributed, name)(**own))


FEW = ("Lasso", "LinearSVC", "LogisticRegression", "PoissonRegressor", "RidgeClassifier")


@pytest.mark.parametrize(
    "name",
    [
        name if name in FEW else pytest.param(name, marks=pytest.mark.cluster)
        for name in MODELS
        if not name.endswith("CV")
    ],
)
def test_each_estimator_is_that_of_one_machine(name):
    X, y = data_for(name)
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    one, there = both(name)
    one.fit(X, y, weights)
    chunks = (50, 3)
    lazy = da.from_array(X, chunks=chunks)
    fitted = there.fit(lazy, da.from_array(y, chunks=40), da.from_array(weights, chunks=50))
    assert fitted is there
    for own, other in zip(np.ravel(there.certificate_), np.ravel(one.certificate_)):
        assert own.dual <= other.primal
        assert other.dual <= own.primal
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        assert hasattr(there, method) == hasattr(one, method)
        if not hasattr(one, method):
            continue
        found = getattr(there, method)(lazy)
        assert isinstance(found, da.Array)
        here = getattr(there, method)(X)
        assert isinstance(here, np.ndarray)
        assert found.shape == here.shape
        assert found.dtype == here.dtype
        np.testing.assert_array_equal(found.compute(), here)
    score = there.score(lazy, da.from_array(y, chunks=50), weights)
    one.coef_, one.intercept_ = there.coef_, there.intercept_
    assert score == pytest.approx(one.score(X, y, weights), rel=1e-9)


def test_dataframes_keep_their_names_and_their_index():
    X, z = dense_data()
    names = ["one", "two", "three", "four"]
    frame = pd.DataFrame(X, columns=names, index=np.arange(120) + 1000)
    frame["y"], frame["s"] = np.where(z > 0.0, "yes", "no"), 1.0
    lazy = dd.from_pandas(frame, npartitions=3)
    model = distributed.LogisticRegression(penalty_weight={"two": 2.0})
    model.fit(lazy[names], lazy["y"], lazy["s"])
    by_name = clone(model).fit(lazy, "y", "s")
    np.testing.assert_array_equal(model.coef_, by_name.coef_)
    one = dg.LogisticRegression(penalty_weight={"two": 2.0}).fit(frame[names], frame["y"])
    np.testing.assert_allclose(model.coef_, one.coef_, atol=0.05)
    assert list(model.feature_names_in_) == names
    labels = model.predict(lazy[names])
    assert isinstance(labels, dd.Series)
    pd.testing.assert_index_equal(labels.compute().index, frame.index)
    odds = model.predict_proba(lazy[names])
    assert list(odds.columns) == ["no", "yes"]
    np.testing.assert_array_equal(odds.compute(), model.predict_proba(frame[names]))
    assert model.score(lazy[names], lazy["y"]) == model.score(frame[names], frame["y"])
    turned = lazy[names[::-1]]
    for call in (lambda: model.predict(turned), lambda: model.score(turned, lazy["y"])):
        with pytest.raises(ValueError, match="in the same order"):
            call()
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(da.from_array(X, chunks=50))


def test_sparse_blocks_and_classes_that_a_partition_lacks():
    X, y = sparse_data()
    labels = np.digitize(y, [-0.3, 0.3])
    order = np.argsort(labels, kind="stable")
    X, labels = X[order], labels[order]
    lazy = da.from_array(X.toarray(), chunks=(60, -1)).map_blocks(sp.csr_matrix)
    model = distributed.LinearSVC(C=0.1, class_weight="balanced")
    model.fit(lazy, da.from_array(labels, chunks=60))
    assert list(model.classes_) == [0, 1, 2]
    np.testing.assert_array_equal(model.predict(lazy).compute(), model.predict(X))
    listed = distributed.LinearSVC(C=0.1, class_weight="balanced").fit(blocks(X, labels, 4))
    np.testing.assert_array_equal(listed.coef_, model.coef_)
    assert listed.score(blocks(X, labels, 3)) == model.score(X, labels)


def test_files_are_scored_with_the_features_of_the_fit(tmp_path):
    X, y = sparse_data()
    labels = np.where(y > 0.0, 1.0, -1.0)
    paths = [tmp_path / name for name in ("all.svm", "few.svm", "wide.svm")]
    dump_svmlight_file(X, labels, str(paths[0]), zero_based=False)
    dump_svmlight_file(X[:50, :20], labels[:50], str(paths[1]), zero_based=False)
    wide = sp.hstack([X, X[:, :3]]).tocsr()
    dump_svmlight_file(wide, labels, str(paths[2]), zero_based=False)
    model = distributed.LinearSVC().fit(from_libsvm(paths[0], 3))
    few = sp.csr_matrix((X[:50, :20].data, X[:50, :20].indices, X[:50, :20].indptr), (50, 30))
    found = model.score(from_libsvm(paths[1], 2, zero_based=False))
    assert found == model.score(few, labels[:50])
    with pytest.raises(ValueError, match="X has 33 features, but LinearSVC is expecting 30"):
        model.score(from_libsvm(paths[2], 2))


def test_what_would_be_read_into_memory_is_refused():
    X, z = dense_data()
    y = np.where(z > 0.0, 1.0, -1.0)
    lazy, lazy_y = da.from_array(X, chunks=50), da.from_array(y, chunks=50)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=2)
    fitted = dg.LinearSVC().fit(X, y)
    for call in (
        lambda: dg.LinearSVC().fit(lazy, y),
        lambda: dg.LinearSVC().fit(X, lazy_y),
        lambda: dg.LinearSVC().fit(X, y, lazy_y),
        lambda: dg.LinearSVC().fit(X, y, offset=lazy_y),
        lambda: dg.Ridge(categories="auto").fit(frame, z),
        lambda: dg.LassoCV().fit(frame, z),
        lambda: fitted.predict(lazy),
        lambda: fitted.decision_radius(lazy),
        lambda: dg.Problem(lazy, z),
        lambda: dg.Problem(X, lazy_y),
    ):
        with pytest.raises(ValueError, match=r"is a collection of Dask.*dualgap\.distributed"):
            call()


def test_what_estimators_on_partitions_refuse():
    X, z = dense_data()
    lazy = da.from_array(X, chunks=50)
    model = distributed.Ridge().fit(lazy, z)
    with pytest.raises(ValueError, match="X has 3 features, but Ridge is expecting 4"):
        model.predict(lazy[:, :3])
    with pytest.raises(ValueError, match="predictions for collections of Dask have none"):
        model.predict(lazy, offset=z)
    with pytest.raises(ValueError, match="categories are not encoded"):
        distributed.Ridge(categories="auto").fit(lazy, z)
    with pytest.raises(ValueError, match="warm_start=True has no distributed fit"):
        distributed.Ridge(warm_start=True).fit(lazy, z)
    with pytest.raises(ValueError, match="y has shape"):
        distributed.Ridge().fit(X, z[:-1])
    with pytest.raises(AttributeError, match="no attribute 'KMeans'"):
        distributed.KMeans  # noqa: B018


def test_what_travels_to_workers_is_small():
    X, z = dense_data()
    model = distributed.Ridge().fit(da.from_array(X, chunks=50), z)
    assert len(pickle.dumps(for_workers(model))) < 3_000
    assert for_workers(model).predict(X) == pytest.approx(model.predict(X))
