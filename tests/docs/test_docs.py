"""What the pages promise without running anything; ``make docs`` runs what they show."""

import re
import runpy
from inspect import ismodule
from pathlib import Path

import pytest

import dualgap as dg
from benchmarks.peers import report, results
from dualgap import datasets, distributed, losses, penalties, samplings, steps, testing

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


def read(path):
    return path.read_text(encoding="utf-8")


def test_the_reference_has_every_public_name():
    pages = "\n".join(read(page) for page in (DOCS / "api").glob("*.md"))
    named = set(re.findall(r"^\.\. auto\w+:: (?:\w+\.)*(\w+)$", pages, re.M))
    modules = (datasets, distributed, losses, penalties, samplings, steps, testing, dg)
    public = {(module, name) for module in modules for name in module.__all__}
    assert {name for module, name in public if not ismodule(getattr(module, name))} <= named
    assert "automodule:: dualgap.plots\n   :members:" in pages


def test_every_method_is_explained():
    table = re.search(
        r"## All methods(.*?)\n## |## All methods(.*)", read(DOCS / "which-method.md"), re.S
    )
    explained = set(re.findall(r"`([\w+-]+)`", table[0]))
    assert set(dg.methods.METHODS) <= explained


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda p: p.name
)
def test_links_lead_somewhere(path):
    made = ("gallery/", "http", "#")  # the gallery is made with the site
    for target in re.findall(r"\]\(([^)\s]+)\)", read(path)):
        if not target.startswith(made):
            assert (path.parent / target.partition("#")[0]).exists(), target


def test_the_gallery_is_short_and_offline():
    assert len(EXAMPLES) >= 8
    for path in EXAMPLES:
        text = read(path)
        assert len(text.splitlines()) <= 60, path.name
        assert "fetch_" not in text
        assert "plt.show()" in text
        assert "print(" in text


def test_an_example_runs(monkeypatch, capsys):
    """One of the cheap ones; ``make docs`` runs all."""
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf()))
    runpy.run_path(str(ROOT / "examples" / "plot_imbalanced_svm.py"))
    assert "no model can do better than" in capsys.readouterr().out
    assert len(shown) == 1
    plt.close("all")


def test_numbers_of_the_readme_are_those_of_the_benchmarks():
    found = results.read(DOCS / "benchmarks.json")
    assert report.short(found) in read(ROOT / "README.md")


@pytest.mark.docs
@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")  # as the page is there to show
def test_the_readme_does_what_it_shows(capsys):
    (program,) = re.findall(r"```python\n(.*?)```", read(ROOT / "README.md"), re.S)
    exec(program, {})
    ours, proven, theirs = capsys.readouterr().out.splitlines()
    assert ours.startswith("objective 0.08589")
    assert 0.9 < float(proven) <= 1.0
    assert theirs.startswith("objective 115")
