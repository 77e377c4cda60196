"""The files that no kernel depends on: an edit there costs no compilation, and hides none."""

import ast
import importlib.util
import shutil
from pathlib import Path

import pytest

import dualgap as dg
from dualgap.compile import rules, sources

PACKAGE = Path(dg.__file__).parent
COMPILERS = {
    "numba",
    "llvmlite",
    "dualgap.compile.intrinsics",
    "dualgap.compile.kernels",
    "dualgap.compile.machine",
    "dualgap.compile.prefetch",
    "dualgap.compile.rules",
}
RULES = {
    name for name, rule in vars(rules).items() if getattr(rule, "__module__", "") == rules.__name__
}
APART = sorted(set(PACKAGE.rglob("*.py")) - set(sources.source_files()))


# They define nothing: an edit of them costs a compilation, but they hide none.
HAND_ON = ("__init__.py", "extend.py", "testing/__init__.py")


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def imports(path):
    """The modules that a file imports anywhere, and ``module.name`` for names taken from them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def within(name, modules):
    return any(name == module or name.startswith(module + ".") for module in modules)


def rules_defined(path):
    classes = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ClassDef)]
    return {
        item.name
        for cls in classes
        if any("NamedTuple" in ast.unparse(base) for base in cls.bases)
        for item in cls.body
        if isinstance(item, ast.FunctionDef) and item.name in RULES
    }


def test_the_checks_see_kernels_and_rules():
    assert {"value", "span", "respond"} <= RULES
    assert rules_defined(PACKAGE / "losses" / "hinge.py") >= {"value", "conj", "dual_step"}
    assert any(within(name, COMPILERS) for name in imports(PACKAGE / "proof" / "terms.py"))


@pytest.mark.parametrize("path", APART, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_files_apart_define_neither_kernels_nor_rules(path):
    assert [name for name in imports(path) if within(name, COMPILERS)] == []
    assert rules_defined(path) == set()


def test_kernels_take_nothing_from_files_apart():
    apart = {"dualgap." + name.removesuffix(".py").replace("/", ".") for name in sources.APART}
    kernels = {"dualgap." + name.replace("/", ".") for name in sources.KERNELS}
    for path in sources.source_files():
        if name_of(path) not in HAND_ON:
            taken = [
                name for name in imports(path) if within(name, apart) and not within(name, kernels)
            ]
            assert taken == [], f"{path}: take that file out of compile/sources.APART"


@pytest.mark.parametrize(
    ("file", "same"),
    [
        ("cli/main.py", True),
        ("proof/proof_file.py", True),
        ("datasets/parsing/libsvm.py", False),
        ("proof/terms.py", False),
        ("losses/hinge.py", False),
    ],
)
def test_the_hash_changes_with_what_kernels_depend_on(tmp_path, file, same):
    copy = tmp_path / "dualgap"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    spec = importlib.util.spec_from_file_location(
        "dualgap.compile.sources", copy / "compile" / "sources.py"
    )
    sources = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sources)
    before = sources.source_hash()
    assert before == sources.source_hash()
    (copy / file).write_text((copy / file).read_text() + "\n# edited\n")
    assert (sources.source_hash() == before) is same


def test_modules_and_files_agree():
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE).with_suffix("").parts
        module = ".".join(["dualgap", *inside]).removesuffix(".__init__")
        assert sources.is_source(module) is (path in sources.source_files())
    assert not sources.is_source("dualgapish.losses")
    assert not sources.is_source("mine")
