"""Logistic regression with strength and share of L1 chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from dualgap.estimators import _checks
from dualgap.estimators._base import DTYPES, STORAGES
from dualgap.estimators._classes import class_weights, refuse_one_class
from dualgap.estimators._docs import COMPATIBLE, FOLD_JOBS, REFIT_CALLBACK, documented
from dualgap.estimators.logistic import LogisticRegression
from dualgap.estimators.selection.logistic_folds import LogisticFolds
from dualgap.estimators.selection.paths import Cs_of, warn_of
from dualgap.linalg.validate import Floats, number


@documented(
    attributes={
        "C_, l1_ratio_": """array with the same number for each class, or a float
    The chosen ones.""",
        "Cs_, l1_ratios_": """array
    What they were chosen from.""",
        "scores_": """dict of arrays of shape (n_folds, n_Cs[, n_l1_ratios]), by class
    Otherwise an array of shape (n_folds, n_l1_ratios, n_Cs).""",
        "coefs_paths_": """dict of arrays of shape (n_folds, n_Cs[, n_l1_ratios], n_features + 1)
    Otherwise an array of shape (n_folds, n_l1_ratios, n_Cs, n_classes, n_features + 1). The
    intercept of a class that a fold lacks is −∞.""",
        "n_iter_": """array of shape (1, n_folds, n_Cs[, n_l1_ratios])
    Rounds on the folds, at least 1; otherwise of shape (n_folds, n_l1_ratios, n_Cs). All
    attributes after it are of the refit; without one only ``coef_`` and ``intercept_`` are.""",
    },
    Cs="""int or array, default 10
    The values of C, or how many, from 1e-4 to 1e4.""",
    l1_ratios="""array, optional
    What to choose ``l1_ratio`` from; by default 0.""",
    penalty=""""l1", "l2" or "elasticnet", optional
    An older way to say that ``l1_ratios`` is (1,), (0,), or what it is.""",
    scoring="""str or callable, optional
    By default the accuracy.""",
    refit="""bool, default True
    Whether to fit to all samples at the end, with a certificate. Otherwise the coefficients at
    the best C of each fold are averaged, and there is none.""",
    use_legacy_attributes="""bool, default True
    Whether attributes have the shapes of scikit-learn up to 1.9, or those of later versions.""",
    intercept_scaling=f"""float, default 1.0
    {COMPATIBLE} The intercept is not penalised.""",
    n_jobs=FOLD_JOBS,
    callback=REFIT_CALLBACK,
)
class LogisticRegressionCV(LogisticFolds, LogisticRegression):
    """Logistic regression, with C and ``l1_ratio`` chosen by cross-validation along paths.

    Minimises Σ_i c_i φ(x_i·w + b; y_i) + λ·(l1_ratio·‖w‖₁ + ½(1 − l1_ratio)·‖w‖²), c_i = s_i/Σs,
    λ = 1/(C Σs), where s are sample weights times class weights and φ is the logistic loss, or the
    softmax loss of all classes.
    """

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = None,
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str = "deprecated",
        scoring: Any = None,
        solver: str = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 10_000,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Any = None,
        use_legacy_attributes: bool = True,
        method: Any = "auto",
        sampling: Any = None,
        callback: Any = None,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.method = method
        self.sampling = sampling
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> LogisticRegressionCV:
        """Choose C and l1_ratio by cross-validation, then fit to all samples, with a certificate.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Used for fitting and for scores.
        **params
            For scorer and splitter, if scikit-learn's metadata routing is on.

        Returns
        -------
        self
        """
        routed = self._routed(params, sample_weight, scored=True)
        X, y = validate_data(self, X, y, accept_sparse=STORAGES, dtype=DTYPES)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        refuse_one_class(self.classes_, self)
        weights = _checks.sample_weights(sample_weight, len(y))
        by_class = class_weights(self.class_weight, self.classes_, codes, weights)
        self._joint = len(self.classes_) > 2
        self.Cs_, ratios = self._strengths(), self._ratios()
        own = (
            weights if by_class is None else by_class[codes] * (1.0 if weights is None else weights)
        )
        scored = routed.scorer.score.get("sample_weight")
        folds = self._split(X, y, routed, fitted=own, scored=scored, classifier=True)
        jobs = [
            (X, y, codes, own, train, test, ratio, routed.scorer.score)
            for train, test in folds
            for ratio in ratios
        ]
        results = self._parallel(self._fold, jobs)
        shape = len(folds), len(ratios), len(self.Cs_)
        *tables, short = zip(*results)
        warn_of([solution for some in short for solution in some], int(np.prod(shape)), 3)
        lines = len(self.classes_) if self._joint else 1
        coefs = np.reshape(tables[0], (*shape, lines, -1))
        scores, rounds = (np.reshape(table, shape) for table in tables[1:])
        if _checks.flag(self.refit, "refit"):
            self._refit(X, y, sample_weight, scores, ratios, by_class)
        else:
            self._average(coefs, scores, ratios)
        self._describe(coefs, scores, rounds, ratios)
        return self

    def _strengths(self) -> Floats:
        """C in the order in which it was given."""
        return Cs_of(self.Cs) if np.ndim(self.Cs) == 0 else np.asarray(self.Cs, dtype=np.float64)

    def _ratios(self) -> Floats:
        known = ("l2", "l1", "elasticnet", "deprecated")
        kind = _checks.choice(self.penalty, "penalty", known)
        if kind in ("l1", "l2"):
            return np.array([float(kind == "l1")])
        if self.l1_ratios is None:
            if kind == "elasticnet":
                raise ValueError('penalty="elasticnet" needs l1_ratios, numbers from 0 to 1')
            return np.zeros(1)
        return np.array([number(r, "l1_ratios", 0.0, 1.0) for r in np.atleast_1d(self.l1_ratios)])

    def _refit(
        self, X: Any, y: Any, sample_weight: Any, scores: Floats, ratios: Floats, by_class: Any
    ) -> None:
        total = scores.sum(axis=0).T  # by C, then by ratio: of equals the first is taken
        at, ratio_at = np.unravel_index(np.argmax(total), total.shape)
        self._chosen = float(self.Cs_[at]), float(ratios[ratio_at])
        shared = self._shared_with(LogisticRegression)
        shared.update(C=self._chosen[0], l1_ratio=self._chosen[1], penalty="deprecated")
        if by_class is not None:
            shared["class_weight"] = dict(zip(self.classes_, by_class))
        model = LogisticRegression(**shared)
        self._fit_to_all(model, X, y, sample_weight)

    def _average(self, coefs: Floats, scores: Floats, ratios: Floats) -> None:
        """The mean of the best models of the folds."""
        by_fold = np.swapaxes(scores, 1, 2)
        flat = by_fold.reshape(len(scores), -1).argmax(axis=1)
        at, ratio_at = np.unravel_index(flat, by_fold.shape[1:])
        mean = coefs[np.arange(len(scores)), ratio_at, at].mean(axis=0)
        self._chosen = float(np.mean(self.Cs_[at])), float(np.mean(ratios[ratio_at]))
        self.coef_, self.intercept_ = self._parts(mean)
        self._forget_proofs()

    def _describe(self, coefs: Any, scores: Any, rounds: Any, ratios: Floats) -> None:
        """Attributes in the shapes of scikit-learn."""
        self.C_: Any
        self.l1_ratio_: Any
        C, ratio = self._chosen
        del self._chosen
        self.l1_ratios_ = np.asarray(ratios)
        if not _checks.flag(self.use_legacy_attributes, "use_legacy_attributes"):
            self.C_, self.l1_ratio_ = C, ratio
            self.coefs_paths_, self.scores_, self.n_iter_ = coefs, scores, rounds
            return
        classes = self.classes_ if self._joint else self.classes_[1:]
        self.C_, self.l1_ratio_ = np.full(len(classes), C), np.full(len(classes), ratio)
        coefs, scores, rounds = (np.swapaxes(part, 1, 2) for part in (coefs, scores, rounds))
        if self.l1_ratios is None:
            coefs, scores, rounds = coefs[:, :, 0], scores[:, :, 0], rounds[:, :, 0]
        self.coefs_paths_ = {label: coefs[..., k, :] for k, label in enumerate(classes)}
        self.scores_ = {label: scores.copy() for label in classes}
        self.n_iter_ = rounds[None]
