"""The estimators: their problems, attributes, warm starts, pickles, callbacks and proofs."""

import itertools
import os
import pickle
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.linear_model as theirs
from scipy.optimize import lsq_linear
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as TheirSVC
from sklearn.svm import LinearSVR as TheirSVR

import dualgap as dg
from dualgap import estimators, losses, penalties
from dualgap.estimators import fits
from dualgap.linalg import parallel

IRIS, KINDS = load_iris(return_X_y=True)
IRIS = IRIS[::2] - IRIS.mean(axis=0)
KINDS = KINDS[::2]
TWO = KINDS > 0
X, Y = load_diabetes(return_X_y=True)
X, Y = 10.0 * X[:81, :5], Y[:81] / 50.0
COUNTS = np.round(Y)
WEIGHTS = np.arange(len(X)) % 4
CLASSES = [name for name in estimators.__all__ if isinstance(getattr(dg, name), type)]
CLASSIFIERS = [name for name in CLASSES if hasattr(getattr(dg, name), "densify")]


def theirs_fitted(model, *data, **options):
    """Old versions of scikit-learn warn of what newer ones of SciPy will do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return clone(model).fit(*data, **options)


def targets(name):
    if name == "GammaRegressor":
        return COUNTS + 0.5
    return COUNTS if name in ("PoissonRegressor", "NegativeBinomialRegressor") else Y


# --- the same problems as scikit-learn's ----------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "other"),
    [
        (dg.Ridge(2.0), theirs.Ridge(2.0)),
        (dg.Lasso(0.05), theirs.Lasso(0.05, tol=1e-12)),
        (dg.ElasticNet(0.05, l1_ratio=0.3), theirs.ElasticNet(0.05, l1_ratio=0.3, tol=1e-12)),
        (dg.PoissonRegressor(alpha=0.1), theirs.PoissonRegressor(alpha=0.1, tol=1e-12)),
        (dg.QuantileRegressor(alpha=0.02), theirs.QuantileRegressor(alpha=0.02)),
        (
            dg.LinearSVR(epsilon=0.1, intercept_penalty="l2", loss="squared_epsilon_insensitive"),
            TheirSVR(epsilon=0.1, loss="squared_epsilon_insensitive", tol=1e-12, max_iter=10**6),
        ),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_regressors_find_scikit_learns_optimum(ours, other, weights):
    y = targets(type(ours).__name__)
    mine = clone(ours).set_params(tol=1e-11).fit(X, y, sample_weight=weights)
    other = theirs_fitted(other, X, y, sample_weight=weights)
    np.testing.assert_allclose(mine.coef_, other.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, rtol=1e-4, atol=1e-5)
    assert mine.coef_.shape == other.coef_.shape
    assert np.shape(mine.intercept_) == np.shape(other.intercept_)
    assert mine.score(X, y) == pytest.approx(other.score(X, y), abs=1e-4)


@pytest.mark.parametrize(
    ("ours", "other"),
    [
        (dg.LogisticRegression(), theirs.LogisticRegression(tol=1e-10, max_iter=10**5)),
        (
            dg.LinearSVC(intercept_penalty="l2"),
            TheirSVC(tol=1e-10, max_iter=10**6),
        ),
        (dg.RidgeClassifier(), theirs.RidgeClassifier()),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("class_weight", [None, {0: 1.0, 1: 2.0, 2: 0.5}])
@pytest.mark.parametrize("two", [False, True])
def test_classifiers_find_scikit_learns_optimum(ours, other, class_weight, two):
    y = TWO if two else KINDS
    mine = clone(ours).set_params(tol=1e-11, class_weight=class_weight).fit(IRIS, y)
    other = theirs_fitted(clone(other).set_params(class_weight=class_weight), IRIS, y)
    # Of the shape that scikit-learn documents, which its RidgeClassifier does not always have.
    assert mine.coef_.shape == (1 if two else 3, IRIS.shape[1])
    np.testing.assert_allclose(mine.coef_.ravel(), other.coef_.ravel(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mine.intercept_, other.intercept_, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(mine.predict(IRIS), other.predict(IRIS))
    if hasattr(other, "predict_proba"):
        np.testing.assert_allclose(mine.predict_proba(IRIS), other.predict_proba(IRIS), atol=1e-5)


def test_penalties_of_logistic_regression_in_both_spellings():
    def coef(**parameters):
        return dg.LogisticRegression(tol=1e-9, **parameters).fit(IRIS, TWO).coef_

    same = [
        (coef(penalty="l1"), coef(l1_ratio=1.0)),
        (coef(penalty="l2"), coef()),
        (coef(penalty="elasticnet", l1_ratio=0.5), coef(l1_ratio=0.5)),
    ]
    for old, new in same:
        np.testing.assert_array_equal(old, new)
    other = KINDS[KINDS > 0] > 1  # not separable
    free = [
        dg.LogisticRegression(**how).fit(IRIS[KINDS > 0], other).coef_
        for how in ({"penalty": None}, {"C": np.inf})
    ]
    np.testing.assert_array_equal(*free)


def test_one_vs_rest_is_a_list_of_problems():
    model = dg.LogisticRegression(multi_class="ovr", tol=1e-8).fit(IRIS, KINDS)
    alone = dg.LogisticRegression(tol=1e-8).fit(IRIS, KINDS == 1)
    np.testing.assert_allclose(model.coef_[1], alone.coef_[0], rtol=1e-6)
    assert len(model.certificate_) == len(model.solution_) == len(model.history_) == 3
    assert model.dual_gap_.shape == model.n_iter_.shape == (3,)
    assert model.dual_coef_.shape == (3, len(IRIS))
    share = model.predict_proba(IRIS)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(share), model.predict_log_proba(IRIS), atol=1e-9)
    threads = clone(model).set_params(n_jobs=2).fit(IRIS, KINDS)
    np.testing.assert_array_equal(threads.coef_, model.coef_)


def test_several_targets_and_labels():
    both = np.stack([Y, -2.0 * Y + X[:, 0]], axis=1)
    model = dg.Ridge([1.0, 5.0]).fit(X, both)
    other = theirs.Ridge(np.array([1.0, 5.0])).fit(X, both)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-6)
    assert model.decision_radius(X).shape == both.shape
    labels = np.stack([TWO, KINDS > 1], axis=1).astype(int)
    model = dg.RidgeClassifier().fit(IRIS, labels)
    np.testing.assert_array_equal(
        model.predict(IRIS), theirs.RidgeClassifier().fit(IRIS, labels).predict(IRIS)
    )
    assert model.predict_certified(IRIS).shape == labels.shape


# --- laws -----------------------------------------------------------------------------------------


# Those with tests of their own: their attributes have other shapes, or a shift changes the model.
OTHERS = ("OneClassSVM", "OrdinalLogisticRegression")
OF_ONE_TARGET = [
    name
    for name in CLASSES
    if not (name.endswith("CV") or name.startswith("MultiTask") or name in OTHERS)
]


@pytest.mark.parametrize("name", OF_ONE_TARGET)
def test_attributes_and_a_shift_that_moves_the_intercept_alone(name):
    data, y = (IRIS, TWO) if name in CLASSIFIERS else (X, targets(name))
    model = getattr(dg, name)(tol=1e-10).fit(data, y)
    p = data.shape[1]
    assert model.coef_.shape == ((1, p) if name in CLASSIFIERS else (p,))
    assert model.dual_coef_.shape == ((1, len(y)) if name in CLASSIFIERS else (len(y),))
    assert model.support_certified_.shape == model.coef_.shape
    assert model.dual_gap_ == model.certificate_.gap <= 1e-10 * model.certificate_.scale
    assert model.n_features_in_ == p
    assert len(model.history_) == np.ravel(model.n_iter_)[0] + 1
    assert model.solution_.converged
    moved = clone(model).fit(data + 3.0, y)
    np.testing.assert_allclose(moved.coef_, model.coef_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(
        moved.intercept_ + 3.0 * moved.coef_.sum(), model.intercept_, rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize("y", [TWO, KINDS], ids=["two", "three"])
def test_a_loss_of_many_classes(y):
    model = dg.CertifiedClassifier("softmax", C=0.5, tol=1e-12, warm_start=True).fit(IRIS, y)
    K = len(model.classes_)
    assert model.coef_.shape == (K, IRIS.shape[1])
    assert model.decision_function(IRIS).shape == model.decision_radius(IRIS).shape == (len(y), K)
    assert model.predict_certified(IRIS).all()
    # Intercepts are centred after the fit; the proof is that of the centred ones.
    problem = dg.Problem(IRIS, y, "softmax", "l2", 2.0 / len(y), intercept=True)
    proof = dg.certify(problem, model.coef_.T, model.dual_coef_.T, model.intercept_)
    assert proof.primal == model.certificate_.primal
    # Two columns of opposite sign, each with half of the weights of a logistic model.
    C = 0.5 if K > 2 else 1.0
    other = theirs.LogisticRegression(C=C, solver="newton-cg", tol=1e-10, max_iter=10_000)
    np.testing.assert_allclose(
        model.predict_proba(IRIS), other.fit(IRIS, y).predict_proba(IRIS), atol=1e-5
    )
    assert model.fit(IRIS, y).n_iter_ == 0


def test_balanced_classes_count_weights():
    weights = np.where(TWO, 1, 3)
    rows = np.repeat(np.arange(len(TWO)), weights)
    model = dg.LogisticRegression(class_weight="balanced", tol=1e-10)
    weighted = clone(model).fit(IRIS, TWO, sample_weight=weights)
    repeated = clone(model).fit(IRIS[rows], TWO[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)


def test_float32_stays_float32_and_the_proof_is_about_it():
    small = X.astype(np.float32)
    model = dg.Ridge().fit(small, Y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    assert model.predict(small).dtype == np.float32
    problem = dg.Problem(small, Y, "squared", "l2", 1.0 / len(Y), intercept=True)
    proof = dg.certify(problem, model.coef_, intercept=model.intercept_)
    # The model's proof ends at its target; the other one is as sharp as it can be.
    own = model.certificate_
    assert own.primal == pytest.approx(proof.primal, rel=1e-14)
    assert own.dual == pytest.approx(proof.dual, rel=1e-12)
    assert own.primal - own.dual <= model.dual_gap_ <= model.tol * own.dual
    assert isinstance(model.dual_gap_, float)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_sparse_data_are_not_changed(form):
    data = form(np.where(np.abs(X) > 0.3, X, 0.0))
    before = data.copy()
    model = dg.Ridge(tol=1e-10).fit(data, Y)
    assert (data != before).nnz == 0
    np.testing.assert_allclose(model.coef_, theirs.Ridge().fit(data.toarray(), Y).coef_, rtol=1e-5)
    np.testing.assert_allclose(model.predict(data), model.predict(data.toarray()))


# --- proofs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        dg.LinearSVC(loss="hinge"),
        dg.LogisticRegression(),
        dg.LogisticRegression(multi_class="ovr"),
        dg.LogisticRegression(fit_intercept=False),
        dg.LinearSVC(intercept_penalty="l2", intercept_scaling=3.0),
        dg.CertifiedClassifier("smoothed-hinge", penalties.ElasticNet(0.5)),
    ],
)
@pytest.mark.parametrize("labels", [TWO, KINDS])
def test_certified_predictions_are_those_of_the_optimum(model, labels):
    best = clone(model).set_params(tol=1e-12, relative_to="start").fit(IRIS, labels)
    shares = []
    for tol in (1e-1, 1e-3, 1e-6):
        rough = clone(model).set_params(tol=tol).fit(IRIS, labels)
        proven = rough.predict_certified(IRIS)
        np.testing.assert_array_equal(rough.predict(IRIS)[proven], best.predict(IRIS)[proven])
        apart = np.abs(rough.decision_function(IRIS) - best.decision_function(IRIS))
        assert (apart <= rough.decision_radius(IRIS) + best.decision_radius(IRIS)).all()
        shares.append(proven.mean())
    assert shares[-1] > 0.9


def test_regressors_have_a_radius_too():
    best = dg.HuberRegression(alpha=0.1, tol=1e-13).fit(X, Y)
    rough = dg.HuberRegression(alpha=0.1, tol=1e-2, method="cd-uniform").fit(X, Y)
    assert (np.abs(rough.predict(X) - best.predict(X)) <= rough.decision_radius(X)).all()
    assert np.isinf(dg.Lasso(0.1).fit(X, Y).decision_radius(X)).all()
    assert not hasattr(rough, "predict_certified")


def test_features_proven_zero():
    model = dg.Lasso(0.3, tol=1e-8).fit(X, Y)
    exact = theirs.Lasso(0.3, tol=1e-12).fit(X, Y).coef_
    assert model.support_certified_.any()
    assert (exact[model.support_certified_] == 0.0).all()
    assert not dg.Ridge().fit(X, Y).support_certified_.any()


# --- life of an estimator -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["LogisticRegression", "LinearSVC", "Lasso"])
def test_warm_start_goes_on_where_it_was(name):
    data, y = (IRIS, KINDS) if name in CLASSIFIERS else (X, Y)
    model = getattr(dg, name)(tol=1e-8, warm_start=True)
    model.fit(data, y)
    before, coef = np.ravel(model.n_iter_).sum(), model.coef_
    model.fit(data, y)
    assert np.ravel(model.n_iter_).sum() < before
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-3, atol=1e-4)
    model.fit(data[:50], y[:50])  # the dual variables do not fit any more, the coefficients do
    model.fit(data[:50, :2], y[:50])
    assert model.coef_.shape[-1] == 2


def test_a_run_that_is_too_short_says_so_with_numbers():
    model = dg.Lasso(0.01, max_iter=1, tol=1e-10, method="cd-uniform")
    with pytest.warns(
        ConvergenceWarning, match=r"gap .* after .* passes.*Raise max_iter \(now 1\)"
    ):
        model.fit(X, Y)
    assert model.dual_gap_ > 0.0
    several = clone(model).set_params(max_iter=0)
    with pytest.warns(ConvergenceWarning, match="2 of 2 problems"):
        several.fit(X, np.stack([Y, -Y], axis=1))


def test_pickles_say_which_format_they_have():
    model = dg.LinearSVC().fit(IRIS, KINDS)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_certified(IRIS), model.predict_certified(IRIS))
    assert again.certificate_[0].gap == model.certificate_[0].gap
    state = {**model.__getstate__(), "_dualgap_format": 99}
    with pytest.raises(ValueError, match="newer dualgap"):
        dg.LinearSVC().__setstate__(state)


def test_a_callback_sees_and_stops():
    seen = []
    model = dg.Lasso(
        0.01,
        tol=1e-12,
        method="cd-gap-decay",
        callback=lambda snapshot: seen.append(snapshot.gap) or len(seen) > 2,
    )
    model.fit(X, Y)
    assert len(seen) == 3
    assert model.dual_gap_ <= seen[0]


def test_several_problems_on_large_data_use_all_cores(monkeypatch):
    """With the same bits; a callback sees them one after the other."""
    model = dg.LinearSVC(method="cd-uniform", tol=1e-3, intercept_penalty="l2")
    one = clone(model).set_params(n_jobs=1).fit(IRIS, KINDS)
    used = []
    in_threads = fits._in_threads
    monkeypatch.setattr(fits, "_in_threads", lambda *args: used.append(1) or in_threads(*args))
    monkeypatch.setattr(parallel, "TUNING", parallel.TUNING._replace(worthwhile=1))
    with parallel.at_most(2):
        all_cores = clone(model).fit(IRIS, KINDS)
        assert len(used) == 1
        clone(model).set_params(n_jobs=1).fit(IRIS, KINDS)
        clone(model).set_params(callback=lambda snapshot: False).fit(IRIS, KINDS)
    assert len(used) == 1
    np.testing.assert_array_equal(one.coef_, all_cores.coef_)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_interrupt_leaves_a_certified_model(n_jobs):
    looks = itertools.count()

    def interrupt(snapshot):
        if next(looks) == 2:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    model = dg.LinearSVC(
        tol=0.0, method="cd-uniform", intercept_penalty="l2", callback=interrupt, n_jobs=n_jobs
    )
    try:
        with pytest.warns(ConvergenceWarning, match="Interrupted"):
            model.fit(IRIS, KINDS)
    finally:
        signal.signal(signal.SIGINT, before)
    assert np.isfinite(model.dual_gap_).all()
    assert model.predict(IRIS).shape == KINDS.shape


def test_an_interrupt_of_a_proof_ends_the_problems_that_follow(monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dualgap.run.loop.find_proof", pressed)
    model = dg.LinearSVC(tol=1e-3, method="cd-uniform", intercept_penalty="l2")
    with pytest.warns(ConvergenceWarning, match="2 of 3 problems are not solved.*Interrupted"):
        model.fit(IRIS, KINDS)
    assert np.isfinite(model.dual_gap_).all()


def test_sparsify_and_densify():
    model = dg.LinearSVC(penalty="l1", C=0.1).fit(IRIS, KINDS)
    scores, radius = model.decision_function(IRIS), model.decision_radius(IRIS)
    model.sparsify()
    assert sp.issparse(model.coef_)
    np.testing.assert_allclose(model.decision_function(IRIS), scores)
    np.testing.assert_array_equal(model.decision_radius(IRIS), radius)
    assert isinstance(model.densify().coef_, np.ndarray)


def test_pipelines_searches_and_routing():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), dg.LinearSVC()), {"linearsvc__C": [0.1, 1.0]}
    )
    assert search.fit(IRIS, KINDS).score(IRIS, KINDS) > 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        model = dg.Ridge().set_fit_request(sample_weight=True)
        routed = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        routed.fit(X, Y, sample_weight=WEIGHTS)
        alone = dg.Ridge().fit(StandardScaler().fit_transform(X), Y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(routed[-1].coef_, alone.coef_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables(library):
    frames = pytest.importorskip(library)
    names = [f"feature {j}" for j in range(X.shape[1])]
    table = frames.DataFrame(dict(zip(names, X.T)))
    model = dg.Ridge().fit(table, frames.Series(Y))
    if library == "pandas" or hasattr(theirs.Ridge().fit(table, Y), "feature_names_in_"):
        np.testing.assert_array_equal(model.feature_names_in_, names)
    np.testing.assert_allclose(model.coef_, dg.Ridge().fit(X, Y).coef_, rtol=1e-12)
    assert model.predict(table).shape == Y.shape


# --- scikit-learn's callbacks ---------------------------------------------------------------------


@pytest.mark.parametrize("y", [TWO, KINDS])
def test_scikit_learns_progress_bar(y, capsys):
    callback = pytest.importorskip("sklearn.callback")
    model = dg.LinearSVC().set_callbacks(callback.ProgressBar())
    model.fit(IRIS, y)
    assert "LinearSVC - fit" in capsys.readouterr().out
    np.testing.assert_array_equal(model.coef_, dg.LinearSVC().fit(IRIS, y).coef_)


def test_scikit_learns_callbacks_see_models_and_stop():
    pytest.importorskip("sklearn.callback")

    class Stop:
        def __init__(self):
            self.scores = []

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
            self.scores.append(fitted_estimator.score(X, y))
            return len(self.scores) == 2

    stop = Stop()
    dg.LogisticRegression(tol=1e-12).set_callbacks(stop).fit(IRIS, TWO)
    assert len(stop.scores) == 3  # two rounds and the fit itself
    assert stop.scores[-1] > 0.5


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (dg.LinearSVC(C=0.0), "C must be > 0"),
        (dg.LinearSVC(loss="log"), "loss 'log' is unknown"),
        (dg.LinearSVC(penalty="elasticnet"), "penalty 'elasticnet' is unknown"),
        (dg.LinearSVC(intercept_penalty="l1"), "intercept_penalty 'l1' is unknown"),
        (dg.LinearSVC(multi_class="one"), "multi_class 'one' is unknown"),
        (dg.LinearSVC(multi_class="crammer_singer", penalty="l1"), 'needs penalty="l2"'),
        (dg.LogisticRegression(l1_ratio=2.0), "l1_ratio must be"),
        (dg.LogisticRegression(penalty="elasticnet", l1_ratio=None), "needs l1_ratio"),
        (dg.LogisticRegression(fit_intercept="yes"), "fit_intercept must be True or False"),
        (dg.LogisticRegression(tol=-1.0), "tol must be"),
        (dg.LogisticRegression(max_iter=1.5), "max_iter must be"),
        (dg.RidgeClassifier(alpha=-1.0), "alpha must be"),
        (dg.CertifiedClassifier(losses.Squared()), "use CertifiedRegressor"),
        (dg.CertifiedClassifier(method="magic"), "magic"),
    ],
)
def test_wrong_parameters_are_refused_in_words(model, words):
    with pytest.raises(ValueError, match=words):
        model.fit(IRIS, KINDS)


def test_a_single_column_of_targets():
    for name in ("Lasso", "ElasticNet"):
        ours = getattr(dg, name)(0.1).fit(X, Y[:, None])
        other = getattr(theirs, name)(0.1).fit(X, Y[:, None])
        assert ours.coef_.shape == other.coef_.shape
        assert np.shape(ours.intercept_) == np.shape(other.intercept_)
        assert ours.predict(X).shape == ours.decision_radius(X).shape == other.predict(X).shape


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_threads_do_not_share_random_numbers(kind):
    fits = []
    for n_jobs in (1, 3):
        model = dg.LinearSVC(
            loss="hinge", fit_intercept=False, method="sdca", random_state=kind(1), n_jobs=n_jobs
        )
        fits.append(model.fit(IRIS, KINDS))
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


def test_bounds_hold_without_a_penalty():
    bounded = dg.CertifiedRegressor(penalty=penalties.Box(0.0, 1.0), alpha=0.0, tol=1e-10)
    best = lsq_linear(
        np.column_stack([X, np.ones(len(X))]), Y, ([0.0] * 5 + [-np.inf], [1.0] * 5 + [np.inf])
    )
    np.testing.assert_allclose(bounded.fit(X, Y).coef_, best.x[:-1], atol=1e-4)
    off = penalties.Weighted(penalties.L2(), [np.inf, 1.0, 1.0, 1.0, 1.0])
    assert dg.CertifiedRegressor(penalty=off, alpha=0.0).fit(X, Y).coef_[0] == 0.0
    with pytest.raises(ValueError, match="use a tiny alpha"):
        dg.Ridge(0.0, positive=True).fit(X, Y)


def test_wrong_data_are_refused_in_words():
    with pytest.raises(ValueError, match="one class only"):
        dg.LinearSVC().fit(IRIS, np.ones(len(IRIS)))
    with pytest.raises(ValueError, match="alpha has 3 entries"):
        dg.Ridge([1.0, 2.0, 3.0]).fit(X, Y)
    with pytest.raises(ValueError, match="zero for every sample"):
        dg.Ridge().fit(X, Y, sample_weight=np.zeros(len(Y)))
    with pytest.raises(ValueError, match="negative"):
        dg.Ridge().fit(X, Y, sample_weight=-np.ones(len(Y)))
    with pytest.raises(NotFittedError):
        dg.Ridge().decision_radius(X)
    with pytest.raises(ValueError, match="use CertifiedClassifier"):
        dg.CertifiedRegressor("hinge").fit(X, Y)
    with pytest.raises(AttributeError):
        dg.CertifiedClassifier("hinge").predict_proba(X)


def test_every_parameter_and_every_mapping_is_documented():
    for name in CLASSES:
        cls = getattr(dg, name)
        for parameter in cls().get_params():
            assert f"\n    {parameter} : " in cls.__doc__
        assert "λ = " in cls.__doc__
        assert "certificate_ : " in cls.__doc__


def test_estimators_are_imported_when_asked_for():
    words = "import sys, dualgap; assert 'sklearn' not in sys.modules; dualgap.Lasso"
    subprocess.run([sys.executable, "-c", words], check=True, env=dict(os.environ))
    assert "Lasso" in dir(dg)
    with pytest.raises(AttributeError, match="Magic"):
        dg.Magic  # noqa: B018
