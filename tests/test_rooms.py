"""The house rules of CONTRIBUTING.md that a machine can check."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import dualgap as dg

PACKAGE = Path(dg.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
ROOT = PACKAGE.parents[1]


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def test_at_most_twenty_rooms_and_public_modules():
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name[0] != "_"}
    modules = {path.name for path in PACKAGE.glob("[!_]*.py")}
    assert len(rooms | modules) <= 20


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_has_one_idea(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    assert ast.get_docstring(ast.parse(text)), "the docstring says what the idea is"


def test_a_class_name_means_one_thing():
    """But each solver has its ``Tuning``, and some penalties give their names to estimators."""
    shared = ("Tuning", "ElasticNet", "GroupLasso", "SparseGroupLasso")
    places = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name not in shared:
                places[node.name].append(name_of(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_the_architecture_page_names_every_room_and_is_short():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name[0] != "_"]
    assert [room for room in rooms if f"`{room}/`" not in page] == []
    assert len(page.splitlines()) <= 120


def test_pages_name_files_that_exist():
    """Of the package, in the pages that lead through it."""
    rooms = {p.name for p in PACKAGE.iterdir() if p.is_dir()}
    for page in [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for word in page.read_text(encoding="utf-8").replace("`", " ").split():
            word = word.strip("()[],.;:*").removeprefix("src/dualgap/")  # noqa: PLW2901
            if word.endswith(".py") and word.split("/")[0] in rooms and "/" in word:
                assert (PACKAGE / word).exists() or (ROOT / word).exists(), f"{page.name}: {word}"
