"""An estimator for proportions: scikit-learn's interface to a loss of one's own."""

from dataclasses import dataclass

from proportion import Proportion

from dualgap.extend import LinearRegressor, Strength
from dualgap.penalties import L2


@dataclass(eq=False, repr=False, kw_only=True)
class ProportionRegressor(Strength, LinearRegressor):
    """Minimises the mean of the losses + (alpha/2)‖w‖²; parameters are fields of the dataclass."""

    alpha: float = 0.001

    def _loss(self):
        return Proportion()

    def _penalty(self):
        return L2()

    def predict(self, X):
        return Proportion().mean(super().predict(X))
