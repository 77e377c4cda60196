"""Models as files: what comes back is what was written, and nothing else is believed."""

import json
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap import losses, penalties
from dualgap.files.model import Model, bare
from dualgap.files.model_file import ModelFileError
from dualgap.files.model_tree import as_model, as_tree
from dualgap.proof.radius import Radius

rng = np.random.default_rng(0)
X = sp.random(60, 8, 0.5, "csr", random_state=0)
y = np.where(X @ rng.standard_normal(8) > 0.0, 5.0, 2.0)


@pytest.fixture(scope="module")
def problem():
    return dg.Problem(X, y, "logistic", "l2", 0.05)


@pytest.fixture(scope="module")
def solution(problem):
    return dg.solve(problem, tol=1e-9)


@pytest.fixture(params=["model.json", "model.npz"])
def file(request, tmp_path, problem, solution):
    names = [f"x{j}" for j in range(8)]
    where = tmp_path / request.param
    settings = {"seed": 3, "note": "é", "nothing": None, "inf": np.inf}
    return dg.save_model(where, problem, solution, feature_names=names, settings=settings)


def test_a_model_comes_back(file, problem, solution):
    model = dg.load_model(file)
    np.testing.assert_array_equal(model.coef, solution.coef)
    assert model.intercept == solution.intercept
    assert (model.loss, model.penalty, model.lam) == (problem.loss, penalties.L2(), problem.lam)
    for name in ("primal", "dual", "gap", "scale", "relative_gap", "radius"):
        assert getattr(model.certificate, name) == getattr(solution.certificate, name)
    assert str(model.certificate) == str(solution.certificate)
    assert model.feature_names == tuple(f"x{j}" for j in range(8))
    assert model.settings["seed"] == 3
    assert model.settings["note"] == "é"
    assert model.settings["inf"] == "inf"
    assert model.settings["converged"] is True
    assert model.version == dg.__version__


def test_it_predicts_and_knows_what_is_proven(file, problem, solution):
    model = dg.load_model(file)
    scores = X @ solution.coef
    np.testing.assert_allclose(model.decision(X), scores, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0.0, 5.0, 2.0))
    # The optimum of another run, to a smaller gap, lies within the radius.
    exact = dg.solve(problem, "cd-permutation", tol=1e-13, max_epochs=3000)
    away = np.abs(X @ exact.coef - scores)
    assert (away <= model.decision_radius(X)).all()
    assert model.decision_radius(X).max() < 0.01
    proven = model.is_proven(X)
    assert proven.mean() > 0.9
    np.testing.assert_array_equal(proven, np.abs(model.decision(X)) > model.decision_radius(X))
    again = dg.certify(model.problem(X, y), model.coef)
    assert again.primal == pytest.approx(model.certificate.primal, rel=1e-12)
    with pytest.raises(ValueError, match="X has 7 features where the model has 8"):
        model.predict(X[:, :7])


def model_with(coef, loss, penalty, classes=None, names=None):
    width = coef.shape[1:]
    spread = np.ones(len(coef))
    spread[0] = np.inf
    between = np.zeros((width[0], width[0])) if width else None
    intercept = np.full(width, 0.5) if width else 0.5
    reach = Radius(1e-3, spread, 0.0, np.zeros(width)[()], between)
    proof = bare(1.0, 0.9, 0.1, 2.0, None)
    lam = 0.1
    return Model(
        coef, intercept, classes, loss, penalty, lam, "penalised", 2.0, proof, reach, names, {}, "0"
    )


@pytest.mark.parametrize(
    ("coef", "loss", "penalty", "classes"),
    [
        (np.array([0.0, 0.0, 0.0, 1 / 3]), losses.Huber(1.5), penalties.L1(), None),
        (np.ones(4), losses.Quantile(0.9), penalties.ElasticNet(0.3), None),
        (np.ones(4), losses.Squared(), penalties.NonNegative(penalties.L1()), None),
        (
            np.ones(4),
            losses.EpsilonInsensitive(0.2),
            penalties.Box(
                [-1.0, -np.inf, 0, 0],
                2.0,
                penalties.Weighted(penalties.L2(), [0.0, 1.0, np.inf, 1 / 3]),
            ).checked(4),
            None,
        ),
        (np.eye(4)[:, :3], losses.Softmax(), penalties.L2(), np.array(["a", "b", "ü"])),
        (np.eye(4)[:, :2], losses.MulticlassHinge(0.5), penalties.L2(), np.array([1, 7])),
    ],
)
@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_every_loss_and_penalty_comes_back(coef, loss, penalty, classes, ending, tmp_path):
    from dualgap.files import model_file

    model = model_with(coef, loss, penalty, classes)
    tree = {"format": "dualgap model", "version": 1, **as_tree(model)}
    where = tmp_path / f"m{ending}"
    (model_file._write_json if ending == ".json" else model_file._write_npz)(where, tree)
    back = dg.load_model(where)
    np.testing.assert_array_equal(back.coef, coef)
    assert repr(back.loss) == repr(loss)
    assert repr(back.penalty) == repr(penalty)
    assert back.fit_intercept == "penalised"
    assert back.intercept_scaling == 2.0
    for mine, theirs in zip(back.radius, model.radius):
        np.testing.assert_array_equal(mine, theirs)
    if classes is not None:
        np.testing.assert_array_equal(back.classes, classes)
        assert set(back.predict(np.eye(4))) <= set(classes)
        assert back.is_proven(np.eye(4)).dtype == bool


def test_many_classes_and_counts():
    model = model_with(np.eye(3), losses.Softmax(), penalties.L2(), np.array(["a", "b", "c"]))
    np.testing.assert_array_equal(model.predict(np.eye(3)), ["a", "b", "c"])
    counts = model_with(np.array([1.0, 0.0]), losses.Poisson(), penalties.L2())
    np.testing.assert_allclose(counts.predict(np.eye(2)), np.exp([1.5, 0.5]))
    with pytest.raises(ValueError, match="a regression has no classes"):
        counts.is_proven(np.eye(2))


class MyLoss(losses.Hinge):
    pass


def test_what_cannot_be_written(problem, solution, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.json or \.npz, not .*model\.pkl"):
        dg.save_model(tmp_path / "model.pkl", problem, solution)
    with pytest.raises(ValueError, match="there is no folder"):
        dg.save_model(tmp_path / "gone" / "model.json", problem, solution)
    with pytest.raises(ValueError, match="2 names where X has 8 features"):
        dg.save_model(tmp_path / "m.json", problem, solution, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="classes has 3 labels where y has 2"):
        dg.save_model(tmp_path / "m.json", problem, solution, classes=["a", "b", "c"])
    with pytest.raises(
        ValueError, match=r"settings\.tool is object, which a model file cannot hold"
    ):
        dg.save_model(tmp_path / "m.json", problem, solution, settings={"tool": object()})
    own = model_with(np.ones(2), MyLoss(), penalties.L2())
    with pytest.raises(ValueError, match="not one of dualgap's"):
        as_tree(own)
    assert list(tmp_path.iterdir()) == []


class Evil:
    """Would leave a trace if anybody unpickled it."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('code was run')",))


def test_files_that_are_no_models(tmp_path):
    file = tmp_path / "file"
    for content in (b"", b"\x89PNG\r\n", b"[[" * 100_000, b"nonsense", pickle.dumps(Evil())):
        file.write_bytes(content)
        with pytest.raises(ModelFileError, match="is not a model of dualgap"):
            dg.load_model(file)
    for content in (b"[1, 2]", b'{"format": "other"}', b"3"):
        file.write_bytes(content)
        with pytest.raises(ModelFileError, match="is JSON, but not a model of dualgap"):
            dg.load_model(file)
    np.savez(tmp_path / "other.npz", coef=np.ones(3))
    with pytest.raises(ModelFileError, match="is an archive, but not a model"):
        dg.load_model(tmp_path / "other.npz")
    np.savez(tmp_path / "evil.npz", model=np.array([Evil()], dtype=object))
    with pytest.raises(ModelFileError, match="is damaged"):
        dg.load_model(tmp_path / "evil.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "other.npz").read_bytes()[:100])
    with pytest.raises(ModelFileError, match="is damaged"):
        dg.load_model(tmp_path / "cut.npz")
    with zipfile.ZipFile(tmp_path / "odd.npz", "w") as archive:
        archive.writestr("model.npy", "x")
    with pytest.raises(ModelFileError, match="is damaged"):
        dg.load_model(tmp_path / "odd.npz")
    with pytest.raises(FileNotFoundError):
        dg.load_model(tmp_path / "gone.json")
    with pytest.raises(IsADirectoryError):
        dg.load_model(tmp_path)


def test_a_file_that_was_changed_is_refused(problem, solution, tmp_path):
    file = dg.save_model(tmp_path / "model.json", problem, solution)
    text = file.read_text()
    number = repr(float(solution.coef[0]))
    assert number in text
    file.write_text(text.replace(number, f"{number[:-1]}{9 - int(number[-1])}"))
    with pytest.raises(ModelFileError, match="has changed since it was written"):
        dg.load_model(file)
    file.write_text(text[: len(text) // 2])
    with pytest.raises(ModelFileError, match=r"is damaged .*: write the model again"):
        dg.load_model(file)
    tree = json.loads(text)
    file.write_text(json.dumps({**tree, "version": 2}))
    with pytest.raises(ModelFileError, match=r"written by a newer dualgap \(format 2"):
        dg.load_model(file)


@pytest.mark.parametrize(
    "change",
    [
        {"coef": [1.0, "x"]},
        {"coef": []},
        {"coef": ["nan"]},
        {"loss": {"name": "os.system"}},
        {"loss": {"name": "hinge", "more": 1}},
        {"penalty": {"name": "elastic-net", "l1_ratio": 7.0}},
        {"feature_names": ["one"]},
        {"classes": [1, 2, 3]},
        {"intercept": [1.0, 2.0]},
        {"fit_intercept": "maybe"},
        {"certificate": {}},
        {"settings": 3},
    ],
)
def test_a_tree_that_is_no_model(change):
    tree = json.loads(json.dumps(as_tree_of_two()))
    as_model(tree)
    with pytest.raises((ValueError, KeyError, TypeError)):
        as_model({**tree, **change})


def as_tree_of_two():
    from dualgap.files.model_file import _plain

    classes = np.array([0.0, 1.0])
    return _plain(as_tree(model_with(np.ones(2), losses.Hinge(), penalties.L2(), classes)))
