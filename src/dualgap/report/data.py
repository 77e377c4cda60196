"""What the page draws, as JSON that is safe inside of HTML."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dualgap.run.recording import Frame, Recording, Spread
from dualgap.run.solution import Solution

_MAX_POINTS = 500  # of a history that are drawn: more cannot be told apart on a screen
_MAX_LISTED = 8  # samples or features in a list of the worst ones
COLUMNS = ("passes", "updates", "seconds", "primal", "dual")  # and the gaps


def drawn(
    runs: Mapping[str, Solution],
    best: str,
    recordings: Mapping[str, Recording],
    targets: Any = None,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """All that the scripts of the page need.

    ``best``: the run to show first, ``targets``: y, ``names``: those of the features.
    """
    return {
        "named": names is not None,
        "first": list(runs).index(best),
        "best": {
            "primal": _number(min(s.certificate.primal for s in runs.values())),
            "dual": _number(max(s.certificate.dual for s in runs.values())),
        },
        "runs": [_run(name, runs[name], recordings.get(name), targets, names) for name in runs],
    }


def _run(
    name: str, solution: Solution, recording: Recording | None, y: Any, names: Any
) -> dict[str, Any]:
    proof = solution.certificate
    history = solution.history
    rows = places(len(history), _MAX_POINTS)
    frames = [Frame.last(solution)] if recording is None else recording.until(solution)
    return {
        "name": name,
        "intercept": proof.constant != 0.0,
        "target": _number(solution.target),
        "history": {
            **{column: _numbers(history[column][rows]) for column in COLUMNS},
            "gap": _numbers(solution.gaps[rows]),
        },
        "frames": [_frame(frame) for frame in frames],
        "ranks": {
            "samples": frames[-1].samples.ranks.tolist(),
            "features": frames[-1].features.ranks.tolist(),
            "probabilities": _ranks_of_probabilities(frames),
        },
        "worst": {
            "samples": _worst(proof.sample_parts, proof.gap, y),
            "features": _worst(proof.feature_parts, proof.gap, None, proof.constant != 0.0, names),
        },
    }


def places(length: int, most: int) -> Any:
    """Rows of a long table: the first, the last, and evenly spaced ones between them."""
    return np.unique(np.linspace(0, max(length - 1, 0), min(length, most)).round().astype(int))


def _frame(frame: Frame) -> dict[str, Any]:
    probabilities = frame.probabilities
    return {
        "passes": _number(frame.passes),
        "gap": _number(frame.gap),
        "samples": _spread(frame.samples),
        "features": _spread(frame.features),
        "probabilities": None if probabilities is None else _spread(probabilities),
    }


def _spread(spread: Spread) -> dict[str, Any]:
    return {
        "size": spread.size,
        "total": _number(spread.total),
        "above": spread.above,
        "holders": spread.holders,
        "values": [_rounded(value) for value in spread.values],
    }


def _ranks_of_probabilities(frames: list[Frame]) -> list[int]:
    known = [frame.probabilities for frame in frames if frame.probabilities is not None]
    return known[-1].ranks.tolist() if known else []


def _worst(
    parts: Any, gap: float, y: Any, intercept: bool = False, names: Any = None
) -> list[dict[str, Any]]:
    """Those that add most to the gap, by index or name; the last one may be the intercept."""
    parts = np.nan_to_num(np.asarray(parts, dtype=np.float64), posinf=np.inf)
    order = np.argsort(-parts, kind="stable")[:_MAX_LISTED]
    return [
        {
            "index": "intercept"
            if intercept and k == len(parts) - 1
            else int(k)
            if names is None
            else str(names[k]),
            "part": _number(parts[k]),
            "share": _number(parts[k] / gap) if 0.0 < gap < math.inf else None,
            "target": None if y is None else _rounded(y[k]),
        }
        for k in order
        if parts[k] > 0.0
    ]


def _numbers(values: Any) -> list[Any]:
    return [_number(value) for value in values]


def _number(value: Any) -> float | None:
    """JSON has no infinity."""
    return float(value) if math.isfinite(value) else None


def _rounded(value: Any) -> float | None:
    """Four digits, which is all that a curve can show."""
    return float(f"{value:.4g}") if math.isfinite(value) else None


def embedded(data: Any) -> str:
    """JSON that can neither end its script element nor begin a comment."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
