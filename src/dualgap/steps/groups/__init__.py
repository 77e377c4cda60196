"""Newton models on working sets of groups, for penalties on groups of features."""

from dualgap.steps.groups.groups import Groups

__all__ = ["Groups"]
