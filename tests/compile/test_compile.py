"""Compilation: cached, counted, never stale, safe in threads and forked processes."""

import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

import dualgap as dg
from dualgap.compile import machine
from dualgap.compile.kernels import Kernel

PACKAGE = Path(dg.__file__).parent


def run(code, cache, path=None, **environment):
    """What a fresh process prints, with its own folder for kernels."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment}
    if path:
        env["PYTHONPATH"] = os.pathsep.join(map(str, path))
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def all_kernels():
    modules = [module for name, module in sys.modules.items() if name.startswith("dualgap")]
    found = {id(obj): obj for m in modules for obj in vars(m).values() if isinstance(obj, Kernel)}
    return list(found.values())


def signatures():
    return sum(len(kernel.signatures) for kernel in all_kernels())


def fit(seed=0, n=30, loss="hinge"):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return dg.solve(dg.Problem(X, np.sign(X[:, 0]), loss, lam=0.1))


def test_importing_is_light():
    """Nothing beyond what a fit needs; plots and progress bars come when asked for."""
    code = """
        import sys, dualgap
        heavy = ("sklearn", "matplotlib", "rich", "pandas", "cvxpy", "numba", "llvmlite")
        print([name for name in heavy if name in sys.modules])
    """
    assert run(code, machine.cache_folder().parent) == "[]"


def test_kernels_can_be_sent_to_other_processes():
    kernel = dg.proof.terms.conj_slopes
    assert pickle.loads(pickle.dumps(kernel)) is kernel


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="counts compiled code")
def test_a_second_fit_compiles_nothing():
    fit()
    before = signatures()
    assert before > 5
    fit(seed=1, n=50)
    fit(seed=2)
    assert signatures() == before


def test_a_second_process_compiles_nothing(tmp_path):
    code = """
        import numpy as np, dualgap as dg, sys
        from dualgap.compile.kernels import Kernel
        X = np.random.default_rng(0).standard_normal((30, 4))
        dg.solve(dg.Problem(X, np.sign(X[:, 0]), "squared-hinge", lam=0.1))
        modules = [m for name, m in sys.modules.items() if name.startswith("dualgap")]
        kernels = {id(k): k for m in modules for k in vars(m).values() if isinstance(k, Kernel)}
        stats = [k.compiled.stats for k in kernels.values() if k.signatures]
        print(sum(map(lambda s: sum(s.cache_misses.values()), stats)),
              sum(map(lambda s: sum(s.cache_hits.values()), stats)))
    """
    misses, hits = map(int, run(code, tmp_path).split())
    assert misses > 5
    assert hits == 0
    compiled = misses
    misses, hits = map(int, run(code, tmp_path).split())
    assert misses == 0
    assert 3 < hits <= compiled


def test_an_edited_loss_never_meets_a_stale_kernel(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "dualgap", ignore=shutil.ignore_patterns("__pycache__"))
    code = """
        import numpy as np, dualgap as dg
        problem = dg.Problem(np.eye(2), [1.0, 3.0])
        print(dg.certify(problem, np.zeros(2)).primal)
    """
    assert run(code, tmp_path / "cache", [tmp_path]) == "2.5"
    file = tmp_path / "dualgap" / "losses" / "squared.py"
    text = file.read_text()
    assert "(2.0 * self.gamma)" in text
    stamp = file.stat()
    file.write_text(text.replace("(2.0 * self.gamma)", "(4.0 * self.gamma)"))
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert run(code, tmp_path / "cache", [tmp_path], PYTHONDONTWRITEBYTECODE="1") == "1.25"


def test_an_edited_loss_of_a_user_neither(tmp_path):
    source = (PACKAGE / "losses" / "squared.py").read_text()
    file = tmp_path / "mine.py"
    code = """
        import numpy as np, dualgap as dg, mine
        from dualgap.proof.terms import sums_over_samples as kernel
        problem = dg.Problem(np.eye(2), [1.0, 3.0], mine.Squared())
        print(dg.certify(problem, np.zeros(2)).primal, end=" ")
        print(sum(kernel.compiled.stats.cache_hits.values()))
    """
    path = [tmp_path, PACKAGE.parent]
    file.write_text(source)
    assert run(code, tmp_path / "cache", path, PYTHONDONTWRITEBYTECODE="1") == "2.5 0"
    assert run(code, tmp_path / "cache", path, PYTHONDONTWRITEBYTECODE="1") == "2.5 1"
    file.write_text(source.replace("(2.0 * self.gamma)", "(4.0 * self.gamma)"))
    assert run(code, tmp_path / "cache", path, PYTHONDONTWRITEBYTECODE="1") == "1.25 0"
    file.unlink()  # a cache that knows classes which are gone does not matter to others
    plain = code.replace("mine.Squared()", "'squared'").replace(", mine", "")
    assert run(plain, tmp_path / "cache", path).startswith("2.5")


def test_an_edited_helper_of_a_user_neither(tmp_path):
    source = (PACKAGE / "penalties" / "l2.py").read_text()
    mine = "from helper import half\n" + source.split('"""', 2)[2].replace("0.5 *", "half() *")
    (tmp_path / "mine.py").write_text(mine.replace("from __future__ import annotations\n", ""))
    helper = tmp_path / "helper.py"
    code = """
        import numpy as np, dualgap as dg, mine
        print(dg.Problem(np.eye(2), [1.0, 3.0], "squared", mine.L2()).penalty_value(np.ones(2)))
    """
    path = [tmp_path, PACKAGE.parent]
    for value, expected in (("0.5", "1.0"), ("2.0", "4.0")):
        helper.write_text(f"import numba\n@numba.njit\ndef half():\n    return {value}\n")
        assert run(code, tmp_path / "cache", path, PYTHONDONTWRITEBYTECODE="1") == expected


def test_a_damaged_cache_costs_a_compilation_not_a_fit(tmp_path):
    code = """
        import numpy as np, dualgap as dg
        print(dg.certify(dg.Problem(np.eye(2), [1.0, 3.0]), np.zeros(2)).primal)
    """
    assert run(code, tmp_path) == "2.5"
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert len(files) > 5
    for path in files:
        path.write_bytes(path.read_bytes()[:40])
    assert run(code, tmp_path) == "2.5"
    assert run(code, tmp_path) == "2.5"


def test_two_processes_that_save_at_once_never_swap_kernels(tmp_path):
    """Both read the index before either writes: no signature may end up with the other's code."""
    one, two = (
        machine._cache_in(tmp_path, dg.proof.terms.conj_slopes.py_func, machine._KernelCache)
        for _ in range(2)
    )
    first, second = one._cache_file, two._cache_file
    load_index, save_data = second._load_index, first._save_data

    def save_data_late(name, data):
        second._load_index = dict  # what it has read before the first one wrote
        second.save("two", "code of two")
        second._load_index = load_index
        save_data(name, data)

    first._save_data = save_data_late
    first.save("one", "code of one")
    assert first.load("one") in (None, "code of one")
    assert second.load("two") in (None, "code of two")
    assert {first.load("one"), second.load("two")} != {None}


def test_a_loss_defined_in_a_script_works(tmp_path):
    code = """
        from typing import NamedTuple
        import numpy as np, dualgap as dg
        class Mine(NamedTuple):
            targets, gamma, lipschitz = "real", 1.0, float("inf")
            differentiable = quadratic = True
            def value(self, z, y): return 0.5 * (y - z) ** 2
            def slope(self, z, y): return z - y
            def curvature(self, z, y): return 1.0
            def conj(self, a, y): return a * (0.5 * a - y)
            def project(self, a, y): return a
            def dual_step(self, a, z, q, y): return a + (y - z - a) / (1.0 + q)
        X = np.random.default_rng(0).standard_normal((20, 3))
        found = dg.solve(dg.Problem(X, X[:, 0], Mine(), lam=0.1), tol=1e-10)
        exact = np.linalg.solve(X.T @ X / 20 + 0.1 * np.eye(3), X.T @ X[:, 0] / 20)
        print(np.abs(found.coef - exact).max() < 1e-10)
    """
    for _ in range(2):
        assert run(code, tmp_path) == "True"


def test_an_unwritable_cache_falls_back(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(machine.platformdirs, "user_cache_dir", lambda name: str(blocked / name))
    monkeypatch.setattr(machine.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    folder = machine.cache_folder.__wrapped__()
    assert folder.parent == tmp_path / "temporary"
    assert folder.is_dir()


def test_fits_from_two_threads():
    expected = fit().coef
    with ThreadPoolExecutor(2) as pool:
        for solution in pool.map(lambda _: fit(), range(8)):
            np.testing.assert_array_equal(solution.coef, expected)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # about fork itself
def test_fits_in_a_forked_process():
    expected = fit().coef
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for coef in pool.map(_forked, range(4)):
            np.testing.assert_array_equal(coef, expected)


def _forked(_):
    return fit().coef
