"""The race against other solvers: ``python -m benchmarks.peers --help``."""
