"""What all commands share: errors in one line, warnings in one line, and exit codes.

0    done; what was to be proven is proven
1    done, but the certified gap is above the target
2    something is wrong with what was given: an option, a file, the data
3    a fault of dualgap itself
130  Ctrl-C
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
from typing import Annotated, Any, NoReturn, get_type_hints

import typer
from rich.console import Console
from rich.markup import escape

UNPROVEN, BAD_INPUT, FAULT, INTERRUPTED = 1, 2, 3, 130

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def careful(function: Callable[..., None]) -> Callable[..., None]:
    """The same command with an option --debug, without which errors are one line each."""

    @functools.wraps(function)
    def run(**given: Any) -> None:
        with reported(given.pop("debug")):
            function(**given)

    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    own = inspect.signature(function).parameters.values()
    parameters = [p.replace(annotation=hints[p.name]) for p in own]
    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False)
    parameters.append(debug.replace(annotation=Debug))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {**hints, "debug": Debug}
    return run


@contextmanager
def reported(debug: bool) -> Iterator[None]:
    """Within, errors end the program with a line and an exit code; warnings are a line each."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = _show_warning
        try:
            yield
        except KeyboardInterrupt:
            say("Stopped.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read our output has seen enough; nothing must be written at the end either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit from None
        except (ValueError, OSError, MemoryError, ModuleNotFoundError) as error:
            _fail(_words(error), BAD_INPUT, debug)
        except Exception as error:
            if type(error).__module__.startswith(("typer", "click")):
                raise
            name = type(error).__name__
            _fail(f"a fault of dualgap: {name}: {error} (--debug shows where)", FAULT, debug)


def say(message: str) -> None:
    """A line for people; standard output is for results."""
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
