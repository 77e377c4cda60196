"""Results in a file: what was measured, when and with what."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
from pathlib import Path
from typing import Any

PACKAGES = (
    "dualgap", "numpy", "scipy", "numba", "scikit-learn", "liblinear-official", "celer", "skglm",
    "cyanure", "snapml", "adelie", "glum", "tabmat",
)  # fmt: skip


def environment() -> dict[str, Any]:
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "versions": {name: _version(name) for name in PACKAGES},
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def nothing() -> dict[str, Any]:
    return {"sessions": {}, "tasks": {}}


def read(path: Path) -> dict[str, Any]:
    """Earlier results, which new ones are entered into."""
    return dict(json.loads(path.read_text())) if path.exists() else nothing()


def write(path: Path, results: dict[str, Any]) -> None:
    """As a whole or not at all, so that an interruption loses one task at most; a line a task."""
    tasks = ",\n".join(f"{_json(name)}: {_json(task)}" for name, task in results["tasks"].items())
    text = f'{{"sessions": {_json(results["sessions"])},\n"tasks": {{\n{tasks}\n}}}}\n'
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(text)
    temporary.replace(path)


def by_processor(results: dict[str, Any]) -> dict[str, Any]:
    """The same with the processor's seconds in place of the clock's, for a machine that is busy.

    Solvers with two threads come off worse than they are.
    """
    for task in results["tasks"].values():
        for solver in task["solvers"].values():
            for run in solver["runs"]:
                run["seconds"] = run.get("processor", run["seconds"])
    return results


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
