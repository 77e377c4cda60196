"""What a checkpoint belongs to: the problem, the method and the random state of its run.

Data are known by a digest of their bytes; losses, penalties, steps and samplings by their class and
parameters. What a user's own function does cannot be compared, only its name.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dualgap.files.describe import identity_text, normalised
from dualgap.files.digest import MARK, digest, digest_of_data
from dualgap.methods import Method
from dualgap.problem import Problem

_ANY_SEED = "any"  # random_state=None: a fresh generator
_MAX_SHOWN = 150  # characters of a value that a message shows; longer ones tell people nothing


def identity(problem: Problem, method: Method, random_state: Any) -> dict[str, str]:
    """What must be the same for a run to be resumed."""
    return {
        "X": digest_of_data(problem.X),
        "y": digest(problem.plain_y, *([] if problem.offset is None else [problem.offset])),
        "sample_weight": digest(problem.c),
        "loss": identity_text(problem.given_loss),
        "penalty": identity_text(problem.penalty),
        "lam": repr(problem.lam),
        "intercept": f"{problem.intercept!r} ({problem.constant!r})",
        "the method": identity_text(method.step),
        "the sampling": identity_text(method.sampling),
        "random_state": _seed(random_state),
    }


def differences(stored: dict[str, str], own: dict[str, str]) -> str:
    """What differs, in words; empty if nothing does."""
    words = []
    for name, now in own.items():
        before = normalised(stored.get(name, "missing"))
        if before == now or (name == "random_state" and _ANY_SEED in (before, now)):
            continue
        shown = max(len(before), len(now)) <= _MAX_SHOWN and MARK not in now
        words.append(f"{name} was {before} and is {now}" if shown else f"{name} was different")
    return "; ".join(words)


def _seed(random_state: Any) -> str:
    """The state of the generator before the run draws from it."""
    if random_state is None:
        return _ANY_SEED
    state = np.random.default_rng(random_state).bit_generator.state
    return digest(np.frombuffer(json.dumps(native(state), sort_keys=True).encode(), np.uint8))


def native(state: Any) -> Any:
    """The state of a generator in Python's own types, which JSON keeps as they are."""
    if isinstance(state, dict):
        return {key: native(value) for key, value in state.items()}
    if isinstance(state, np.ndarray):
        return state.tolist()
    return state.item() if isinstance(state, np.generic) else state
