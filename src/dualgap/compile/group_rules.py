"""The rules of penalties on groups of features, beside ``value``, ``conj`` and ``strength``.

``w``, ``u`` and ``out`` hold the coefficients of group ``k``.
"""

from __future__ import annotations

from typing import Any

from dualgap.compile.kernels import generic, generic_with_default

ALMOST_ONE = 1.0 - 1e-9  # leaves room for the rounding errors of gauges, of up to a million entries


@generic
def prox_into(penalty: Any, u: Any, t: float, k: int, out: Any) -> None:
    """out = the w that minimises ½‖w − u‖² + t·g_k(w); for t = 0 the projection on the
    constraint."""
    raise TypeError


@generic
def conj_slope_into(penalty: Any, u: Any, k: int, out: Any) -> None:
    """out = the w that maximises u·w − g_k(w), for u in the domain; 0 if that is one of several."""
    raise TypeError


@generic
def gauge(penalty: Any, u: Any, k: int) -> float:
    """The least t ≥ 0 at which 0 minimises t·g_k(w) − u·w; infinite if there is none."""
    raise TypeError


@generic_with_default
def zeros_into(penalty: Any, u: Any, error: Any, k: int, out: Any) -> None:
    """Which entries every slope of g_k* sets to 0, at all points within ``error`` of u."""
    proven = gauge(penalty, u, k) + gauge(penalty, error, k) < ALMOST_ONE
    for i in range(len(out)):
        out[i] = proven


@generic_with_default
def smooth_into(penalty: Any, w: Any, k: int, slope: Any, bend: Any) -> bool:
    """The gradient and the second derivatives of g_k along the entries of w that are not 0; those
    of others are 0. False if the penalty does not know them; the default."""
    return False
