"""λ as users write it: 0.01, 1/n or 0.1*max, where max is the smallest λ with no coefficients."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from dualgap.problem import Problem
from dualgap.run.path import lambda_max

_OPERATIONS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_MAX_LENGTH = 100  # characters: no sensible expression is longer, and deep ones exhaust the stack


def parse_lam(expression: str, problem: Problem) -> float:
    """The value of an expression for a problem; the λ of the problem itself is not used."""
    names = {"n": lambda: float(problem.n), "max": lambda: _lambda_max(problem)}
    wrong = f"--lam must be a number, or made of n and max as in 1/n or 0.1*max, not {expression!r}"
    if len(expression) > _MAX_LENGTH:
        raise ValueError(wrong)
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise ValueError(wrong) from None

    def value(node: Any) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            if isinstance(node.value, bool):
                raise ValueError(wrong)
            return float(node.value)
        if isinstance(node, ast.Name) and node.id in names:
            return names[node.id]()
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            return _OPERATIONS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        raise ValueError(wrong)

    try:
        found: Any = value(tree)
    except ArithmeticError:
        raise ValueError(wrong) from None
    if isinstance(found, complex) or not 0.0 < found < float("inf"):
        raise ValueError(f"--lam {expression} is {found}, where λ must be positive")
    return float(found)


def _lambda_max(problem: Problem) -> float:
    try:
        return lambda_max(problem)
    except ValueError as error:
        why = str(error).removesuffix(": choose the grid yourself")
        raise ValueError(f"max in --lam: {why}; give a number, or 1/n") from None
