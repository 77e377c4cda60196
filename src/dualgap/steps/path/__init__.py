"""Least squares with L1 and L2 at many λ: one run on the second moments of the data.

``moments.py`` measures the data and its folds, ``gram_path.py`` follows λ on a Gram matrix of all
features, ``column_path.py`` on one of the features that matter so far. ``gram_minimum.py`` is what
both do at one λ.
"""
