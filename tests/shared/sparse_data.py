"""Random sparse matrices, the same under every version of SciPy."""

import numpy as np
import scipy.sparse as sp


def random_csr(shape, density, rng, dtype=np.float64):
    """A CSR array with uniform entries."""
    X = rng.random(shape)
    X[rng.random(shape) >= density] = 0.0
    return sp.csr_array(X.astype(dtype))
