"""What a fitted model shows with the data it was fitted to: proof files and standard errors."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from dualgap.proof.proof_file import proven_fits, write_proof


class Evidence:
    """Methods that need the training data, which a fitted model keeps a reference to."""

    _problem: Any
    _forget_proofs: Any
    dual_gap_: Any

    def without_proof(self) -> Any:
        """Forget the proof, all but ``dual_gap_``: the model is then small to store.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        gap = self.dual_gap_
        self._forget_proofs()
        self.dual_gap_ = gap
        return self

    def save_proof(self, path: Any) -> Any:
        """Write a proof file that ``dgcheck DATA PROOF`` checks without this library.

        Parameters
        ----------
        path : str or path
            For example "model.dgp".

        Returns
        -------
        Path
            Where it was written. The file has a problem for each of the model's.
        """
        X, y, subproblems, fits = self._training("save_proof")
        problems = (self._problem(X, subproblem) for subproblem in subproblems)
        return write_proof(path, X, y, proven_fits(y, list(zip(problems, fits))))

    def summary(
        self, covariance: str = "model", confidence: float = 0.95, groups: Any = None
    ) -> Any:
        """Coefficients with standard errors, tests and Wald intervals.

        For models whose loss is a likelihood, without a penalty or with L2, and for smooth losses
        with a robust covariance. What L1 or bounds have chosen has no such intervals: refused.

        Parameters
        ----------
        covariance : "model", "HC0", "HC1", "HC2", "HC3" or "cluster", default "model"
            Of the model, or robust against a wrong variance: White's, with a factor for degrees of
            freedom, with leverages (least squares only), or by clusters of samples.
        confidence : float, default 0.95
            Level of the intervals.
        groups : array of shape (n_samples,), optional
            The cluster of each sample.

        Returns
        -------
        CoefficientTable
            A list of them if classes or targets are separate problems.
        """
        from dualgap.estimators.inference.of_model import summarise  # late: few fits need it

        return summarise(self, self._training("summary"), covariance, confidence, groups)

    def _training(self, asker: str) -> Any:
        """What the last fit was made of."""
        check_is_fitted(self)
        if "_trained" not in self.__dict__:
            raise ValueError(
                f"{asker} needs the training data, which copies and pickles of a model do not "
                "keep: call it on the model that was fitted"
            )
        return self._trained
