"""What happens inside a call that is interpreted since its kernel is not compiled yet."""

import numba
import numpy as np
import pytest

from dualgap.compile import background, first_use, machine
from dualgap.compile.kernels import helper, inner, kernel
from dualgap.estimators import fits

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


class Model:
    random_state = None


class OtherModel(Model):
    pass


@pytest.fixture(autouse=True)
def patient(monkeypatch, tmp_path):
    """As in a process of a user that has just begun, with an empty cache."""
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path)
    monkeypatch.setenv("DUALGAP_COMPILE", "foreground")
    monkeypatch.setattr(first_use.Process, "fitted", set())
    monkeypatch.setattr(first_use.Process, "spent", 0.0)


@pytest.fixture
def impatient(monkeypatch):
    """After so many interpreted kernels that compiled ones would have paid."""
    monkeypatch.setattr(first_use.Process, "spent", first_use.TUNING.rent + 1.0)


@helper
def halved(x):
    return 0.5 * x


@inner
def added(values, out):
    for i in range(len(values)):
        out[i] += halved(values[i])


def make():
    """A kernel of its own for each test."""

    def fill(values, out):
        added(values, out)
        out[0] = 1.0 / (values[0] * 1.0)

    return kernel(fill)


def fit(fill, out, model=Model):
    with first_use.first_fit(model()):
        fill(np.ones(3), out)


def test_kernels_are_interpreted_until_that_takes_as_long_as_loading_them(monkeypatch):
    fill, out = make(), np.zeros(3)
    fit(fill, out)
    fit(fill, out)
    assert fill.signatures == []
    np.testing.assert_array_equal(out, [1.0, 1.0, 1.0])
    monkeypatch.setattr(first_use.Process, "spent", first_use.TUNING.rent + 1.0)
    fit(fill, out)
    assert len(fill.signatures) == 1
    np.testing.assert_array_equal(out, [1.0, 1.5, 1.5])


def test_then_only_the_first_fit_of_a_class_is_interpreted(impatient):
    fill = make()
    for model, compiled in ((Model, 0), (OtherModel, 0), (Model, 1)):
        fit(fill, np.zeros(3), model)
        assert len(fill.signatures) == compiled


def test_what_is_compiled_in_the_background_is_interpreted_meanwhile(impatient, monkeypatch):
    ordered = []
    monkeypatch.setattr(background, "compiles", lambda kernel, args: not ordered.append(kernel))
    fill = make()
    for _ in range(3):
        fit(fill, np.zeros(3))
    assert fill.signatures == []
    assert ordered == 3 * [fill]
    monkeypatch.setattr(first_use, "TUNING", first_use.TUNING._replace(patience=-1.0))
    fit(fill, np.zeros(3))
    assert len(fill.signatures) == 1


def test_what_python_refuses_machine_code_does():
    fill, out = make(), np.zeros(3)
    with first_use.first_fit(Model()):
        fill((0.0, 2.0, 4.0), out)  # 1/0 is an error in Python
    assert len(fill.signatures) == 1
    np.testing.assert_array_equal(out, [np.inf, 1.0, 2.0])  # added once


def test_large_calls_seeds_and_calls_outside_of_fits_compile():
    seeded = Model()
    seeded.random_state = 0
    large = np.ones(first_use.TUNING.largest)
    for model, values in ((Model(), large), (seeded, np.ones(3))):
        fill = make()
        with fits.first_use(model):
            fill(values, np.zeros(len(values)))
        assert len(fill.signatures) == 1
    outside = make()
    outside(np.ones(3), np.zeros(3))
    assert len(outside.signatures) == 1
