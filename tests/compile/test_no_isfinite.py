"""Kernels may reorder sums, and Numba then takes ``isfinite`` for true: they compare instead."""

import ast

from dualgap.compile.sources import source_files

DECORATORS = {"kernel", "ordered_kernel", "inner", "helper", "careful", "ordered"}


def compiled_functions():
    for path in source_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                names = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
                if names & DECORATORS:
                    yield path, node


def test_no_kernel_calls_isfinite_or_its_like():
    found = [
        f"{path.name}: {function.name}"
        for path, function in compiled_functions()
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and node.attr in ("isfinite", "isnan", "isinf")
    ]
    assert len(list(compiled_functions())) > 100
    assert found == []
