"""Newton models on working sets of features, for penalties that keep most of them at zero."""

from dualgap.steps.working_set.working_set import WorkingSet

__all__ = ["WorkingSet"]
