"""A small part of everything, quick enough to run without compilation too (NUMBA_DISABLE_JIT=1)."""

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import dualgap as dg
from dualgap import samplings
from dualgap.cli import app
from dualgap.datasets.lines import parsed


@pytest.mark.parametrize("penalty", ["l2", "l1", "elastic-net", "nonnegative", "box"])
@pytest.mark.parametrize("loss", dg.losses.REGISTRY)
def test_small_fits_reach_their_target(loss, penalty):
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (12, 3)).astype(float)
    y = np.where(X[:, 0] + 0.1 * rng.standard_normal(12) > 0, 1.0, 0.0)
    y += dg.losses.REGISTRY[loss].targets == "positive"
    data = sp.csr_array(X) if penalty == "l2" else X
    solution = dg.solve(dg.Problem(data, y, loss, penalty, 0.1), tol=1e-5)
    assert solution.converged, str(solution)


@pytest.mark.parametrize("name", [k for k, cls in samplings.REGISTRY.items() if not cls.sets])
def test_small_runs_of_every_sampling(name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 3))
    problem = dg.Problem(X, np.sign(X[:, 0]), "smoothed-hinge", lam=0.1)
    solution = dg.solve(problem, sampling=samplings.REGISTRY[name](), tol=1e-5)
    assert solution.converged, str(solution)


WORDS = ("0", "-0.5", "+1e3", "1.25E-1", "12345678901234567890", "0.1234567890123456789", "3e-320",
         "1e308", "255", "256", "65536", "7.", ".5", "123456789e-20",
         "9007199254740993")  # fmt: skip


def test_lines_of_numbers_are_those_of_python():
    line = "-1 " + " ".join(f"{100 * k + 1}:{word}" for k, word in enumerate(WORDS))
    rows = parsed(f"{line}\n{line} # a comment\n".encode(), 1)
    np.testing.assert_array_equal(rows.y, [-1.0, -1.0])
    np.testing.assert_array_equal(rows.indices, 2 * [100 * k + 1 for k in range(len(WORDS))])
    np.testing.assert_array_equal(rows.values, 2 * [float(word) for word in WORDS])


def test_the_command_fits_a_file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    lines = [f"{np.sign(x[0] + 0.1):g} 1:{x[0]:.3f} 2:{x[1]:.17g} 3:{x[2]:.2e}" for x in X]
    (tmp_path / "data.svm").write_text("\n".join(lines))
    arguments = ["fit", str(tmp_path / "data.svm"), "--loss", "hinge", "--lam", "0.1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "Proven" in result.output
