"""Generalised linear models: Gamma, Tweedie and negative binomial regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from dualgap import losses
from dualgap.estimators.base import choice
from dualgap.estimators.docstrings import documented
from dualgap.estimators.log_link import LogLinkRegressor
from dualgap.estimators.validated import sample_weights
from dualgap.linalg.validate import finite_vector, number, positive


@documented("alpha fit_intercept solver max_iter tol warm_start verbose")
@dataclass(eq=False, repr=False, kw_only=True)
class GammaRegressor(LogLinkRegressor):
    """Regression of positive numbers, with the logarithm as link and an L2 penalty.

    For durations, costs or sizes, whose standard deviation grows with their mean. Minimises
    1/(Σ s) Σ_i s_i (y_i e^{−z_i} + z_i) + (α/2)‖w‖² with z_i = x_i·w + b, that is ``Problem`` with
    λ = α, where s are sample weights. ``decision_radius`` is about z, the logarithm of predictions.
    """

    def _loss(self) -> Any:
        return losses.Gamma()

    def _deviance_power(self) -> float:
        return 2.0


@documented(
    "power alpha fit_intercept link solver max_iter tol warm_start verbose",
    power="""float, default 0.0
    The variance grows as this power of the mean: 0 is least squares, 1 Poisson, 2 Gamma, and
    between 1 and 2 lie sums of a random number of terms, which are often 0. Others have no convex
    objective with the logarithm as link, and are refused.""",
    link=""""auto", "identity" or "log"
    "auto" is the identity for power 0, else the logarithm; other combinations are not convex.""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class TweedieRegressor(LogLinkRegressor):
    """Regression with a Tweedie distribution and an L2 penalty.

    Minimises 1/(Σ s) Σ_i s_i φ(z_i; y_i) + (α/2)‖w‖² with z_i = x_i·w + b and half the deviance as
    φ, up to a constant: y e^{−(p−1)z}/(p − 1) + e^{(2−p)z}/(2 − p) for 1 < p < 2. That is
    ``Problem`` with λ = α, where s are sample weights.
    """

    power: float = 0.0
    link: str = "auto"

    def _deviance_power(self) -> float:
        return number(self.power, "power", -np.inf)

    def _loss(self) -> Any:
        return tweedie_loss(self.power, self.link)

    def predict(self, X: Any, offset: Any = None) -> Any:
        return super().predict(X, offset) if self._deviance_power() else self._linear(X, offset)

    predict.__doc__ = LogLinkRegressor.predict.__doc__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.power != 0.0
        return tags


def tweedie_loss(power: Any, link: Any) -> Any:
    """The loss that belongs to a power and a link, if it is convex."""
    link = choice(link, "link", ("auto", "identity", "log"))
    own = number(power, "power", -np.inf)
    if own != 0.0 and not 1.0 <= own <= 2.0:
        raise ValueError(
            f"power={power!r} has no certificate: its objective is not convex, or there is no such "
            "distribution; use power=0, or a power from 1 to 2"
        )
    usual = "log" if own else "identity"
    if link not in {"auto", usual}:
        raise ValueError(
            f'link="{link}" with power={power!r} has no certificate, since the objective is not '
            f'convex; use link="{usual}"'
        )
    known = {0.0: losses.Squared, 1.0: losses.Poisson, 2.0: losses.Gamma}
    return known[own]() if own in known else losses.Tweedie(own)


@documented(
    "alpha dispersion fit_intercept max_iter tol warm_start verbose",
    dispersion="""float, default 1.0
    The variance of a count with mean μ is μ + ``dispersion``·μ²; statsmodels calls it alpha. It is
    not estimated.""",
)
@dataclass(eq=False, repr=False, kw_only=True)
class NegativeBinomialRegressor(LogLinkRegressor):
    """Regression of counts that vary more than Poisson's, with a logarithm as link and L2 penalty.

    Minimises 1/(Σ s) Σ_i s_i ((y_i + θ) log(1 + e^{z_i}/θ) − y_i z_i) + (α/2)‖w‖² with
    z_i = x_i·w + b and θ = 1/``dispersion``, that is ``Problem`` with λ = α, where s are sample
    weights: −log L up to a constant. ``decision_radius`` is about z, the logarithm of predictions.
    """

    dispersion: float = 1.0

    def _loss(self) -> Any:
        if self.dispersion == 0.0:
            raise ValueError("dispersion must be > 0: for 0 use PoissonRegressor")
        return losses.NegativeBinomial(1.0 / positive(self.dispersion, "dispersion"))

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        mean = self._mean(X, offset)
        y = finite_vector(y, "y", len(mean))
        weights = sample_weights(sample_weight, len(y))
        best = np.full(len(y), np.average(y, weights=weights))
        return 1.0 - self._deviance(y, mean, weights) / self._deviance(y, best, weights)

    score.__doc__ = LogLinkRegressor.score.__doc__

    def _deviance(self, y: Any, mean: Any, weights: Any) -> float:
        theta = self._loss().theta
        both = xlogy(y + theta, (y + theta) / (mean + theta))
        return float(np.average(xlogy(y, y / mean) - both, weights=weights))
