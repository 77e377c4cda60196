"""What estimators say about the features that they read: names, and data in their encoding."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dualgap.estimators.validated import new_data


class ReadsData:
    """A mixin for models that read arrays, sparse matrices and dataframes."""

    @property
    def coef_names_(self) -> Any:
        """The name of each coefficient: a column of X, or "column=level" of a categorical one."""
        check_is_fitted(self)
        own = vars(self)
        if "_encoding" in own:
            return np.array(own["_encoding"].names, dtype=object)
        if "feature_names_in_" in own:
            return own["feature_names_in_"]
        return np.array([f"x{j}" for j in range(own["n_features_in_"])], dtype=object)

    def encoded(self, X: Any) -> Any:
        """X as the model reads it, with a feature for each of ``coef_names_``.

        Parameters
        ----------
        X : dataframe, array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array, or a CSR array if columns are categories
            For ``Problem``, ``certify``, or other libraries.
        """
        return self._read(X)

    def _read(self, X: Any) -> Any:
        return new_data(self, X)
