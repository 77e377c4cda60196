"""Estimators with scikit-learn's interface, and proofs for those of scikit-learn."""
