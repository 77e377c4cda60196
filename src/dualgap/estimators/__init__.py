"""Estimators with the names and parameters of scikit-learn."""
