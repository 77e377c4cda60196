"""``dualgap warmup`` compiles what the first fit needs."""

import subprocess
import sys

import numpy as np
from typer.testing import CliRunner

from dualgap import estimators
from dualgap.cli import app
from dualgap.cli.warmup import KINDS, _data


def test_every_kind_is_an_estimator_with_data_that_it_accepts():
    for name, targets in KINDS.items():
        assert hasattr(estimators, name)
        for X, y in _data(targets):
            assert X.shape[0] == len(y) > len(np.unique(y)) or targets == "numbers"


def test_a_fit_after_a_warm_up_compiles_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    fit = (
        "import numpy as np, dualgap\n"
        "from numba.core import event\n"
        "X = np.random.default_rng(1).standard_normal((50, 4))\n"
        "with event.install_recorder('numba:compile') as seen:\n"
        "    dualgap.Ridge().fit(X, X[:, 0])\n"
        "print(len(seen.buffer))\n"
    )

    def compiled():
        done = subprocess.run([sys.executable, "-c", fit], capture_output=True, check=True)
        return int(done.stdout)

    command = [sys.executable, "-m", "dualgap", "warmup", "Ridge"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert "Ridge" in done.stdout
    assert compiled() == 0


def test_an_unknown_kind_is_refused():
    result = CliRunner().invoke(app, ["warmup", "Rigde"])
    assert result.exit_code == 2
    assert "did you mean 'Ridge'" in result.output
