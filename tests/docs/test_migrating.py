"""docs/migrating.md: each row of its tables, fitted by both sides, gives the same model."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.svm
from sklearn.base import is_classifier

import dualgap as dg

PAGE = (Path(__file__).parents[2] / "docs" / "migrating.md").read_text(encoding="utf-8")
GIVEN = {"C": 0.7, "alpha": 0.1, "eps": 0.2, "q": 0.3, "rho": 0.4, "n": 60, "p": 4}
NAMES = {"np": np, "dg": dg, "Problem": dg.Problem, "losses": dg.losses, "penalties": dg.penalties}
TIGHT = 1e-12
pytestmark = pytest.mark.docs


def rows(section):
    """The cells of the tables whose last column is a ``Problem``."""
    text = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M)[1]
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in text.splitlines()
        if line.startswith("|") and "`Problem(" in line
    ]


def codes(cell):
    return re.findall(r"`([^`]+)`", cell)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) + 0.5
    z = X @ [1.0, -0.7, 0.4, 0.0]
    noisy = z + 0.8 * rng.standard_normal(60)
    return X, {
        "binary": np.where(noisy > 0.3, 1.0, -1.0),
        "classes": np.digitize(noisy, [-0.3, 0.8]),
        "real": noisy + 1.0,
        "count": rng.poisson(np.exp(0.5 * z)).astype(float),
        "positive": rng.gamma(2.0, np.exp(0.5 * z)),
    }


def problem_of(code, X, y):
    return eval(code, {**GIVEN, **NAMES, "X": X, "y": y, "omega": np.array([1.0, 2.0, 0.5, 1.5])})


def same(solution, coef, intercept, X):
    """The same decision values for all samples; for classes up to what does not matter."""
    own = X @ solution.coef + solution.intercept
    other = X @ np.squeeze(np.asarray(coef).T) + np.squeeze(intercept)
    if own.ndim == 2:
        own, other = (z - z.mean(axis=1, keepdims=True) for z in (own, other))
    np.testing.assert_allclose(other, own, atol=2e-4)


def tightened(model):
    """As exact as it gets; ours stop when it is proven, whatever their limits."""
    ours = hasattr(model, "method")
    wanted = {"tol": TIGHT} if ours else {"tol": 1e-10, "max_iter": 1_000_000, "random_state": 0}
    known = model.get_params()
    return model.set_params(**{name: value for name, value in wanted.items() if name in known})


@pytest.mark.parametrize("row", rows("From scikit-learn"), ids=lambda row: row[0])
def test_scikit_learn(row, data):
    X, targets = data
    names = {**vars(sklearn.linear_model), **vars(sklearn.svm), **GIVEN, **NAMES}
    theirs, ours = (tightened(eval(codes(cell)[0], names)) for cell in row[:2])
    code = codes(row[2])[0]
    words = {"softmax": "classes", "poisson": "count", "Tweedie": "count", '"gamma"': "positive"}
    kind = next((kind for word, kind in words.items() if word in code), "real")
    y = targets["binary" if is_classifier(theirs) and kind == "real" else kind]
    solution = dg.solve(problem_of(code, X, y), tol=TIGHT)
    assert solution.converged
    for model in (theirs, ours):
        model.fit(X, y)
        same(solution, model.coef_, model.intercept_, X)


@pytest.mark.parametrize("row", rows("From liblinear"), ids=lambda row: row[0])
def test_liblinear(row, data):
    tool = pytest.importorskip("liblinear.liblinearutil", reason="in .venv-bench only")
    X, targets = data
    y = targets["real" if "Epsilon" in row[1] else "binary"]
    problem = problem_of(codes(row[1])[0], X, y)
    solution = dg.solve(problem, tol=TIGHT)
    for options in codes(row[0]):
        words = [str(GIVEN.get(word, word)) for word in shlex.split(options)]
        model = tool.train(list(y), X.tolist(), " ".join([*words, "-e", "1e-10", "-q"]))
        coef, bias = model.get_decfun()
        sign = 1.0 if problem.loss.targets == "real" or model.get_labels()[0] == 1 else -1.0
        same(solution, sign * np.array(coef), sign * (bias if "-B" in options else 0.0), X)


@pytest.mark.parametrize("row", rows("From celer"), ids=lambda row: row[0])
def test_celer(row, data):
    celer = pytest.importorskip("celer", reason="in .venv-bench only")
    X, targets = data
    names = {**vars(celer), **GIVEN, "omega": np.array([1.0, 2.0, 0.5, 1.5])}
    model = eval(codes(row[0])[0], names).set_params(tol=1e-12)
    y = targets["binary" if "Logistic" in row[0] else "real"]
    model.fit(np.asfortranarray(X), y)
    solution = dg.solve(problem_of(codes(row[1])[0], X, y), tol=TIGHT)
    same(solution, model.coef_, model.intercept_, X)
