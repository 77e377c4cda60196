"""Many values of λ in one run.

Least squares with L1 and L2, on the second moments of the data: ``moments.py`` measures the data
and its folds, ``gram_path.py`` follows λ on a Gram matrix of all features, ``column_path.py`` on
one of the features that matter so far. ``gram_minimum.py`` is what both do at one λ.

Logistic regression with L2, for all folds of a cross-validation at once: ``fold_paths.py`` follows
C, ``fold_steps.py`` makes its Newton steps, ``fold_rows.py`` multiplies with the data of all,
``class_losses.py`` has the losses of many models.
"""
