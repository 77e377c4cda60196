"""Kernels that another process compiles, while fits are interpreted."""

import json
import os
import subprocess
import sys
import textwrap

import numba
import numpy as np
import pytest

import dualgap as dg
from dualgap.compile import background, machine
from dualgap.compile.kernels import kernel

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

FIT = """
    import json, os, sys, threading
    from sklearn.datasets import load_iris
    from dualgap import RidgeClassifier
    from dualgap.compile import background, first_use, kernels

    first_use.TUNING = first_use.TUNING._replace(rent=-1.0)
    X, y = load_iris(return_X_y=True)
    started = []
    start = background.subprocess.Popen

    def popen(*args, **options):
        started.append(start(*args, **options))
        return started[-1]

    background.subprocess.Popen = popen
    for _ in range(3):
        RidgeClassifier().fit(X, y)
    pids = [process.pid for process in started]
    for thread in threading.enumerate():
        if thread.name == "dualgap-background":
            thread.join(300)
    zombies = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
    fits = [RidgeClassifier().fit(X, y).coef_.tolist() for _ in range(2)]
    loaded = [k for m in list(sys.modules.values()) if m.__name__.startswith("dualgap")
              for k in vars(m).values() if isinstance(k, kernels.Kernel) and k.signatures]
    stats = [kernel.compiled.stats for kernel in loaded]
    print(json.dumps({
        "started": len(started),
        "zombies": zombies,
        "exits": [process.returncode for process in started],
        "compiled": sum(sum(s.cache_misses.values()) for s in stats),
        "loaded": sum(sum(s.cache_hits.values()) for s in stats),
        "same": fits[0] == fits[1],
    }))
"""


def run(folder, **environment):
    own = {name: value for name, value in os.environ.items() if name not in background._UNWELCOME}
    own |= {"NUMBA_CACHE_DIR": str(folder), "DUALGAP_COMPILE": "", **environment}
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(FIT)]
    done = subprocess.run(command, capture_output=True, text=True, env=own, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def test_one_process_compiles_what_fits_miss_and_they_use_it(tmp_path):
    found = run(tmp_path)
    assert found["started"] == 1
    assert found["exits"] == [0]
    assert found["zombies"] == []
    assert found["compiled"] == 0
    assert found["loaded"] > 2
    assert found["same"]
    (folder,) = tmp_path.glob("kernels-*/orders")
    assert list(folder.glob("*.order")) == []
    assert run(tmp_path)["started"] == 0  # all is there already


def test_nothing_is_started_where_it_is_not_wanted(tmp_path):
    found = run(tmp_path, CI="true")
    assert found["started"] == 0
    assert found["compiled"] > 2  # by the second fit


@pytest.mark.parametrize("name", ["DUALGAP_COMPILE", *background._UNWELCOME])
def test_who_says_that_it_is_not_wanted(monkeypatch, name):
    for other in ("DUALGAP_COMPILE", *background._UNWELCOME):
        monkeypatch.delenv(other, raising=False)
    assert background._is_welcome()
    monkeypatch.setenv(name, "foreground")
    assert not background._is_welcome()


@pytest.fixture
def welcome(monkeypatch, tmp_path):
    monkeypatch.setattr(background, "_is_welcome", lambda: True)
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path)
    started = []
    monkeypatch.setattr(background, "_start", lambda folder: not started.append(folder))
    return started


KERNEL, ARGUMENTS = dg.proof.terms.conj_slopes, (dg.penalties.L2(), np.ones(2), np.ones(2))


def test_while_one_is_at_work_none_is_started(welcome):
    with background._lock(background._folder()) as mine:
        assert mine
        assert background.compiles(KERNEL, ARGUMENTS)
        assert welcome == []
    assert background.compiles(KERNEL, ARGUMENTS)
    assert len(welcome) == 1
    assert len(list(background._folder().glob("*.order"))) == 1  # ordered twice, once


def test_what_was_tried_in_vain_is_not_tried_again(welcome):
    assert background.compiles(KERNEL, ARGUMENTS)
    (order,) = background._folder().glob("*.order")
    background._begun(order).touch()
    assert not background.compiles(KERNEL, ARGUMENTS)
    assert background._next(background._folder()) is None


def test_only_what_others_can_find_is_ordered(welcome):
    assert not background.compiles(kernel(lambda x: x), (1.0,))
    assert welcome == []


def test_a_folder_that_cannot_be_written_starts_nothing(welcome, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path / "file")
    assert not background.compiles(KERNEL, ARGUMENTS)
    assert welcome == []


def test_orders_are_for_the_sources_that_gave_them(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["-c", str(tmp_path)])
    background.work()
    assert list(tmp_path.iterdir()) == []
