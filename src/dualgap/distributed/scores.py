"""Scores of a model on data in partitions, from sums over partitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dualgap.distributed.data.agreement import aligned, features_of
from dualgap.distributed.data.block import Block, RawData
from dualgap.distributed.data.folds import Fold
from dualgap.distributed.estimators import sources_of, spec_of_targets
from dualgap.distributed.lazy import check_width, for_workers
from dualgap.distributed.session import Options, Session, in_session
from dualgap.linalg.validate import Floats

Sums = tuple[float, float]


class _Judged(NamedTuple):
    """A model without its proof, and the mean of y that its deviance is compared with."""

    model: Any
    mean: float


class ScoreQuestion(NamedTuple):
    """``task`` for each of some messages, about the samples that have weight.

    ``columns``: to align data with; ``fold``: the samples to judge by, if these are not all.
    """

    task: Any
    messages: list[Any]
    columns: tuple[int, int] | None
    fold: Fold | None = None


def judge(data: Any, a: Any, k: int, question: ScoreQuestion) -> tuple[Floats, Any]:
    """What a task answers to each of its messages (a task)."""
    raw: RawData = data.raw if isinstance(data, Block) else data
    if question.columns is not None and not isinstance(data, Block):
        raw = aligned(raw, k, question.columns)
    if question.fold is not None:
        raw = raw._replace(weights=question.fold.test_weights(k, raw.X.shape[0], raw.weights))
    weights = np.ones(raw.X.shape[0]) if raw.weights is None else np.asarray(raw.weights)
    return np.array([question.task(raw, weights, one) for one in question.messages]), a


def right_classes(raw: RawData, weights: Floats, model: Any) -> Sums:
    """The weight of samples whose class is predicted, and of all."""
    return float(weights @ (model.predict(raw.X) == raw.y)), float(weights.sum())


def target_sums(raw: RawData, weights: Floats, message: None) -> Sums:
    """Σ s y and Σ s."""
    return float(weights @ raw.y), float(weights.sum())


def deviance_sums(raw: RawData, weights: Floats, judged: _Judged) -> Sums:
    """The deviance of y from predictions and from its mean, each times Σ s."""
    total, y = float(weights.sum()), np.asarray(raw.y, dtype=np.float64)
    if total == 0.0:
        return 0.0, 0.0
    means = judged.model.predict(raw.X), np.full(len(y), judged.mean)
    own, of_mean = (float(total * judged.model._deviance(y, mean, weights)) for mean in means)
    return own, of_mean


def scores_in(
    session: Session, models: list[Any], fold: Fold | None = None, *, deviance: bool = False
) -> Floats:
    """The score of each model; ``deviance``: minus the mean deviance in place of R² or D²."""

    def sums(task: Any, messages: list[Any]) -> Any:
        answers = session.ask(judge, ScoreQuestion(task, messages, columns, fold))
        return np.sum(answers, axis=0).T

    columns = session.columns
    if columns is not None:
        columns = models[0].n_features_in_, columns[1]
    if hasattr(models[0], "classes_"):
        right, total = sums(right_classes, models)
        return np.asarray(right / total)
    of_y, total = sums(target_sums, [None])[:, 0]
    own, of_mean = sums(deviance_sums, [_Judged(model, of_y / total) for model in models])
    if deviance:
        return np.asarray(-own / total)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(of_mean > 0.0, 1.0 - own / of_mean, own == 0.0))


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
        p = features_of(session.summaries, sources)[0]
        check_width(model, max(p, model.n_features_in_) if sources.ragged else p)
        return float(scores_in(session, [light])[0])

    found: float = in_session(client, sources, spec_of_targets(model), Options(), score)
    return found
