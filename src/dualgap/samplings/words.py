"""Samplings and steps as people write them on a line: ``tau-nice(64)``, ``residue-decay(m=50)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from dualgap.linalg.validate import unknown
from dualgap.samplings.base import Sampling

_CALL = re.compile(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def parts(words: str) -> tuple[str, list[Any], dict[str, Any]]:
    """The name and the parameters of ``name(value, key=value)``.

    Values are numbers, True, False, None, lists of these, or words with or without quotes.
    """
    found = _CALL.fullmatch(words)
    if found is None:
        raise ValueError(f"{words!r} must be a name, or a name with parameters such as name(m=50)")
    name, inside = found.groups()
    if inside is None:
        return name, [], {}
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        assert isinstance(call, ast.Call)
        values = [_value(node) for node in call.args]
        named = {str(word.arg): _value(word.value) for word in call.keywords}
    except (SyntaxError, ValueError, AssertionError):
        raise ValueError(
            f"the parameters in {words!r} must be numbers, words or lists, as in name(m=50)"
        ) from None
    return name, values, named


def _value(node: ast.expr) -> Any:
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


def split_calls(words: str) -> list[str]:
    """Names that have commas between them; commas inside of parentheses are theirs."""
    found = re.split(r",(?![^()]*\))", words)
    return [name.strip() for name in found if name.strip()]


def made(kind: Callable[..., Any], words: str, *values: Any, **named: Any) -> Any:
    """The object; a parameter that it does not have is refused in words."""
    try:
        return kind(*values, **named)
    except TypeError as error:
        said = re.sub(r"^\S*__init__\(\)|^\w+\(\)", "", str(error)).strip()
        raise ValueError(f"{words!r}: it {said}") from None


def as_sampling(given: Any) -> Sampling:
    """A sampling, from an object, a name, or a name with parameters."""
    from dualgap import samplings  # late: this module is one of its own

    if isinstance(given, type):
        raise ValueError(f"sampling must be an object, not a class: write {given.__name__}(...)")
    if isinstance(given, Sampling):
        return given
    example = "such as dualgap.samplings.TauNice(4)"
    if not isinstance(given, str):
        raise ValueError(f"sampling must be an object {example}, or a name, not {given!r}")
    kinds: dict[str, Any] = {
        **samplings.REGISTRY,
        "tau-nice": samplings.TauNice,
        "product": samplings.Product,
        "distributed": samplings.Distributed,
    }
    name, values, named = parts(given)
    if name not in kinds:
        words = unknown("sampling", name, kinds)
        raise ValueError(f"{words}; others have parameters: give an object {example}")
    if not values and not named and name not in samplings.REGISTRY:
        raise ValueError(f"sampling {name!r} needs parameters, as in {_EXAMPLES[name]!r}")
    found: Sampling = made(kinds[name], given, *values, **named)
    return found


_EXAMPLES = {
    "tau-nice": "tau-nice(64)",
    "product": "product(4)",
    "distributed": "distributed(4, 16)",
}
