"""Poisson regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dualgap import losses
from dualgap.estimators.docstrings import documented
from dualgap.estimators.log_link import LogLinkRegressor


@documented("alpha fit_intercept solver max_iter tol warm_start verbose")
@dataclass(eq=False, repr=False, kw_only=True)
class PoissonRegressor(LogLinkRegressor):
    """Regression of counts, with the logarithm as link and an L2 penalty.

    Minimises 1/(Σ s) Σ_i s_i (e^{z_i} − y_i z_i) + (α/2)‖w‖² with z_i = x_i·w + b, that is
    ``Problem`` with λ = α, where s are sample weights. ``decision_radius`` is about z, the
    logarithm of predictions. Counts y of exposures t are fitted with ``offset=np.log(t)``.
    """

    def _loss(self) -> Any:
        return losses.Poisson()

    def _deviance_power(self) -> float:
        return 1.0
