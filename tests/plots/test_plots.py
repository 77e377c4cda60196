"""Pictures say what they show; the demo runs as a person would run it."""

import re
import runpy
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from report_runs import made

import dualgap as dg
from dualgap.plots import ConvergenceDisplay, PathDisplay, SamplingDisplay

mpl.use("Agg")
DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def legend_is_beside_the_curves(ax):
    ax.figure.draw_without_rendering()
    return ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1


@pytest.mark.parametrize("x", ["passes", "epoch", "updates", "vector_operations", "seconds"])
def test_one_curve_a_run(x):
    runs = made()[1]
    display = ConvergenceDisplay(runs).plot(x)
    assert [line.get_label() for line in display.lines_] == list(runs)
    assert display.ax_.get_yscale() == "log"
    np.testing.assert_array_equal(display.lines_[1].get_xdata(), runs["sdca"].history[x])
    assert display.lines_[1].get_ydata()[0] == pytest.approx(1.0)  # D(0) = 0
    proof = runs["sdca"].certificate
    # The end is what is proven.
    assert display.lines_[1].get_ydata()[-1] == proof.gap / proof.scale
    assert legend_is_beside_the_curves(display.ax_)


def test_large_counts_do_not_touch_each_other():
    run = made()[1]["adasdca+"]
    _, (left, _) = pyplot.subplots(1, 2, figsize=(7, 3))
    display = ConvergenceDisplay({"adasdca+": run}).plot("vector_operations", ax=left)
    left.set_xlim(0, 700_000)
    display.figure_.draw_without_rendering()
    ticks = [text for text in left.get_xticklabels() if text.get_text()]
    assert "200k" in [text.get_text() for text in ticks]
    boxes = [text.get_window_extent() for text in ticks]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))


def test_fast_and_slow_runs_side_by_side():
    runs = made()[1]
    display = ConvergenceDisplay(runs).plot("seconds", x_scale="log")
    assert display.ax_.get_xscale() == "log"
    seconds = runs["sdca"].history.seconds
    np.testing.assert_array_equal(display.lines_[1].get_xdata(), seconds[seconds > 0.0])


def test_objectives_and_bounds_are_distances_from_what_is_proven():
    runs = made()[1]
    best, scale = runs["adasdca+"].certificate, runs["sdca"].certificate.scale
    excess = ConvergenceDisplay(runs).plot(y="primal").lines_[1].get_ydata()
    np.testing.assert_allclose(excess, (runs["sdca"].history.primal - best.dual) / scale)
    below = ConvergenceDisplay(runs).plot(y="dual").lines_[1].get_ydata()
    np.testing.assert_allclose(below, (best.primal - runs["sdca"].history.dual) / scale)


def test_convergence_of_a_solution_a_problem_and_an_estimator():
    problem, runs, _ = made()
    _, ax = pyplot.subplots()
    display = ConvergenceDisplay.from_solution(runs["sdca"], x="seconds", ax=ax)
    assert display.ax_ is ax
    assert labels(ax) == ["sdca"]
    display = ConvergenceDisplay.from_problem(problem, ["sdca", "adasdca+"], tol=1e-2)
    assert labels(display.ax_) == ["sdca", "adasdca+"]
    model = dg.Ridge(fit_intercept=False)
    with pytest.raises(ValueError, match="estimator has no solution_"):
        ConvergenceDisplay.from_estimator(model)
    model.solution_ = runs["sdca"]
    assert labels(ConvergenceDisplay.from_estimator(model, name="own").ax_) == ["own"]
    model.solution_ = [runs["sdca"]] * 2
    display = ConvergenceDisplay.from_estimator(model)
    assert labels(display.ax_) == ["Ridge, problem 0", "Ridge, problem 1"]


def test_the_sampling_is_shown_at_several_times():
    _, runs, recordings = made()
    display = SamplingDisplay.from_recording(recordings["adasdca+"], runs["adasdca+"])
    gaps, chances = display.axes_
    assert {ax.get_xscale() for ax in display.axes_} == {ax.get_yscale() for ax in display.axes_}
    assert labels(gaps)[0] == "pass 0"
    assert labels(gaps)[-1] == "target / number"
    first = gaps.lines[0].get_ydata()
    np.testing.assert_allclose(first, recordings["adasdca+"].frames[0].samples.values)
    assert labels(chances)[-1] == "uniform"
    assert all(map(legend_is_beside_the_curves, display.axes_))
    assert not SamplingDisplay.from_recording(recordings["sdca"]).axes_[0].get_title()


def test_a_run_that_draws_nothing_says_so():
    problem = made()[0]
    display = SamplingDisplay.from_problem(problem, "sdca", max_epochs=0)
    assert display.axes_[1].texts[0].get_text() == "nothing was drawn by chance"


def test_a_path_has_its_gaps_below():
    problem = made()[0]
    lams = [0.1, 0.03, 0.01]
    names = [f"x{k}" for k in range(5)]
    display = PathDisplay.from_problem(
        problem, lams, method="sdca", tol=1e-6, feature_names=names, named=2
    )
    coefficients, gaps = display.axes_
    assert labels(coefficients)[0] == "3 others"
    assert labels(coefficients)[1] == "x0"  # y is mostly the first feature
    assert gaps.get_yscale() == gaps.get_xscale() == "log"
    assert gaps.get_xlim() == (0.1, 0.01)  # from the strongest penalty on
    np.testing.assert_array_less(display.gaps, display.target)
    assert all(map(legend_is_beside_the_curves, display.axes_))


def test_a_path_of_arrays_into_axes_of_a_user():
    figure, (left, right) = pyplot.subplots(1, 2)
    display = PathDisplay([1.0, 0.1], np.zeros((3, 2)), [0.0, 0.0]).plot(left)
    assert display.figure_ is figure
    assert len(figure.axes) == 4
    upper, lower = pyplot.subplots(2, 1)[1]
    assert PathDisplay([1.0, 0.1], [[0, 1.0]], [0, 1e-9]).plot([upper, lower]).axes_[0] is upper
    with pytest.raises(ValueError, match="ax must be None, a pair of axes"):
        display.plot([left, right, right])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: ConvergenceDisplay(made()[1]).plot("time"), "x must be one of"),
        (lambda: ConvergenceDisplay(made()[1]).plot(y="loss"), "y must be one of gap, primal"),
        (lambda: ConvergenceDisplay(made()[1]).plot(x_scale="ln"), "x_scale must be one of linear"),
        (lambda: ConvergenceDisplay({}), "solutions is empty"),
        (lambda: SamplingDisplay([]), "frames is empty: pass a Recording"),
        (lambda: PathDisplay([1.0, 0.1], np.zeros((2, 3)), [0, 0]), "last axis of 2"),
        (lambda: PathDisplay([1.0, -0.1], np.zeros((3, 2)), [0, 0]), "positive numbers"),
        (lambda: PathDisplay([1.0], np.zeros((3, 1)), [0, 0]), "gaps must have one number"),
        (lambda: PathDisplay([1.0], np.zeros((3, 1)), [0], feature_names=["a"]), "3 names"),
    ],
)
def test_bad_arguments_are_named(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()


def test_the_demo_prints_a_proof_and_draws_a_picture(tmp_path, capsys):
    demo = runpy.run_path(str(DEMO))
    assert len(demo["METHODS"]) >= 4
    demo["main"](tmp_path / "demo.png")
    out = capsys.readouterr().out
    assert "no model can do better than" in out
    assert re.search(r"adasdca\+ .* after +\d+ passes", out)
    assert max(map(len, out.split("\n\nThe way there")[0].splitlines())) <= 80
    assert (tmp_path / "demo.png").stat().st_size > 10_000
