"""What estimators with cross-validation share: folds, parallel paths on them, the refit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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

from dualgap.estimators import _checks
from dualgap.estimators._callbacks import hand_on


class Folds:
    """A mixin for estimators with these parameters."""

    cv: Any
    n_jobs: Any
    verbose: Any
    method: Any
    sampling: Any
    tol: Any
    max_iter: Any
    random_state: Any
    get_params: Callable[..., dict[str, Any]]

    def _routed(self, params: dict[str, Any], sample_weight: Any, *, scored: bool) -> Bunch:
        """Which of fit's parameters the splitter and the scorer get."""
        _raise_for_params(params, self, "fit")
        if _routing_enabled():
            if sample_weight is not None:
                params = {**params, "sample_weight": sample_weight}
            return process_routing(self, "fit", **params)
        score = {} if sample_weight is None or not scored else {"sample_weight": sample_weight}
        return Bunch(splitter=Bunch(split={}), scorer=Bunch(score=score))

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
        """Pairs of places; ``fitted`` and ``scored`` are the weights that fits and scores have."""
        folds = list(
            check_cv(self.cv, y, classifier=classifier).split(X, y, **routed.splitter.split)
        )
        for k, (train, test) in enumerate(folds):
            for weights, places, use in ((fitted, train, "fitted to"), (scored, test, "scored on")):
                if weights is not None and not np.any(np.asarray(weights)[places]):
                    raise ValueError(
                        "sample_weight (times class_weight) is zero for every sample that fold "
                        f"{k} is {use}: leave samples without weight out, or give folds that all "
                        "have some, such as cv=KFold(shuffle=True)"
                    )
        return folds

    def _parallel(self, function: Callable[..., Any], jobs: list[tuple[Any, ...]]) -> list[Any]:
        """Each job with its options, in threads: kernels do not hold the interpreter, and X is
        not sent anywhere."""
        threads = Parallel(n_jobs=self.n_jobs, verbose=self.verbose, prefer="threads")
        options = [self._path_options(seed) for seed in _checks.seeds(self.random_state, len(jobs))]
        return list(threads(delayed(function)(*job, own) for job, own in zip(jobs, options)))

    def _path_options(self, seed: int) -> dict[str, Any]:
        """What the runs on a fold are told."""
        return {
            "method": self.method,
            "sampling": self.sampling,
            "tol": self.tol,
            "max_epochs": _checks.rounds(self.max_iter),
            "random_state": seed,
        }

    def _fit_to_all(self, model: Any, X: Any, y: Any, sample_weight: Any) -> None:
        """The refit by a plain estimator, whose learnt attributes are taken over."""
        hand_on(self, model)
        model.fit(X, y, sample_weight=sample_weight)
        for name, value in vars(model).items():
            learnt = name.startswith("_") or name.endswith("_")
            if learnt and name not in ("n_features_in_", "feature_names_in_"):
                setattr(self, name, value)

    def _shared_with(self, model: type) -> dict[str, Any]:
        """The parameters that a plain estimator has as well."""
        own = self.get_params(deep=False)
        return {name: own[name] for name in model().get_params(deep=False) if name in own}

    def get_metadata_routing(self) -> MetadataRouter:
        """Who gets which parameters of ``fit``: the splitter."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=check_cv(self.cv),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )
