"""Runs that are broken off and go on: the same bits, from whole files only, of the same problem."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import killed
import numpy as np
import pytest
import scipy.sparse as sp
from every_method import EVERY, SPECIAL, accepted, kind_of, problem_of, selection, special_problem
from sparse_data import random_csr

import dualgap as dg
from dualgap.files import checkpoint_file
from dualgap.run import checkpoint, path
from dualgap.run.checkpoint import CheckpointWarning
from dualgap.run.interrupt import deferred
from dualgap.samplings import Custom, Permutation, ResidueDecay
from dualgap.steps.working_set import working_set

LATER = {"lbfgs", "small-newton"}  # goes on from the best pair
COLUMNS = [name for name in dg.run.solution.History.columns if name != "seconds"]


def stopping_after(looks):
    left = iter(range(looks))
    return lambda snapshot: next(left, None) is None


def in_pieces(problem, method, path, looks=(2, 1, 4), **options):
    """Broken off after so many looks, and again, then to the end."""
    for count in looks:
        stop = stopping_after(count)
        dg.solve(problem, method, checkpoint=path, callback=stop, **options)
    return dg.solve(problem, method, checkpoint=path, **options)


def same(one, other):
    """Whether two runs are the same, bit for bit."""
    for name in ("coef", "dual", "intercept"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in COLUMNS:
        np.testing.assert_array_equal(one.history[name], other.history[name], err_msg=name)
    assert one.certificate.gap == other.certificate.gap
    assert one.status == other.status
    assert one.passes == other.passes


@cache
def cases():
    """A problem for each method, of those whose kernels other tests need as well."""
    found = {}
    for kind, *case in selection():
        for name in accepted()[kind]:
            problem = problem_of(*case)
            fits = EVERY[name].refusal(problem) is None and kind_of(name, problem) == kind
            if fits and name not in found:
                found[name] = problem
    return found | {name: special_problem(name) for name in SPECIAL}


@cache
def small():
    return killed.problem()


@cache
def whole():
    """The run of ``killed.py``, never broken off."""
    return dg.solve(small(), killed.METHOD, tol=killed.TOL)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run.checkpoint"


# --- the same bits -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*EVERY, *SPECIAL])
def test_goes_on_bit_for_bit(name, file):
    problem, options = cases()[name], {"tol": 1e-5, "max_epochs": 100}
    method = EVERY.get(name, name)
    once = dg.solve(problem, method, **options)
    again = in_pieces(problem, method, file, **options)
    if name in LATER:
        assert again.converged
        assert again.certificate.dual <= once.certificate.primal
    else:
        same(again, once)


@pytest.mark.parametrize("method", ["sweeps", "newton", "prox-point", "cd-gap-decay"])
def test_goes_on_with_intercepts_and_blocks(method, file):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    blocks = method in ("cd-gap-decay", "newton")
    y = rng.integers(0, 3, 40) if blocks else np.sign(X[:, 0] + 0.5)
    problem = dg.Problem(
        X, y, "softmax" if blocks else "logistic", lam=1e-3, intercept=method != "sweeps"
    )
    if method == "cd-gap-decay":
        problem = dg.Problem(X, y, "softmax", lam=1e-3)
    options = {"tol": 1e-7, "max_epochs": 100}
    same(in_pieces(problem, method, file, **options), dg.solve(problem, method, **options))


@pytest.mark.parametrize(
    ("method", "loss", "penalty", "shape"),
    [
        ("working-set", "logistic", "l1", (200, 600)),  # whose sets grow and shrink
        ("newton", "hinge", "l2", (3000, 6)),  # from a sample, among samples near their kinks
        ("sweeps", "hinge", "l2", (3000, 60)),  # on faces
        ("sweeps", "logistic", "l2", (3000, 60)),  # by levels
    ],
)
def test_goes_on_when_broken_off_after_every_round(method, loss, penalty, shape, file, monkeypatch):
    tuning = replace(working_set.TUNING, sets_between_checks=1)  # a round for each set
    monkeypatch.setattr(working_set, "TUNING", tuning)
    rng = np.random.default_rng(8)
    X = random_csr(shape, 0.3, rng)
    y = np.sign(X @ rng.standard_normal(shape[1]) + 0.3 * rng.standard_normal(shape[0]))
    problem = dg.Problem(X, y, loss, penalty, lam=2e-3 if penalty == "l1" else 1e-4)
    once = dg.solve(problem, method, tol=1e-10, max_epochs=40)
    rounds = len(once.history) - 1
    assert rounds > 3
    same(in_pieces(problem, method, file, (1,) * rounds, tol=1e-10, max_epochs=40), once)


def test_goes_on_with_a_kernel_matrix(file):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 40))
    problem = dg.Problem(X, X[:, 0], "squared", lam=1e-12)
    options = {"tol": 1e-13, "max_epochs": 30}
    stop = stopping_after(2)
    dg.solve(problem, "sweeps", checkpoint=file, callback=stop, **options)
    again = dg.solve(problem, "sweeps", checkpoint=file, **options)
    once = dg.solve(problem, "sweeps", **options)
    np.testing.assert_array_equal(again.coef, once.coef)


def test_goes_on_from_a_generator_and_with_another_number_of_threads(file):
    options = {"tol": 1e-7}
    first = np.random.Generator(np.random.MT19937(9))
    once = dg.solve(small(), "sdca", random_state=first, **options)
    stop = stopping_after(3)
    for more in ({"callback": stop, "n_threads": 1}, {"n_threads": 2}):
        given = np.random.Generator(np.random.MT19937(9))
        again = dg.solve(small(), "sdca", random_state=given, checkpoint=file, **options, **more)
    same(again, once)


def test_limits_count_rounds_of_the_whole_run_and_seconds_of_a_call(file):
    first = dg.solve(small(), "sdca", tol=1e-9, max_epochs=5, checkpoint=file)
    second = dg.solve(small(), "sdca", tol=1e-9, max_epochs=5, checkpoint=file)
    assert len(first.history) == len(second.history) == 6
    third = dg.solve(small(), "sdca", tol=1e-9, max_epochs=9, checkpoint=file)
    assert len(third.history) == 10
    assert third.history.seconds[5] == first.history.seconds[5]
    assert (np.diff(third.history.seconds) > 0.0).all()
    last = dg.solve(small(), "sdca", tol=1e-9, max_seconds=1e6, checkpoint=file)
    same(last, whole())


def test_a_finished_run_is_returned_and_goes_on_to_a_smaller_tol(file):
    done = dg.solve(small(), "sdca", tol=1e-6, checkpoint=file)
    looks = []
    again = dg.solve(small(), "sdca", tol=1e-6, checkpoint=file, callback=looks.append)
    same(again, done)
    assert looks == []
    further = dg.solve(small(), "sdca", tol=1e-9, checkpoint=file)
    assert further.converged
    np.testing.assert_array_equal(further.history.gap[: len(done.history)], done.history.gap)
    same(further, whole())  # whose steps do not depend on tol


def test_auto_stays_with_its_choice(file):
    """It chooses by tol, too: another one must not make a run start anew."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 20))
    problem = dg.Problem(X, np.sign(X @ rng.standard_normal(20)), "hinge", lam=1e-2)
    first = dg.solve(problem, tol=1e-4, checkpoint=file)
    second = dg.solve(problem, tol=1e-7, checkpoint=file)
    assert second.converged
    assert first.method == second.method


# --- whole files only --------------------------------------------------------------------------


def broken_off(file):
    """A run that left a checkpoint and the one before it."""
    stop = stopping_after(12)
    dg.solve(small(), "sdca", tol=1e-9, checkpoint=file, checkpoint_every=0, callback=stop)
    assert file.with_name("run.checkpoint.previous").exists()
    assert sorted(os.listdir(file.parent)) == ["run.checkpoint", "run.checkpoint.previous"]


def torn(file, how):
    content = file.read_bytes()
    if how == "empty":
        content = b""
    elif how == "flipped":
        middle = len(content) // 2
        wrong = bytes(byte ^ 1 for byte in content[middle : middle + 99])
        content = content[:middle] + wrong + content[middle + 99 :]
    else:
        content = content[: int(how * len(content))]
    file.write_bytes(content)


@pytest.mark.parametrize("how", ["empty", "flipped", 0.003, 0.3, 0.6, 0.999])
def test_a_damaged_file_falls_back_to_the_one_before(how, file):
    broken_off(file)
    torn(file, how)
    with pytest.warns(CheckpointWarning, match="damaged.*resuming from the previous one"):
        again = dg.solve(small(), "sdca", tol=1e-9, checkpoint=file)
    same(again, whole())


def test_a_damaged_file_does_not_replace_the_one_before(file):
    broken_off(file)
    spare = file.with_name("run.checkpoint.previous")
    content = spare.read_bytes()
    torn(file, 0.5)
    with pytest.warns(CheckpointWarning, match="damaged"):
        dg.solve(small(), "sdca", tol=1e-9, checkpoint=file, callback=stopping_after(3))
    assert spare.read_bytes() == content
    same(dg.solve(small(), "sdca", tol=1e-9, checkpoint=file), whole())


def test_both_names_may_be_of_one_file(file):
    """As they are if a run is killed between two renames."""
    broken_off(file)
    spare = file.with_name("run.checkpoint.previous")
    spare.unlink()
    os.link(file, spare)
    same(dg.solve(small(), "sdca", tol=1e-9, checkpoint=file), whole())
    assert sorted(os.listdir(file.parent)) == ["run.checkpoint", "run.checkpoint.previous"]


def test_a_missing_file_falls_back_as_well(file):
    broken_off(file)
    file.unlink()
    with pytest.warns(CheckpointWarning, match="missing"):
        same(dg.solve(small(), "sdca", tol=1e-9, checkpoint=file), whole())


def test_with_both_damaged_a_run_starts_anew_and_says_so(file):
    broken_off(file)
    torn(file, 0.5)
    torn(file.with_name("run.checkpoint.previous"), "flipped")
    with pytest.warns(CheckpointWarning, match="starts over"):
        same(dg.solve(small(), "sdca", tol=1e-9, checkpoint=file), whole())


def test_every_damaged_byte_is_noticed(file):
    stop = stopping_after(2)
    dg.solve(small(), "sdca", tol=1e-9, checkpoint=file, callback=stop)
    content = file.read_bytes()
    expected = json.dumps(checkpoint_file.read(file), default=np.ndarray.tolist)
    rng = np.random.default_rng(0)
    for at in [*range(0, 60), *rng.integers(0, len(content), 300)]:
        damaged = bytearray(content)
        damaged[at] ^= 1 << int(rng.integers(8))
        file.write_bytes(damaged)
        try:
            found = checkpoint_file.read(file)
        except (checkpoint_file.DamagedError, checkpoint_file.ForeignError):
            continue
        # A few bytes of a zip file mean nothing: dates, for one.
        assert json.dumps(found, default=np.ndarray.tolist) == expected


@pytest.mark.parametrize("content", [b"my,own,data\n1,2,3\n" * 9, b"PK\x03\x04" + b"x" * 60, b"a"])
def test_other_files_are_neither_believed_nor_overwritten(content, file):
    file.write_bytes(content)
    with pytest.raises(ValueError, match="not a checkpoint of dualgap"):
        dg.solve(small(), "sdca", checkpoint=file)
    assert file.read_bytes() == content


def test_nothing_in_a_file_is_executed(file):
    """An array of objects, which is a pickle, is refused even where all checksums are right."""
    stop = stopping_after(2)
    dg.solve(small(), "sdca", checkpoint=file, callback=stop)
    crafted = file.with_name("crafted")
    evil = np.array([Exploding()], dtype=object)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(crafted, "w") as new:
        for name in old.namelist()[:-1]:
            if name == "state.visited.npy":
                with new.open(name, "w") as member:
                    np.lib.format.write_array(member, evil, allow_pickle=True)
            else:
                new.writestr(name, old.read(name))
        header = json.loads(old.read("header.json"))
        header["members"] = {i.filename: [i.file_size, i.CRC] for i in new.infolist()}
        new.writestr("header.json", json.dumps(header))
    with pytest.raises(checkpoint_file.DamagedError, match="Pickles"):
        checkpoint_file.read(crafted)
    assert not Exploding.exploded


class Exploding:
    exploded = False

    def __reduce__(self):
        return (setattr, (Exploding, "exploded", True))


def test_a_newer_format_is_refused(file, monkeypatch):
    monkeypatch.setattr(checkpoint_file, "VERSION", 7)
    dg.solve(small(), "sdca", max_epochs=1, checkpoint=file)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="newer dualgap"):
        dg.solve(small(), "sdca", checkpoint=file)


def test_another_version_goes_on_from_the_best_pair(file, monkeypatch):
    broken_off(file)
    monkeypatch.setattr(dg, "__version__", "0.0.1")
    again = dg.solve(small(), "sdca", tol=1e-9, checkpoint=file)
    assert again.converged
    before = dg.solve(small(), "sdca", tol=1e-9, callback=stopping_after(12))
    rows = len(before.history)
    np.testing.assert_array_equal(again.history.gap[:rows], before.history.gap)
    assert again.history.gap[rows] <= before.history.gap[-1]


def test_a_file_that_cannot_be_written_does_not_end_the_run(file, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint.os, "fsync", full)
    with pytest.warns(CheckpointWarning, match="could not be written .*No space"):
        same(dg.solve(small(), "sdca", tol=1e-9, checkpoint=file), whole())


def test_what_a_killed_run_left_is_cleared_away(file):
    broken_off(file)
    for end in ("1.part", "22.link.part"):
        file.with_name(f"run.checkpoint.{end}").touch()
    file.with_name("other.checkpoint.1.part").touch()
    same(dg.solve(small(), "sdca", tol=1e-9, checkpoint=file), whole())
    assert sorted(os.listdir(file.parent)) == [
        "other.checkpoint.1.part", "run.checkpoint", "run.checkpoint.previous",
    ]  # fmt: skip


def test_works_where_files_cannot_have_two_names(file, monkeypatch):
    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(checkpoint.os, "link", refuse)
    broken_off(file)
    same(dg.solve(small(), "sdca", tol=1e-9, checkpoint=file), whole())


# --- the same problem --------------------------------------------------------------------------


def others():
    X, y = small().X, small().y
    flipped, moved = X.copy(), y.copy()
    flipped.data[7] *= -1.0
    moved[3] *= -1.0
    weights = np.ones(80)
    weights[0] = 2.0
    usual = {"loss": "logistic", "penalty": "l2", "lam": 2e-4}
    return {
        "X was different": (flipped, y, usual),
        "y was different": (X, moved, usual),
        "sample_weight was different": (X, y, {**usual, "sample_weight": weights}),
        "loss was .*Logistic.* and is .*SmoothedHinge": (X, y, {**usual, "loss": "smoothed-hinge"}),
        "penalty was": (X, y, {**usual, "penalty": dg.penalties.ElasticNet(0.1)}),
        "lam was 0.0002 and is 0.0003": (X, y, {**usual, "lam": 3e-4}),
        "intercept was": (X, y, {**usual, "intercept": "penalised"}),
    }


@pytest.mark.parametrize("words", others())
def test_refuses_the_checkpoint_of_another_problem(words, file):
    X, y, given = others()[words]
    dg.solve(small(), "prox-sdca", max_epochs=1, checkpoint=file)
    content = file.read_bytes()
    with pytest.raises(ValueError, match=f"checkpoint of another run: .*{words}"):
        dg.solve(dg.Problem(X, y, **given), "prox-sdca", checkpoint=file)
    assert file.read_bytes() == content


def by_hand(scores):
    return np.ones_like(scores.gap)


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("the method was .*Coordinate.* and is .*Quartz", {"method": "quartz"}),
        ("the sampling was .*Uniform.* and is .*Permutation", {"sampling": Permutation()}),
        ("the sampling was .*Uniform", {"sampling": Custom(by_hand)}),
        ("the sampling was different", {"sampling": Custom(np.ones(80))}),
        ("random_state was different", {"random_state": 1}),
    ],
)
def test_refuses_the_checkpoint_of_another_method(words, given, file):
    dg.solve(small(), "sdca", max_epochs=1, checkpoint=file)
    with pytest.raises(ValueError, match=words):
        dg.solve(small(), **{"method": "sdca", **given}, checkpoint=file)


def test_any_seed_goes_on_where_none_was_asked_for(file):
    options = {"tol": 1e-6, "random_state": None, "checkpoint": file}
    dg.solve(small(), "sdca", callback=stopping_after(2), **options)
    assert dg.solve(small(), "sdca", **options).converged


def test_parameters_of_steps_and_samplings_tell_them_apart(file):
    dg.solve(small(), "adasdca+", ResidueDecay(10.0), max_epochs=1, checkpoint=file)
    with pytest.raises(ValueError, match=r"the sampling was .*m=10\.0.* and is .*m=20\.0"):
        dg.solve(small(), "adasdca+", ResidueDecay(20.0), checkpoint=file)


def test_data_of_any_storage_have_a_digest(file):
    dense = np.asfortranarray(small().X.toarray())
    wide = np.zeros((80, 24))
    wide[:, ::2] = dense
    for k, X in enumerate((dense, np.ascontiguousarray(dense), wide[:, ::2], sp.csc_array(dense))):
        problem = dg.Problem(X, small().y, "logistic", lam=2e-4)
        own = file.with_name(str(k))
        same(in_pieces(problem, "sdca", own, tol=1e-4), dg.solve(problem, "sdca", tol=1e-4))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"checkpoint": 3}, "checkpoint must be the path"),
        ({"checkpoint": "nowhere/run"}, "folder nowhere does not exist"),
        ({"checkpoint": "."}, "is a folder"),
        ({"checkpoint": "run", "checkpoint_every": -1}, "checkpoint_every must be >= 0"),
        ({"checkpoint": "run", "checkpoint_every": "often"}, "checkpoint_every must be a number"),
    ],
)
def test_refuses_in_words(given, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=words):
        dg.solve(small(), "sdca", **given)
    with pytest.raises(ValueError, match="checkpoint is for one problem"):
        next(path.path(small(), [0.1], checkpoint="run"))


# --- real processes ----------------------------------------------------------------------------


def child(file, every=0, pause=0.0):
    here = Path(__file__).parents[1] / "shared"
    source = Path(dg.__file__).parents[1]
    return subprocess.Popen(
        [sys.executable, here / "killed.py", file, str(every), str(pause)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(source)},
    )


def kill_at(file, rounds, delay, every, pause):
    """Kill the run some seconds after so many rounds; the last round that it told of."""
    with child(file, every, pause) as process:
        lines = [process.stdout.readline() for _ in range(rounds + 1)]
        time.sleep(delay)
        process.kill()
        lines += process.stdout.readlines()
        ended = process.wait()
    assert ended in (0, -signal.SIGKILL)  # a machine may be so busy that the run was done first
    told = [line for line in lines if line.endswith("\n") and line.strip().isdigit()]
    return int(told[-1]), ended < 0


def check_kill(file, part, delay, every, pause):
    """Kill a run when about this part of it is done, and go on; whether it was killed in time."""
    moment = int(part * (len(whole().history) - 1))
    told, killed_in_time = kill_at(file, moment, delay, every, pause)
    rounds = []
    again = dg.solve(
        small(), killed.METHOD, tol=killed.TOL, checkpoint=file,
        callback=lambda snapshot: rounds.append(round(snapshot.epoch)),
    )  # fmt: skip
    same(again, whole())
    repeated = told - rounds[0] if rounds else 0
    assert repeated <= every
    assert set(os.listdir(file.parent)) <= {"run.checkpoint", "run.checkpoint.previous"}
    shutil.rmtree(file.parent)
    file.parent.mkdir()
    return killed_in_time


@pytest.mark.parametrize(("every", "pause"), [(0, 0.0), (10, 0.002)])
def test_goes_on_after_a_kill(file, every, pause):
    check_kill(file, 0.4, 0.001, every, pause)


@pytest.mark.cluster
def test_goes_on_after_a_kill_at_twenty_moments(file):
    rng = random.Random(1)
    trials = in_time = 0
    while in_time < 20:  # those that were over before do not count
        every, pause = ((0, 0.0), (10, 0.002))[trials % 2]
        in_time += check_kill(file, rng.uniform(0.0, 0.8), rng.uniform(0.0, 0.01), every, pause)
        trials += 1
        assert trials <= 60


def test_ctrl_c_ends_the_round_and_writes_a_checkpoint(file):
    whole()
    with child(file, every=10**9, pause=0.01) as process:
        for _ in range(5):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        lines = process.stdout.read().split()
        assert process.wait() == 0
    assert lines[-1] == "INTERRUPTED"
    told = int(lines[-2]) if len(lines) > 1 else 4
    kept = checkpoint_file.read(file)
    assert kept["loop"]["rounds"] == told
    same(dg.solve(small(), killed.METHOD, tol=killed.TOL, checkpoint=file), whole())


def test_a_second_ctrl_c_ends_the_run_at_once(file):
    """One that comes in the middle of a round; who handles Ctrl-C by themselves goes on to do."""
    with deferred() as asked:
        os.kill(os.getpid(), signal.SIGINT)
        wait_until(asked)
        with pytest.raises(KeyboardInterrupt):
            interrupt_again()
    own = []
    usual = signal.signal(signal.SIGINT, lambda *_: own.append(1))
    try:
        with deferred() as asked:
            os.kill(os.getpid(), signal.SIGINT)
            wait_until(lambda: own)
            assert not asked()
    finally:
        signal.signal(signal.SIGINT, usual)


def interrupt_again():
    os.kill(os.getpid(), signal.SIGINT)
    wait_until(lambda: False)


def wait_until(true):
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("waited in vain")


def test_works_in_threads(file):
    found = []
    worker = threading.Thread(
        target=lambda: found.append(dg.solve(small(), "sdca", tol=1e-9, checkpoint=file))
    )
    worker.start()
    worker.join()
    same(found[0], whole())
