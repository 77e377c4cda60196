"""What samplings know of the coordinates."""

from __future__ import annotations

from typing import NamedTuple

from dualgap._validate import Floats


class Scores(NamedTuple):
    """What a sampling may look at, per coordinate; the same in both views.

    ``residue``    κ_i ≥ 0: distance of x_i from the maximiser of its part of the gap
    ``gap``        Γ_i ≥ 0: the coordinate's part of the gap
    ``curvature``  Lipschitz constant of the derivative of F along x_i: c_i²‖x_i‖²/λ or Σ c x_j²/γ
    ``strength``   strong convexity of G_i: c_i γ or λ μ_j
    ``lipschitz``  |x_i| at the optimum cannot exceed it (may be infinite)
    """

    residue: Floats
    gap: Floats
    curvature: Floats
    strength: Floats
    lipschitz: Floats
