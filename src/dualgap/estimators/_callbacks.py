"""scikit-learn's callbacks, in versions that have them: a task for each round of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dualgap.run.loop import Snapshot

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in for scikit-learn's."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


def seen(X: Any, y: Any, weights: Any) -> dict[str, Any]:
    """What callbacks are shown of the data."""
    return {"X": X, "y": y, "metadata": None if weights is None else {"sample_weight": weights}}


def hand_on(estimator: Any, to: Any) -> None:
    """Let another estimator, fitted in the place of this one, tell the callbacks of this one."""
    for name in ("_skl_callbacks", "_parent_callback_ctx"):
        if hasattr(estimator, name):
            setattr(to, name, getattr(estimator, name))


class Tasks:
    """The tasks of one fit: its rounds, or several problems with their rounds."""

    def __init__(self, estimator: Any, data: dict[str, Any], problems: int, rounds: int) -> None:
        self.estimator, self.data, self.rounds = estimator, data, rounds
        self.several = problems > 1
        self.heard = bool(getattr(estimator, "_skl_callbacks", None))
        self.root: Any = None
        if hasattr(estimator, "_init_callback_context"):
            # A round more than allowed: the look at the start is one as well.
            most = problems if self.several else rounds + 1
            self.root = estimator._init_callback_context(
                max_subtasks=most, sequential_subtasks=not self.several
            )
            self.root.call_on_fit_task_begin(estimator=estimator, **data)

    def listener(self, number: int) -> Callable[[Snapshot], bool] | None:
        """What a run has to call at each certificate; None when nobody listens."""
        if not self.heard:
            return None
        context = self.root
        if self.several:
            context = context.subcontext(
                task_name="problem", task_id=number, max_subtasks=self.rounds + 1
            )
            context.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        left = iter(range(self.rounds + 1))
        return lambda snapshot: next(left, None) is not None and self._report(context, snapshot)

    def _report(self, context: Any, snapshot: Snapshot) -> bool:
        attributes = None if self.several else self.estimator._as_fitted(snapshot)
        task = context.subcontext(task_name="round")
        task.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        return bool(
            task.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=attributes, **self.data
            )
        )

    def end(self) -> None:
        if self.root is not None:
            self.root.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes={}, **self.data
            )
