"""Reports of a fit to scikit-learn's callbacks: of those who have registered some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dualgap.estimators.fits import max_epochs
from dualgap.run.snapshot import Snapshot


class Reports:
    """Reports of one fit to scikit-learn's callbacks: a task for each round of a run.

    With several subproblems there is a task for each, and in it one for each of its rounds.
    """

    def __init__(self, model: Any, X: Any, y: Any, weights: Any, problems: int) -> None:
        metadata = None if weights is None else {"sample_weight": weights}
        self.data = {"X": X, "y": y, "metadata": metadata}
        self.model, self.rounds = model, max_epochs(model.max_iter)
        self.several = problems > 1
        self.heard = bool(getattr(model, "_skl_callbacks", None))
        self.root: Any = None
        awaited = self.heard or hasattr(model, "_parent_callback_ctx")
        if awaited and hasattr(model, "_init_callback_context"):
            # One more than max_iter: the gap check before the first round is reported as well.
            most = problems if self.several else self.rounds + 1
            self.root = model._init_callback_context(
                max_subtasks=most, sequential_subtasks=not self.several
            )
            self.root.call_on_fit_task_begin(estimator=model, **self.data)

    def listener(self, k: int) -> Callable[[Snapshot], bool] | None:
        """The function that run k calls at each gap check; None without callbacks."""
        if not self.heard:
            return None
        context = self.root
        if self.several:
            context = context.subcontext(
                task_name="problem", task_id=k, max_subtasks=self.rounds + 1
            )
            context.call_on_fit_task_begin(estimator=self.model, **self.data)
        left = iter(range(self.rounds + 1))
        return lambda snapshot: next(left, None) is not None and self._report(context, snapshot)

    def _report(self, context: Any, snapshot: Snapshot) -> bool:
        attributes = None if self.several else self.model._as_fitted(snapshot)
        task = context.subcontext(task_name="round")
        task.call_on_fit_task_begin(estimator=self.model, **self.data)
        return bool(
            task.call_on_fit_task_end(
                estimator=self.model, reconstruction_attributes=attributes, **self.data
            )
        )

    def end(self) -> None:
        if self.root is not None:
            self.root.call_on_fit_task_end(
                estimator=self.model, reconstruction_attributes={}, **self.data
            )
