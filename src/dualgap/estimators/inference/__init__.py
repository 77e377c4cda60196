"""Standard errors, tests and intervals of coefficients, for models whose loss is a likelihood.

``information.py`` sums curvatures and products of slopes over the samples, ``covariance.py`` makes
a covariance of them, and ``summary.py`` is the table that users see.
"""
