"""Fits by the processes of an MPI job."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cluster_data import problem

from dualgap.distributed import Partitioned, solve
from dualgap.distributed.data.agreement import summarize
from dualgap.distributed.data.sources import split
from dualgap.distributed.engines.mpi import MpiEngine

mpi = pytest.importorskip("mpi4py.MPI")
MPIEXEC = Path(sys.executable).parent / "mpiexec"
if not MPIEXEC.exists():
    pytest.skip("no mpiexec in this environment", allow_module_level=True)


def started(processes, *args):
    """Run the fit in an MPI job of so many processes, until it ends."""
    script = Path(__file__).parents[1] / "shared" / "mpi_fit.py"
    return subprocess.run(
        [MPIEXEC, "-n", str(processes), sys.executable, script, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def job(processes, *args):
    """The same for a job that must succeed."""
    done = started(processes, *args)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("scheme", "work", "processes"),
    [
        ("cocoa+", 2, 2),
        pytest.param("cocoa+", 2, 4, marks=pytest.mark.cluster),
        pytest.param("disdca", 20, 3, marks=pytest.mark.cluster),
        pytest.param("quartz", 20, 2, marks=pytest.mark.cluster),
    ],
)
def test_the_same_bits_as_threads(tmp_path, scheme, work, processes):
    here = solve(problem(), 1, scheme, partitions=5, work=work, tol=1e-3)
    job(processes, tmp_path, scheme, work)
    for rank in range(processes):
        found = np.load(tmp_path / f"{rank}.npz")
        assert np.array_equal(found["coef"], here.coef)
        assert np.array_equal(found["dual"], here.dual)


def test_a_job_of_one_process():
    data = problem()

    def use(engine):
        summaries = engine.ask(summarize, Partitioned([(0, 0)], "hinge").spec)
        assert [each.n for each in summaries] == [80, 80, 80]
        engine.put([np.ones(80)] * 3)
        assert engine.copy()[2].sum() == 80.0
        return engine.workers

    assert MpiEngine(mpi.COMM_SELF, split(data.X, data.y, None, 3), 60.0).drive(use) == 1


def test_every_process_raises_the_error(tmp_path):
    job(2, tmp_path, "bad", 1)
    assert (tmp_path / "0.txt").read_text().startswith("ValueError: partition 1: X has NaN")
    assert "partition 1: X has NaN" in (tmp_path / "1.txt").read_text()


def test_late_processes_are_named(tmp_path):
    """By rank 0; the other processes raise the error once they listen."""
    job(3, tmp_path, "late", 1)
    words = r"process 1 \(partitions 1\) did not answer within round_seconds=2"
    assert re.match(f"RuntimeError: {words}", (tmp_path / "0.txt").read_text())
    for rank in (1, 2):
        assert re.search(words, (tmp_path / f"{rank}.txt").read_text())


@pytest.mark.cluster
def test_another_job_resumes_after_a_killed_process(tmp_path):
    """A job of another size; the first one ends as soon as a process is killed."""
    here = solve(problem(), 1, partitions=5, work=1, tol=1e-3)
    rounds = int(here.history.iterations[-1])
    assert started(3, tmp_path, "cocoa+", 1, 3, rounds // 2).returncode != 0
    assert not (tmp_path / "0.npz").exists()
    job(2, tmp_path, "cocoa+", 1, 3)
    found = np.load(tmp_path / "0.npz")
    assert np.array_equal(found["dual"], here.dual)
    assert found["checks"] <= rounds - rounds // 2 + 3  # it repeats no more than one interval
