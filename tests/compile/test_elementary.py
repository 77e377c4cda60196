"""Exponentials and logarithms of our own, against those of higher precision."""

import numba
import numpy as np
import pytest

from dualgap.compile import elementary, kernels

kernels.machine()  # compiled functions may call ours from now on
RNG = np.random.default_rng(0)
MANY = 100_000
HALVES = 0.5 * RNG.random(MANY)
# Over the range that each is for, close to 0, and over all magnitudes.
POINTS = {
    "exp": -np.concatenate([708.0 * RNG.random(MANY), HALVES, 10 ** RNG.uniform(-300, 2, MANY)]),
    "exp of positive numbers": np.concatenate([709.0 * RNG.random(MANY), HALVES]),
    "log": np.concatenate([2.0 * HALVES, 1.0 + 1e-3 * HALVES, 10 ** RNG.uniform(-299, 300, MANY)]),
    "log1p": np.concatenate([-HALVES - 0.49, HALVES, -(10 ** RNG.uniform(-299, -1, MANY))]),
}


def mapped(name, points):
    function, out = getattr(elementary, name.split()[0]), np.empty(len(points))

    @numba.njit
    def run(points, out):
        for i in range(len(points)):
            out[i] = function(points[i])

    run(points, out)
    return out


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long doubles are not longer here")
@pytest.mark.parametrize("name", POINTS)
def test_errors_are_less_than_two_units_in_the_last_place(name):
    points = POINTS[name]
    exact = getattr(np, name.split()[0])(points.astype(np.longdouble))
    errors = np.abs(mapped(name, points) - exact) / np.spacing(np.abs(exact).astype(float))
    assert errors.max() < 2.0


@pytest.mark.parametrize("name", POINTS)
def test_plain_python_says_the_same(name):
    points = POINTS[name][::1000]
    plain = getattr(elementary, name.split()[0])
    plain = [getattr(plain, "py_func", plain)(float(x)) for x in points]
    np.testing.assert_allclose(plain, mapped(name, points), rtol=1e-15, atol=0)


def test_ends():
    assert mapped("exp", np.array([0.0, -708.5, -np.inf])).tolist() == [1.0, 0.0, 0.0]
    assert mapped("log", np.array([1.0])).tolist() == [0.0]
    assert mapped("log1p", np.array([0.0, 5e-324])).tolist() == [0.0, 5e-324]
    # Multiplied by what they come with in entropies, these count for nothing.
    assert np.isfinite(mapped("log", np.array([0.0]))).all()
    assert np.isfinite(mapped("log1p", np.array([-1.0]))).all()
    assert np.isnan(mapped("exp", np.array([np.nan]))).all()
    assert np.isnan(mapped("log1p", np.array([np.nan]))).all()
