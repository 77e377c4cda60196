"""Results of runs are keyed by the code that the runs depend on."""

import pytest

from dualgap.samplings import Uniform
from dualgap.steps import Coordinate
from papers import sources


def code():
    return sources.code_of("hinge", "l2", Coordinate(), Uniform())


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """A function that edits a copy of a module, as far as ``sources`` can see."""
    caches = (sources._hash, sources._tree, sources._plain, sources._imports)

    def edit(module, old, new):
        text = original(module).read_text(encoding="utf-8")
        assert old in text
        copy = tmp_path / "copy.py"
        copy.write_text(text.replace(old, new), encoding="utf-8")
        monkeypatch.setattr(sources, "_file", lambda m: copy if m == module else original(m))
        for each in caches:
            each.cache_clear()

    original = sources._file
    yield edit
    for each in caches:
        each.cache_clear()


def test_a_run_depends_on_its_loss_step_and_sampling_alone():
    roots = ("dualgap.losses.hinge", "dualgap.steps.coordinate.coordinate")
    found = sources.modules((*roots, "dualgap.samplings.uniform"))
    assert {*roots, "dualgap.samplings.uniform", "dualgap.proof.certificate"} <= found
    assert "dualgap.losses.logistic" not in found
    assert "dualgap.steps.sets.quartz" not in found


def test_code_changes_the_key_and_comments_do_not(edited):
    before = code()
    edited("dualgap.losses.hinge", '"""Hinge loss."""', '"""Hinge loss, said otherwise."""  # !')
    assert code() == before
    edited("dualgap.losses.hinge", "max(0.0, 1.0 - y * z)", "max(0.0, 2.0 - y * z)")
    assert code() != before


def test_the_code_of_others_does_not_change_the_key(edited):
    before = code()
    edited("dualgap.losses.squared_hinge", "gamma", "gamma_")
    assert code() == before
