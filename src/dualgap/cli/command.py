"""What all commands share: groups of options, errors and warnings in one line, and exit codes.

0    done, and the proof reaches the target
1    done, but the certified gap is above the target
2    something is wrong with the input: an option, a file, the data
3    a bug in dualgap
130  stopped by Ctrl-C
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, NoReturn, get_type_hints

import typer
from rich.console import Console
from rich.markup import escape

UNPROVEN, BAD_INPUT, FAULT, INTERRUPTED = 1, 2, 3, 130

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def careful(function: Callable[..., None]) -> Callable[..., None]:
    """The command of a function: with one-line errors, and with an option --debug.

    A parameter whose type is a dataclass stands for a group of options, one for each field.
    """
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            parameters += _options_of(hints[name])
        else:
            parameters.append(_option(name, hints[name], parameter.default))
    parameters.append(_option("debug", Debug, False))

    @functools.wraps(function)
    def run(**given: Any) -> None:
        with reported(given.pop("debug")):
            for name, group in groups.items():
                given[name] = group(**{f.name: given.pop(f.name) for f in fields(group)})
            function(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        _option(
            f.name, hints[f.name], inspect.Parameter.empty if f.default is MISSING else f.default
        )
        for f in fields(group)
    ]


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


@contextmanager
def reported(debug: bool) -> Iterator[None]:
    """Within, an error ends the program with a line and an exit code; a warning is a line."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _show_warning
        try:
            yield
        except KeyboardInterrupt:
            say("Stopped.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # The reader of our output has closed it, so nothing may be flushed at exit either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None
        except (ValueError, OSError, MemoryError, ModuleNotFoundError) as error:
            _fail(_words(error), BAD_INPUT, debug)
        except Exception as error:
            if type(error).__module__.startswith(("typer", "click")):
                raise
            name = type(error).__name__
            _fail(f"a bug in dualgap: {name}: {error} (--debug shows where)", FAULT, debug)


def say(message: str) -> None:
    """Print a line for people on standard error; standard output is for results."""
    Console(stderr=True).print(message, soft_wrap=True, highlight=False, markup=False)


def _fail(message: str, code: int, debug: bool) -> NoReturn:
    if debug:
        traceback.print_exc()
    line = escape(" ".join(message.split()))
    Console(stderr=True).print(f"[red]error:[/] {line}", soft_wrap=True, highlight=False)
    raise typer.Exit(code) from None


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fspath(error.filename)!s}: {error.strerror}"
    if isinstance(error, ModuleNotFoundError) and error.name == "matplotlib":
        return "plots need matplotlib: pip install 'dualgap[plot]'"
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({error})" if str(error) else "out of memory"
    return str(error)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    line = escape(" ".join(str(message).split()))
    Console(stderr=True).print(f"[yellow]warning:[/] {line}", soft_wrap=True, highlight=False)
