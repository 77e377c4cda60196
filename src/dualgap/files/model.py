"""A fit to be kept: coefficients, what they were fitted for, and the proof of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.validate import Floats
from dualgap.losses.targets import mean
from dualgap.problem import Problem
from dualgap.problem.offsets import checked_offset
from dualgap.proof.certificate import Certificate
from dualgap.proof.predictions import CertifiedClasses
from dualgap.proof.radius import Radius, radius
from dualgap.run.solution import Solution


@dataclass(frozen=True, eq=False)
class Model:
    """What ``load_model`` returns.

    ``coef``, ``intercept``   as a ``Solution`` has them
    ``classes``               the labels that predictions have; None for a regression
    ``loss``, ``penalty``, ``lam``, ``fit_intercept``, ``intercept_scaling``  the problem
    ``certificate``           the proof at the time of the fit, without the contributions of samples
    ``feature_names``         one for each column of X, or None
    ``settings``              how it was fitted: plain numbers and words
    ``version``               of the dualgap that has fitted it
    """

    coef: Floats = field(repr=False)
    intercept: Any = field(repr=False)
    classes: Any
    loss: Any
    penalty: Any
    lam: float
    fit_intercept: bool | str
    intercept_scaling: float
    certificate: Certificate
    radius: Radius = field(repr=False)
    feature_names: tuple[str, ...] | None = field(default=None, repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    version: str = ""

    @property
    def n_features(self) -> int:
        return int(self.coef.shape[0])

    def problem(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Problem:
        """The problem that was solved, on these data."""
        return Problem(
            X,
            y,
            self.loss,
            self.penalty,
            self.lam,
            sample_weight,
            intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling,
            offset=offset,
        )

    def decision(self, X: Any, offset: Any = None) -> Floats:
        """x·coef + intercept for each row, and its ``offset``; with many classes a column for
        each."""
        found = np.asarray(self._data(X) @ self.coef + self.intercept, dtype=np.float64)
        width = 1 if found.ndim == 1 else found.shape[1]
        own = None if offset is None else checked_offset(offset, len(found), width)
        return found if own is None else found + own

    def predict(self, X: Any, offset: Any = None) -> Any:
        """Labels, or numbers; with the Poisson loss the expected count."""
        scores = self.decision(X, offset)
        if self.classes is None:
            return mean(self.loss, scores)
        best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(int)
        return self.classes[best]

    def decision_radius(self, X: Any, offset: Any = None) -> Floats:
        """How far each decision value can be from that of the exact optimum, rounding included."""
        return _Bounds(self).decision_radius(self._data(X), offset)

    def is_proven(self, X: Any, offset: Any = None) -> Any:
        """Which predicted classes are proven to be those of the exact optimum."""
        if self.classes is None:
            raise ValueError("a regression has no classes: decision_radius(X) bounds its values")
        return _Bounds(self).predict_certified(self._data(X), offset)

    def _data(self, X: Any) -> Any:
        data = storage.as_data(X)
        if data.shape[1] != self.n_features:
            raise ValueError(
                f"X has {data.shape[1]} features where the model has {self.n_features}"
            )
        return data


class _Bounds(CertifiedClasses):
    """The model as the estimators' bounds look at it: a line of coefficients for each value."""

    def __init__(self, model: Model) -> None:
        self.coef_, self.intercept_ = model.coef.T, model.intercept
        self._radii, self._joint = [model.radius], model.coef.ndim == 2
        self._scores = model.decision

    def _read(self, X: Any) -> Any:
        return X


def model_of(
    problem: Problem,
    solution: Solution,
    feature_names: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    classes: Sequence[Any] | None = None,
) -> Model:
    """What is worth keeping of a solution; ``classes`` are labels to be used for those of y."""
    from dualgap import __version__

    if feature_names is not None and len(feature_names) != problem.p:
        raise ValueError(
            f"feature_names has {len(feature_names)} names where X has {problem.p} features"
        )
    own = problem.classes
    if classes is not None and (own is None or len(own) != len(classes)):
        raise ValueError(
            f"classes has {len(classes)} labels where y has {0 if own is None else len(own)}"
        )
    proof = solution.certificate
    return Model(
        coef=solution.coef,
        intercept=solution.intercept,
        classes=None if own is None else np.asarray(own if classes is None else classes),
        loss=problem.given_loss,
        penalty=problem.feature_penalty,
        lam=problem.lam,
        fit_intercept=problem.intercept,
        intercept_scaling=problem.constant if problem.intercept == "penalised" else 1.0,
        certificate=bare(
            proof.primal, proof.dual, proof.gap, proof.scale, proof.radius, proof.least
        ),
        radius=radius(problem, solution.coef, solution.intercept, solution.dual, proof),
        feature_names=None if feature_names is None else tuple(map(str, feature_names)),
        settings={
            "method": solution.method,
            "status": solution.status.value,
            "converged": solution.converged,
            "target": solution.target,
            "passes": solution.passes,
            "seconds": float(solution.history.seconds[-1]),
            "n_samples": problem.n,
            **(settings or {}),
        },
        version=__version__,
    )


def bare(
    primal: float, dual: float, gap: float, scale: float, reach: float | None, least: float = 0.0
) -> Certificate:
    """A certificate without the parts of each sample and feature."""
    return Certificate(primal, dual, gap, scale, reach, np.empty(0), np.empty(0), least=least)
