"""What is kept of a run: how parts of the gap and probabilities are spread."""

import numpy as np
import pytest
from report_runs import made

import dualgap as dg
from dualgap.files.describe import as_python
from dualgap.run.recording import Frame, Spread


def test_a_spread_says_who_has_how_much():
    parts = np.array([0.5, 0.0, 1e-9, 4.0, 0.25])
    spread = Spread.of(parts, level=1.5)
    assert (spread.size, spread.above, spread.holders) == (5, 2, 3)
    assert spread.total == pytest.approx(parts.sum())
    np.testing.assert_array_equal(spread.values, np.sort(parts)[::-1])
    assert spread.resolved == pytest.approx(0.6)
    assert Spread.of([], 1.0).resolved == 1.0
    large = Spread.of(np.arange(100_000.0), 0.0)
    assert len(large.values) < 200
    np.testing.assert_array_equal(large.values, 100_000.0 - large.ranks)
    broken = Spread.of([np.nan, np.inf, 1.0], 1.0)
    assert broken.total == np.inf
    assert broken.values[0] == np.inf


def test_a_recording_follows_the_run():
    problem, runs, recordings = made()
    frames = recordings["adasdca+"].until(runs["adasdca+"])
    assert frames[0].passes == 0.0
    assert frames[0].probabilities is None  # nothing was drawn yet
    assert all(frame.probabilities.size == problem.n for frame in frames[1:-1])
    for frame in frames[:-1]:
        assert frame.samples.total + frame.features.total == pytest.approx(frame.gap, rel=1e-6)
    assert frames[-1].gap == runs["adasdca+"].certificate.gap
    uniform = recordings["sdca"].frames[-1].probabilities
    np.testing.assert_allclose(uniform.values, 1.0)


def test_long_runs_are_thinned_out_evenly():
    proof = made()[1]["sdca"].certificate
    seen = []
    recording = dg.Recording(most=5, callback=lambda snapshot: seen.append(snapshot.passes))
    for epoch in range(100):
        recording(dg.run.loop.Snapshot(epoch, epoch, 0.0, 1.0, 0.0, 1.0, 0.1, None, 0.0, proof))
    kept = [frame.passes for frame in recording.frames]
    assert kept[0] == 0
    assert len(kept) <= 5
    assert len(set(np.diff(kept))) == 1
    assert kept[-1] >= 64
    assert len(seen) == 100
    recording(
        dg.run.loop.Snapshot(100, 100, 0.0, 1.0, 0.0, 1.0, 0.1, None, 0.0)
    )  # nothing to record


def test_the_callback_of_a_recording_can_stop_the_run():
    problem = made()[0]
    stop = dg.Recording(callback=lambda snapshot: snapshot.epoch >= 2)
    solution = dg.solve(problem, "sdca", tol=0, callback=stop)
    assert solution.status is dg.run.solution.Status.CALLBACK
    assert Frame.last(solution).by_samples
    with pytest.raises(ValueError, match="most must be at least 2"):
        dg.Recording(most=1)


def test_arguments_are_spelled_as_python():
    dg_ = {"dg": dg}
    for value in ('a"b\\\n</script>', 1e-6, np.float64(0.1), True, None, dg.samplings.TauNice(4)):
        assert eval(as_python(value), dg_) == value
    box = dg.penalties.Box(0.0, 1.0, dg.penalties.Weighted(dg.penalties.L1(), np.array([1.0, 2.0])))
    again = eval(as_python(box), dg_)
    assert type(again) is type(box)
    assert again.base.weights == [1.0, 2.0]
    assert as_python(float("inf")) == 'float("inf")'
    assert as_python(dg.losses.Huber(2.0)) == "dg.losses.Huber(delta=2.0)"
    for unknown in (np.random.default_rng(0), lambda: 0, np.zeros(100), ...):
        assert as_python(unknown) == "..."


def test_a_solution_knows_its_settings():
    problem, runs, _ = made()
    assert runs["sdca"].settings == {"method": '"sdca"', "tol": "1e-09", "max_epochs": "12"}
    chance = np.random.default_rng(3)
    warm = dg.solve(problem, "sdca", tol=1e-4, warm_start=runs["sdca"], random_state=chance)
    assert warm.settings == {"method": '"sdca"', "random_state": "...", "warm_start": "..."}
