"""Scores of a model on data in partitions, from sums over partitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dualgap.distributed.data.agreement import aligned, features_of
from dualgap.distributed.data.block import RawData
from dualgap.distributed.engines.protocol import retry_until_stable
from dualgap.distributed.estimators import sources_of, spec_of_targets
from dualgap.distributed.lazy import check_width, for_workers
from dualgap.distributed.session import Options, Session, in_session
from dualgap.linalg.validate import Floats, finite_vector

Sums = tuple[float, float]


class _Judged(NamedTuple):
    """A model without its proof, and the mean of y that its deviance is compared with."""

    model: Any
    mean: float


def right_classes(raw: RawData, a: None, k: int, model: Any) -> tuple[Sums, None]:
    """The weight of samples whose class is predicted, and of all (a task)."""
    weights = _weights(raw)
    return (float(weights @ (model.predict(raw.X) == raw.y)), float(weights.sum())), None


def target_sums(raw: RawData, a: None, k: int, message: None) -> tuple[Sums, None]:
    """Σ s y and Σ s (a task)."""
    weights = _weights(raw)
    return (float(weights @ raw.y), float(weights.sum())), None


def deviance_sums(raw: RawData, a: None, k: int, judged: _Judged) -> tuple[Sums, None]:
    """The deviance of y from predictions and from its mean, each times Σ s (a task)."""
    weights, model = _weights(raw), judged.model
    total, y = float(weights.sum()), np.asarray(raw.y, dtype=np.float64)
    if total == 0.0:
        return (0.0, 0.0), None
    means = model.predict(raw.X), np.full(len(y), judged.mean)
    own, of_mean = (float(total * model._deviance(y, mean, weights)) for mean in means)
    return (own, of_mean), None


def _weights(raw: RawData) -> Floats:
    n = raw.X.shape[0]
    return np.ones(n) if raw.weights is None else finite_vector(raw.weights, "sample_weight", n)


def score_of(model: Any, X: Any, y: Any, sample_weight: Any, client: Any) -> float:
    """The accuracy of a classifier; R² or D² of a regressor."""
    check_is_fitted(model)
    sources, light = sources_of(X, y, sample_weight), for_workers(model)
    known = getattr(model, "feature_names_in_", None)
    if known is not None and sources.names is not None and list(known) != sources.names:
        raise ValueError(
            "the columns are not those of the fit in the same order: the model has the features "
            f"{', '.join(map(str, known[:10]))}{', ...' if len(known) > 10 else ''}"
        )

    def score(session: Session) -> float:
        p, first = features_of(session.summaries, sources)
        check_width(model, max(p, model.n_features_in_) if sources.ragged else p)
        if sources.ragged:
            session.engine.transform(aligned, (model.n_features_in_, first))

        def sums(task: Any, message: Any) -> Sums:
            answers = retry_until_stable(lambda: session.engine.ask(task, message))
            one, other = np.sum(answers, axis=0)
            return float(one), float(other)

        if hasattr(model, "classes_"):
            right, total = sums(right_classes, light)
            return right / total
        of_y, total = sums(target_sums, None)
        own, of_mean = sums(deviance_sums, _Judged(light, of_y / total))
        return 1.0 - own / of_mean if of_mean > 0.0 else float(own == 0.0)

    found: float = in_session(client, sources, spec_of_targets(model), Options(), score)
    return found
