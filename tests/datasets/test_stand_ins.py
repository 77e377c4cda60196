"""Stand-ins for data sets, and the registry whose numbers they follow."""

import re

import numpy as np
import pytest

from dualgap.datasets import registry, synthetic


@pytest.mark.parametrize("entry", registry.ENTRIES.values(), ids=registry.names())
def test_a_stand_in_looks_like_the_set(entry, monkeypatch):
    monkeypatch.setattr(synthetic, "LARGEST", 600_000)
    X, y = synthetic.stand_in(entry)
    n, d = X.shape
    assert d == entry.d
    assert n == entry.n or 590_000 < n * d * entry.density <= 600_000
    assert X.nnz == pytest.approx(entry.density * n * d, rel=0.1)
    assert X.has_canonical_format
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert set(np.unique(y)) == {-1.0, 1.0}
    assert (y > 0).mean() == pytest.approx(entry.positive, abs=0.01)
    norms = np.sqrt(X.multiply(X).sum(axis=1).A1)
    if entry.kind in ("flags", "categories"):
        assert set(X.data) == {1.0}
    elif entry.kind in ("text", "shares"):
        np.testing.assert_allclose(norms[norms > 0.0], 1.0)
    else:
        assert (X.data.min() < 0.0) == (entry.kind == "signed")
        assert np.abs(X.data).max() <= 1.0
    # The rows of flags differ in length, as those of w8a do.
    assert (norms.std() > 0.3 * norms.mean()) == (entry.kind == "flags")


def test_a_stand_in_is_the_same_each_time():
    (X, y), (again, labels) = (synthetic.stand_in(registry.ENTRIES["w8a"]) for _ in range(2))
    assert abs(again - X).max() == 0.0
    np.testing.assert_array_equal(y, labels)


@pytest.mark.parametrize("entry", registry.ENTRIES.values(), ids=registry.names())
def test_each_entry_fits_together(entry):
    assert set(entry.notes) == set(entry.candidates[1:])
    assert {registry.stem(file) for file in entry.files} <= {entry.own}
    assert set(entry.hashes) <= set(entry.files)
    if entry.nnz is not None:
        assert entry.nnz == pytest.approx(entry.density * entry.n * entry.d, rel=1e-3)
    sizes = {"md5": 32, "sha256": 64}
    for known in entry.hashes.values():
        algorithm, digest = known.split(":")
        assert re.fullmatch(f"[0-9a-f]{{{sizes[algorithm]}}}", digest)
