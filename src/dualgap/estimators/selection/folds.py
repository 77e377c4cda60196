"""Cross-validation of estimators: paths on folds, the choice, the refit.

``CrossValidated.fit`` is the one routine. An estimator says in ``_choose`` what it chooses from and
how it scores; ``_on_folds`` runs its paths in threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.parallel import Parallel, delayed

from dualgap.estimators.fits import first_use, max_epochs, seeds
from dualgap.estimators.selection.path_solutions import solutions_at
from dualgap.estimators.selection.paths import warn_of_unsolved
from dualgap.estimators.validated import check_settings, sample_weights
from dualgap.linalg.validate import LARGEST, Floats, number
from dualgap.problem import Problem
from dualgap.run.solution import Solution

FOLD_JOBS = """int, optional
    How many folds are fitted at the same time, in threads; None is 1."""
REFIT_CALLBACK = """callable, optional
    Called with a ``Snapshot`` at each gap check of the refit, not on folds; a true result stops
    it. scikit-learn's callbacks see the refit as well."""

# The least ``tol`` of points on folds. No score shows a finer one, and below rounding each point
# would run until nothing changes any more.
FINEST = 1e-12
# Attributes of the refitted estimator that are not those of the one with cross-validation.
_OF_REFIT = ("n_features_in_", "feature_names_in_", "_starts_solved", "_solved_by")


class Choice(NamedTuple):
    """What cross-validation has found.

    ``refit`` are the parameters that replace those of the estimator in the refit, None for no
    refit; ``attributes`` are set after it. ``unsolved`` of ``points`` solutions missed ``tol``.
    ``start`` are the coefficients and the intercept that the refit starts from, if there are any,
    and ``start_by`` is what has found them.
    """

    refit: dict[str, Any] | None
    attributes: dict[str, Any]
    unsolved: list[Solution]
    points: int
    start: tuple[Any, Any] | None = None
    start_by: str = "closed form"


@dataclass(eq=False, repr=False, kw_only=True)
class CrossValidated:
    """A mixin for estimators that choose parameters by cross-validation."""

    cv: Any = None
    warm_start: bool = field(default=False, init=False)

    _facts_of_columns: ClassVar[Any]
    _refitted: ClassVar[type]  # the estimator without cross-validation
    _scorer_callers: ClassVar[tuple[str, ...]] = ()  # methods that hand metadata to the scorer

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, **params: Any
    ) -> Any:
        """Choose parameters by cross-validation, then fit to all samples, with a certificate.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), for RidgeCV also (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            Used for fitting and for scores, unless ``scoring`` cannot use them.
        offset : array, optional
            Added to the decision values, as in the estimator without cross-validation; scores are
            those of predictions with it.
        **params
            For splitter and scorer, if scikit-learn's metadata routing is on.

        Returns
        -------
        self
        """
        check_settings(self)
        routed = self._routed(params, sample_weight)
        X, y = self._validated(X, y)
        weights = sample_weights(sample_weight, len(y))
        with first_use(self):
            offset = None if offset is None else self._checked_offset(offset, y)
            choice = self._choose(X, y, weights, offset, routed)
            warn_of_unsolved(choice.unsolved, choice.points, stacklevel=3)
            if choice.refit is None:
                self._forget_proofs()
            else:
                self._refit(choice, X, y, weights, offset)
        for name, value in choice.attributes.items():
            setattr(self, name, value)
        return self

    # --- what a subclass says ------------------------------------------------------------------

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def _checked_offset(self, offset: Any, y: Any) -> Floats:
        raise NotImplementedError

    def _choose(
        self, X: Any, y: Any, weights: Floats | None, offset: Floats | None, routed: Bunch
    ) -> Choice:
        raise NotImplementedError

    def _scores_use_weights(self) -> bool:
        """Whether ``sample_weight`` goes to the scorer without metadata routing."""
        return False

    def _scorer(self) -> Any:
        """For metadata routing, if there are ``_scorer_callers``."""
        raise NotImplementedError

    # --- folds ---------------------------------------------------------------------------------

    def _split(
        self,
        X: Any,
        y: Any,
        routed: Bunch,
        *,
        fitted: Any,
        scored: Any = None,
        classifier: bool = False,
    ) -> list[Any]:
        """Pairs of training and test indices.

        ``fitted`` and ``scored`` are the weights of fits and scores, which must not all be zero.
        """
        folds = list(
            check_cv(self.cv, y, classifier=classifier).split(X, y, **routed.splitter.split)
        )
        if not folds:
            raise ValueError("cv makes no folds: give a number of folds, a splitter or pairs")
        for k, (train, test) in enumerate(folds):
            for weights, places, use in ((fitted, train, "fitted to"), (scored, test, "scored on")):
                if weights is not None and not np.any(np.asarray(weights)[places]):
                    raise ValueError(
                        "sample_weight (times class_weight) is zero for every sample that fold "
                        f"{k} is {use}: leave samples without weight out, or give folds that all "
                        "have some, such as cv=KFold(shuffle=True)"
                    )
        return folds

    @property
    def _tol_of_folds(self) -> float:
        return max(number(self.tol, "tol", 0.0, LARGEST), FINEST)

    def _on_folds(
        self, run: Callable[..., Any], jobs: list[tuple[Any, ...]]
    ) -> tuple[list[Any], list[Solution]]:
        """``run(*job, options)`` for each job, which returns a result and unsolved solutions.

        In threads: kernels release the interpreter's lock, and X is not copied. ``options`` are for
        ``follow``.
        """
        shared = {
            "method": self.method,
            "sampling": self.sampling,
            "tol": self._tol_of_folds,
            "max_epochs": max_epochs(self.max_iter),
        }
        options = [{**shared, "random_state": seed} for seed in seeds(self.random_state, len(jobs))]
        threads = Parallel(n_jobs=self.n_jobs, verbose=self.verbose, prefer="threads")
        found = threads(delayed(run)(*job, own) for job, own in zip(jobs, options))
        results, unsolved = zip(*found)
        return list(results), [solution for some in unsolved for solution in some]

    # --- the refit -----------------------------------------------------------------------------

    def _refit(
        self, choice: Choice, X: Any, y: Any, weights: Floats | None, offset: Floats | None
    ) -> None:
        """Fit the estimator without cross-validation, and take over its learnt attributes."""
        # X has lost the names of its columns.
        own = dict(zip(("penalty_weight", "bounds"), self._facts_of_columns(X.shape[1])))
        model = self._model_of({**own, **(choice.refit or {})})
        managed = False
        for name in ("_skl_callbacks", "_parent_callback_ctx"):  # it reports to our callbacks
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
                managed = True
        reported = self.callback is not None or getattr(self, "_skl_callbacks", None)
        if choice.start is not None and not reported:  # reports are about rounds: it has none
            model.warm_start = model._starts_solved = True
            model.coef_, model.intercept_ = choice.start
            model._solved_by = choice.start_by
        if managed:
            model.fit(X, y, sample_weight=weights, offset=offset)
        else:  # X and y were checked already
            model._fit_checked(X, y, weights, offset)
        self._forget_proofs()
        self._take_learnt(model, _OF_REFIT)

    def _model_of(self, changed: dict[str, Any]) -> Any:
        """The estimator without cross-validation, with other values of some parameters."""
        # Copied, not read by ``get_params``: it would take a tenth of a small fit.
        names = [one.name for one in fields(self._refitted) if one.init]
        shared = {name: getattr(self, name) for name in names if hasattr(self, name)}
        own = {name: value for name, value in changed.items() if name in names}
        if "penalty_weight" in own:
            shared.pop("weights", None)  # another name for the same
        return self._refitted(**{**shared, **own})

    def _take_learnt(self, model: Any, others: tuple[str, ...] = ()) -> None:
        """Take over what a model has learnt, but for some attributes."""
        for name, value in vars(model).items():
            learnt = name.startswith("_") or name.endswith("_")
            if learnt and name not in others:
                setattr(self, name, value)

    # --- metadata routing ----------------------------------------------------------------------

    def _routed(self, params: dict[str, Any], sample_weight: Any) -> Bunch:
        """Which parameters of ``fit`` go to the splitter and to the scorer."""
        _raise_for_params(params, self, "fit")
        if _routing_enabled():
            if sample_weight is not None:
                params = {**params, "sample_weight": sample_weight}
            return process_routing(self, "fit", **params)
        weighted = sample_weight is not None and self._scores_use_weights()
        score = {"sample_weight": sample_weight} if weighted else {}
        return Bunch(splitter=Bunch(split={}), scorer=Bunch(score=score))

    def get_metadata_routing(self) -> MetadataRouter:
        """Which parameters of ``fit`` and ``score`` go to the splitter and to the scorer."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(
            splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split")
        )
        if self._scorer_callers:
            mapping = MethodMapping()
            for caller in self._scorer_callers:
                mapping.add(caller=caller, callee="score")
            router.add(scorer=self._scorer(), method_mapping=mapping)
        return router


def follow(
    problem: Problem, lams: Floats, options: dict[str, Any], visit: Callable[[int, Solution], None]
) -> list[Solution]:
    """Solve a path, call ``visit`` at each point, and return the solutions that missed ``tol``."""
    unsolved = []
    for k, solution in enumerate(solutions_at(problem, lams, **options)):
        if solution.interrupted:  # no fold may be scored by a model that is not finished
            raise KeyboardInterrupt
        visit(k, solution)
        if not solution.converged:
            unsolved.append(solution)
    return unsolved
