"""What happens inside a call that is interpreted since its kernel is not compiled yet."""

import numpy as np
import pytest

from dualgap.compile import first_use
from dualgap.compile.kernels import helper, inner, kernel


class Model:
    random_state = None


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setenv("DUALGAP_COMPILE", "")
    monkeypatch.setattr(first_use, "_fitted", set())


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


def test_only_the_first_fit_of_a_class_is_interpreted(patient):
    fill, out = make(), np.zeros(3)
    for compiled in (0, 1):
        with first_use.first_fit(Model()):
            fill(np.ones(3), out)
        assert len(fill.signatures) == compiled
    np.testing.assert_array_equal(out, [1.0, 1.0, 1.0])
    with first_use.first_fit(Model()):  # compiled helpers do not get in the way of a new kernel
        make()(np.ones(3), out)


def test_what_python_refuses_machine_code_does(patient):
    fill, out = make(), np.zeros(3)
    with first_use.first_fit(Model()):
        fill((0.0, 2.0, 4.0), out)  # 1/0 is an error in Python
    assert len(fill.signatures) == 1
    np.testing.assert_array_equal(out, [np.inf, 1.0, 2.0])  # added once


def test_large_calls_seeds_and_calls_outside_of_fits_compile(patient):
    seeded = Model()
    seeded.random_state = 0
    large = np.ones(first_use._LARGEST)
    for model, values in ((Model(), large), (seeded, np.ones(3))):
        fill = make()
        with first_use.first_fit(model):
            fill(values, np.zeros(len(values)))
        assert len(fill.signatures) == 1
    outside = make()
    outside(np.ones(3), np.zeros(3))
    assert len(outside.signatures) == 1
