"""The race of estimators, as users call them: ``python -m benchmarks.users --help``."""
