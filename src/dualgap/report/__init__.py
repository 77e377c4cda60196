"""A page about one or more runs: one HTML file that needs no network."""

from dualgap.report.page import write

__all__ = ["write"]
