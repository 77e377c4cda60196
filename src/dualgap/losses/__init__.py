"""Losses φ(z; y). Each is one file: a NamedTuple with the rules of ``compile/rules.py`` as methods.

Every loss also declares, as attributes:

``targets``    the domain of y: "real" (compared with z), "binary" (two values), "count" (y ≥ 0),
               "positive" (y > 0), "classes", or a ``Targets`` object; ``targets.py`` has them, and
               what else a loss may declare about its targets
``gamma``      φ' is (1/gamma)-Lipschitz; 0 when φ is not smooth
``lipschitz``  |φ'| never exceeds it
``differentiable``  φ has a derivative everywhere
``quadratic``  φ is a quadratic, so that a step with its curvature is exact

and may declare

``likelihood``  "exact" if φ is −log of a likelihood, up to terms without z; "up to scale" if it is
                times a dispersion that has to be estimated

A block loss (``targets = "classes"``) has a vector z with an entry for each class. Its rules are
``value``, ``conj``, ``slope_into``, ``project_into`` and ``dual_step_into``, its constants the
first three, with Euclidean norms in place of absolute values.
"""

from __future__ import annotations

from dualgap.losses.epsilon_insensitive import EpsilonInsensitive
from dualgap.losses.gamma import Gamma
from dualgap.losses.hinge import Hinge
from dualgap.losses.huber import Huber
from dualgap.losses.logistic import Logistic
from dualgap.losses.multiclass_hinge import MulticlassHinge
from dualgap.losses.negative_binomial import NegativeBinomial
from dualgap.losses.poisson import Poisson
from dualgap.losses.quantile import Quantile
from dualgap.losses.smoothed_hinge import SmoothedHinge
from dualgap.losses.softmax import Softmax
from dualgap.losses.squared import Squared
from dualgap.losses.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from dualgap.losses.squared_hinge import SquaredHinge
from dualgap.losses.targets import Numbers, Targets
from dualgap.losses.tweedie import Tweedie

REGISTRY = {
    "squared": Squared,
    "hinge": Hinge,
    "smoothed-hinge": SmoothedHinge,
    "squared-hinge": SquaredHinge,
    "logistic": Logistic,
    "huber": Huber,
    "epsilon-insensitive": EpsilonInsensitive,
    "squared-epsilon-insensitive": SquaredEpsilonInsensitive,
    "quantile": Quantile,
    "poisson": Poisson,
    "gamma": Gamma,
    "tweedie": Tweedie,
    "negative-binomial": NegativeBinomial,
    "softmax": Softmax,
    "multiclass-hinge": MulticlassHinge,
}

__all__ = [cls.__name__ for cls in REGISTRY.values()]
__all__ += ["Numbers", "Targets"]
