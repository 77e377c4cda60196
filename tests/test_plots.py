"""Pictures say what they show; the demo runs as a person would run it."""

import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import dualgap as dg
from dualgap.plots import ConvergenceDisplay

mpl.use("Agg")
DEMO = Path(__file__).parents[1] / "examples" / "demo.py"


@pytest.fixture
def runs():
    X = np.random.default_rng(0).standard_normal((30, 4))
    problem = dg.Problem(X, X[:, 0], "squared", lam=0.1)
    return {name: dg.solve(problem, name, tol=1e-8) for name in ("sdca", "adasdca+")}


@pytest.mark.parametrize("x", ["epoch", "updates", "vector_operations", "seconds"])
def test_one_curve_a_run(runs, x):
    display = ConvergenceDisplay(runs).plot(x)
    assert [line.get_label() for line in display.lines_] == list(runs)
    assert display.ax_.get_yscale() == "log"
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), runs["sdca"].history[x])
    assert display.lines_[0].get_ydata()[0] == pytest.approx(1.0)  # D(0) = 0
    mpl.pyplot.close("all")


def test_bad_arguments_are_named(runs):
    with pytest.raises(ValueError, match="x must be one of"):
        ConvergenceDisplay(runs).plot("time")
    with pytest.raises(ValueError, match="solutions is empty"):
        ConvergenceDisplay({})


def test_the_demo_prints_a_proof_and_draws_a_picture(tmp_path, capsys):
    demo = runpy.run_path(str(DEMO))
    assert len(demo["METHODS"]) >= 4
    demo["main"](tmp_path / "demo.png")
    out = capsys.readouterr().out
    assert "no model can do better than" in out
    assert "passes" in out
    assert (tmp_path / "demo.png").stat().st_size > 10_000
