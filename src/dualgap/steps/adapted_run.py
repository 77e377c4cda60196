"""Runs written for dualgap 0.1, which had no base class for them."""

from __future__ import annotations

import warnings
from typing import Any

from dualgap.proof.certificate import Certificate, Pair
from dualgap.samplings.scores import Scores
from dualgap.steps.base import NAMES_IN_0_1, Run

_REQUIRED = ("size", "entries", "pair", "scores", "advance", "adapt", "refresh")
_OPTIONAL_METHODS = ("adaptive_steps", "release_memory", "state", "restore", "close")
_NUMBERS = ("full_pass", "needs_sample_gaps", "starts_at_zero", "rounds", "repeated_seconds")


class AdaptedRun(Run):
    """A run that does not derive from ``Run``, or has names of 0.1, under today's names."""

    def __init__(self, run: Any) -> None:
        kind = type(run).__name__
        missing = [name for name in _REQUIRED if not hasattr(run, name)]
        if missing:
            raise TypeError(
                f"a step must start a run, and {kind} lacks {', '.join(missing)}: "
                "derive it from dualgap.extend.Run"
            )
        renamed = [f"{old} is now {new}" for old, new in NAMES_IN_0_1.items() if hasattr(run, old)]
        advice = "; ".join(renamed) or "derive it from dualgap.extend.Run"
        warnings.warn(
            f"{kind} is a run for dualgap 0.1: {advice}", DeprecationWarning, stacklevel=4
        )
        self._run = run
        self.size, self.entries = run.size, run.entries
        self._names = {**NAMES_IN_0_1, **{name: name for name in (*_OPTIONAL_METHODS, *_NUMBERS)}}
        self._copy(_OPTIONAL_METHODS)
        self._copy(_NUMBERS)

    def _copy(self, names: tuple[str, ...]) -> None:
        for theirs, ours in self._names.items():
            if ours in names and hasattr(self._run, theirs):
                setattr(self, ours, getattr(self._run, theirs))

    def pair(self) -> Pair:
        pair: Pair = self._run.pair()
        return pair

    def scores(self, pair: Pair, certificate: Certificate) -> Scores:
        scores: Scores = self._run.scores(pair, certificate)
        return scores

    def advance(self, order: Any, offsets: Any = None) -> Any:
        result = self._run.advance(order, offsets)
        self._copy(_NUMBERS)  # rounds and repeated seconds grow
        return result

    def adapt(self, pair: Pair, certificate: Certificate) -> bool:
        return bool(self._run.adapt(pair, certificate))

    def refresh(self) -> None:
        self._run.refresh()
