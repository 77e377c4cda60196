"""Logistic regression with strength and share of L1 chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import _routing_enabled, process_routing
from sklearn.utils.multiclass import check_classification_targets

from dualgap.estimators.base import choice, flag
from dualgap.estimators.classifier import class_weights, refuse_one_class
from dualgap.estimators.docstrings import COMPATIBLE, documented
from dualgap.estimators.fits import max_epochs
from dualgap.estimators.logistic import LogisticRegression
from dualgap.estimators.offsets import checked_offset
from dualgap.estimators.penalties import by_ratio
from dualgap.estimators.selection.class_scores import fold_scorer, shifted
from dualgap.estimators.selection.folds import (
    FOLD_JOBS,
    REFIT_CALLBACK,
    Choice,
    CrossValidated,
    follow,
)
from dualgap.estimators.selection.grids import Cs_of, ratios_of
from dualgap.estimators.selection.logistic_folds import KnownPoint, LogisticFolds, rows_of_one_class
from dualgap.estimators.selection.paths import with_intercept
from dualgap.estimators.validated import finite_data
from dualgap.linalg.validate import Floats
from dualgap.problem import Problem
from dualgap.run.solution import Solution


@documented(
    "Cs l1_ratios fit_intercept cv dual penalty scoring solver tol max_iter class_weight n_jobs "
    "verbose refit intercept_scaling random_state use_legacy_attributes",
    attributes={
        "C_, l1_ratio_": """array with the same number for each class, or a float
    The chosen values.""",
        "Cs_, l1_ratios_": """array
    The candidates.""",
        "scores_": """dict of arrays of shape (n_folds, n_Cs[, n_l1_ratios]), by class
    Otherwise an array of shape (n_folds, n_l1_ratios, n_Cs).""",
        "coefs_paths_": """dict of arrays of shape (n_folds, n_Cs[, n_l1_ratios], n_features + 1)
    Otherwise an array of shape (n_folds, n_l1_ratios, n_Cs, n_classes, n_features + 1). The
    intercept of a class that a fold lacks is −∞.""",
        "n_iter_": """array of shape (1, n_folds, n_Cs[, n_l1_ratios])
    Rounds on the folds, at least 1; otherwise of shape (n_folds, n_l1_ratios, n_Cs). All
    attributes after it are those of the refit; without a refit there are only ``coef_`` and
    ``intercept_``.""",
    },
    Cs="""int or array, default 10
    The values of C, or how many, from 1e-4 to 1e4.""",
    l1_ratios="""array, optional
    The candidates for ``l1_ratio``; by default 0.""",
    penalty=""""l1", "l2" or "elasticnet", optional
    scikit-learn's older way to say that ``l1_ratios`` is (1,), (0,), or as given.""",
    scoring="""str or callable, optional
    By default the accuracy.""",
    refit="""bool, default True
    Whether to fit to all samples at the end, with a certificate. Otherwise the coefficients at
    the best C of each fold are averaged, and there is no certificate.""",
    use_legacy_attributes="""bool, default True
    Whether attributes have the shapes of scikit-learn up to 1.9, or those of later versions.""",
    intercept_scaling=f"""float, default 1.0
    {COMPATIBLE} The intercept is not penalised.""",
    n_jobs=FOLD_JOBS,
    callback=REFIT_CALLBACK,
)
@dataclass(eq=False, repr=False, kw_only=True)
class LogisticRegressionCV(CrossValidated, LogisticRegression):
    """Logistic regression, with C and ``l1_ratio`` chosen by cross-validation along paths.

    Minimises Σ_i c_i φ(x_i·w + b; y_i) + λ·(l1_ratio·‖w‖₁ + ½(1 − l1_ratio)·‖w‖²), c_i = s_i/Σs,
    λ = 1/(C Σs), where s are sample weights times class weights and φ is the logistic loss, or the
    softmax loss of all classes.
    """

    Cs: Any = 10
    l1_ratios: Any = None
    penalty: str | None = field(default="deprecated", kw_only=True)
    scoring: Any = None
    refit: bool = True
    intercept_scaling: float = 1.0
    use_legacy_attributes: bool = True
    C: float = field(init=False)
    l1_ratio: float | None = field(init=False)
    multi_class: str = field(default="auto", init=False)
    positive: bool = field(default=False, init=False)

    _refitted = LogisticRegression
    _scorer_callers = ("score", "fit")

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = finite_data(self, X, y)
        check_classification_targets(y)
        return X, y

    def _checked_offset(self, offset: Any, y: Any) -> Any:
        classes = len(np.unique(y))
        return checked_offset(offset, len(y), classes if classes > 2 else 1)

    def _choose(
        self, X: Any, y: Any, weights: Floats | None, offset: Floats | None, routed: Bunch
    ) -> Choice:
        self.classes_, codes = np.unique(y, return_inverse=True)
        refuse_one_class(self.classes_, self)
        by_class = class_weights(self.class_weight, self.classes_, codes, weights)
        self._joint = len(self.classes_) > 2
        self.Cs_, ratios = Cs_of(self.Cs), self._ratios()
        own = (
            weights if by_class is None else by_class[codes] * (1.0 if weights is None else weights)
        )
        scored = routed.scorer.score.get("sample_weight")
        folds = self._split(X, y, routed, fitted=own, scored=scored, classifier=True)
        together = self._together(X, codes, own) if offset is None else None
        known: list[list[dict[int, KnownPoint]]] = [
            together.points(folds, self.Cs_) if together and ratio == 0.0 else [{} for _ in folds]
            for ratio in ratios
        ]
        jobs = [
            (X, y, codes, own, offset, train, test, ratio, routed.scorer.score, points[k])
            for k, (train, test) in enumerate(folds)
            for ratio, points in zip(ratios, known)
        ]
        results, unsolved = self._on_folds(self._fold, jobs)
        shape = len(folds), len(ratios), len(self.Cs_)
        tables = list(zip(*results))
        rows = len(self.classes_) if self._joint else 1
        coefs = np.reshape(tables[0], (*shape, rows, -1))
        scores, rounds = (np.reshape(table, shape) for table in tables[1:])
        if flag(self.refit, "refit"):
            chosen = self._best(scores, ratios)
            changed: dict[str, Any] = {
                "C": chosen[0],
                "l1_ratio": chosen[1],
                "penalty": "deprecated",
            }
            if by_class is not None:
                changed["class_weight"] = dict(zip(self.classes_, by_class))
            refit: dict[str, Any] | None = changed
            attributes: dict[str, Any] = {}
            start = together.refit(chosen[0]) if together and chosen[1] == 0.0 else None
        else:
            refit = start = None
            chosen, mean = self._average(coefs, scores, ratios)
            attributes = dict(zip(("coef_", "intercept_"), self._without_intercept(mean)))
        attributes |= self._tables(coefs, scores, rounds, ratios, *chosen)
        return Choice(refit, attributes, unsolved, int(np.prod(shape)), start, "newton-paths")

    def _together(self, X: Any, codes: Any, weights: Any) -> LogisticFolds | None:
        """What solves points of all folds in one run; None if the user wants other methods."""
        if self.method != "auto" or self.sampling is not None or self.max_iter == 0:
            return None
        if not self._treats_columns_alike:
            return None
        intercept = flag(self.fit_intercept, "fit_intercept")
        tol, most = self._tol_of_folds, max_epochs(self.max_iter)
        return LogisticFolds(X, codes, len(self.classes_), weights, intercept, tol, most)

    def _scores_use_weights(self) -> bool:
        return True

    def _ratios(self) -> Floats:
        known = ("l2", "l1", "elasticnet", "deprecated")
        kind = choice(self.penalty, "penalty", known)
        if kind in ("l1", "l2"):
            return np.array([float(kind == "l1")])
        if self.l1_ratios is None:
            if kind == "elasticnet":
                raise ValueError('penalty="elasticnet" needs l1_ratios, numbers from 0 to 1')
            return np.zeros(1)
        return ratios_of(self.l1_ratios, "l1_ratios")

    def _best(self, scores: Floats, ratios: Floats) -> tuple[float, float]:
        """C and l1_ratio with the best mean score; the first of equals, by C, then by ratio."""
        total = scores.sum(axis=0).T
        at, ratio_at = np.unravel_index(np.argmax(total), total.shape)
        return float(self.Cs_[at]), float(ratios[ratio_at])

    def _average(
        self, coefs: Floats, scores: Floats, ratios: Floats
    ) -> tuple[tuple[float, float], Floats]:
        """Means over the folds of the best C, the best l1_ratio and the best model."""
        by_fold = np.swapaxes(scores, 1, 2)
        flat = by_fold.reshape(len(scores), -1).argmax(axis=1)
        at, ratio_at = np.unravel_index(flat, by_fold.shape[1:])
        mean = coefs[np.arange(len(scores)), ratio_at, at].mean(axis=0)
        return (float(np.mean(self.Cs_[at])), float(np.mean(ratios[ratio_at]))), mean

    def _tables(
        self, coefs: Any, scores: Any, rounds: Any, ratios: Floats, C: float, ratio: float
    ) -> dict[str, Any]:
        """Attributes in the shapes of scikit-learn."""
        found: dict[str, Any] = {"l1_ratios_": np.asarray(ratios), "C_": C, "l1_ratio_": ratio}
        found |= {"coefs_paths_": coefs, "scores_": scores, "n_iter_": rounds}
        if not flag(self.use_legacy_attributes, "use_legacy_attributes"):
            return found
        classes = self.classes_ if self._joint else self.classes_[1:]
        coefs, scores, rounds = (np.swapaxes(table, 1, 2) for table in (coefs, scores, rounds))
        if self.l1_ratios is None:
            coefs, scores, rounds = coefs[:, :, 0], scores[:, :, 0], rounds[:, :, 0]
        return found | {
            "C_": np.full(len(classes), C),
            "l1_ratio_": np.full(len(classes), ratio),
            "coefs_paths_": {label: coefs[..., k, :] for k, label in enumerate(classes)},
            "scores_": {label: scores.copy() for label in classes},
            "n_iter_": rounds[None],
        }

    def _fold(
        self,
        X: Any,
        y: Any,
        codes: Any,
        weights: Any,
        offset: Any,
        train: Any,
        test: Any,
        ratio: float,
        score_params: dict[str, Any],
        known: dict[int, KnownPoint],
        options: dict[str, Any],
    ) -> tuple[list[Any], list[Solution]]:
        """Coefficients, scores and rounds of a fold at each C; solutions that missed ``tol``.

        ``known`` are points that need no run of their own.
        """
        plain = self.scoring is None
        data = X, y, codes, offset, test
        score = fold_scorer(self._scorer(), plain, self.classes_, data, score_params)
        # scikit-learn expects at least one round, also if the warm start is good enough.
        found: list[Any] = [None] * len(self.Cs_)
        for at, point in known.items():
            worth = score(*self._without_intercept(point.rows), point.values)
            found[at] = point.rows, worth, max(point.steps, 1)
        if len(known) == len(found):
            return list(zip(*found)), []
        train = np.arange(len(y))[train]
        own = np.ones(len(train)) if weights is None else weights[train]
        # A class that the fold lacks: with an intercept, its own is −∞ at the optimum and the other
        # classes are not affected; without one, a sample of weight 0 brings the class in.
        intercept = flag(self.fit_intercept, "fit_intercept")
        present, missing = np.unique(codes[train]), np.setdiff1d(codes, codes[train])
        if intercept and len(present) == 1:
            rows = rows_of_one_class(present[0], len(self.classes_), X.shape[1])
            worth = score(*self._without_intercept(rows), None)
            return list(zip(*[(rows, worth, 1)] * len(found))), []
        rows = train
        if len(missing) and not intercept:
            extra = [int(np.flatnonzero(codes == code)[0]) for code in missing]
            rows, own = np.append(train, extra), np.append(own, np.zeros(len(extra)))
            present = np.append(present, missing)
        labels = codes[rows] if self._joint else 2.0 * codes[rows] - 1.0
        if offset is not None:
            offset = offset[rows][:, present] if self._joint else offset[rows]
        penalty = self._on_columns(by_ratio(ratio), X.shape[1])
        problem = Problem(
            X[rows], labels, "softmax" if self._joint else "logistic", penalty, 1.0, own,
            intercept, offset=offset,
        )  # fmt: skip
        increasing = np.argsort(self.Cs_, kind="stable")
        left = [at for at in increasing if at not in known]

        def keep(k: int, solution: Solution) -> None:
            rows = np.atleast_2d(with_intercept(solution, intercept))
            if len(missing) and intercept:
                some, rows = rows, np.zeros((len(self.classes_), rows.shape[1]))
                rows[missing, -1] = -np.inf
                rows[present] = some
            worth = score(*self._without_intercept(rows), None)
            found[left[k]] = rows, worth, max(len(solution.history) - 1, 1)

        lams = 1.0 / (self.Cs_[left] * own.sum())
        unsolved = follow(problem, lams, options, keep)
        return list(zip(*found)), unsolved

    def _without_intercept(self, rows: Floats) -> tuple[Floats, Floats]:
        """Coefficients and intercepts."""
        if self.fit_intercept:
            return rows[:, :-1], rows[:, -1]
        return rows, np.zeros(len(rows))

    def _scorer(self) -> Any:
        return get_scorer("accuracy" if self.scoring is None else self.scoring)

    def score(  # type: ignore[override]
        self, X: Any, y: Any, *, offset: Any = None, **params: Any
    ) -> float:
        """The score of predictions by ``scoring``; ``params``, as ``sample_weight``, go to it."""
        if _routing_enabled():
            params = process_routing(self, "score", **params).scorer["score"]
        model = self if offset is None else shifted(self, offset)
        return float(self._scorer()(model, X, y, **params))
