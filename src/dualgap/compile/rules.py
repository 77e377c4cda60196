"""The rules that losses, penalties and matrices answer; each is a method of the same name.

Notation as in docs/architecture.md: ``z`` = x·w, ``a`` a dual variable, ``u`` an entry of
(1/λ) Σ c a x, ``q`` a curvature, ``y`` a target, ``j`` a feature.
"""

from __future__ import annotations

from typing import Any

from dualgap.compile.kernels import generic, generic_with_default

# --- losses and penalties -------------------------------------------------------------------------


@generic
def value(obj: Any, at: Any, which: Any) -> float:
    """Loss: φ(z; y). Penalty: g_j(w), infinite outside its constraint. For blocks ``at`` is an
    array."""
    raise TypeError


@generic
def conj(obj: Any, at: Any, which: Any) -> float:
    """Loss: φ*(−a; y). Penalty: g_j*(u). Infinite outside the domain."""
    raise TypeError


# --- losses ---------------------------------------------------------------------------------------


@generic
def slope(loss: Any, z: float, y: float) -> float:
    """φ'(z; y), or any subgradient at a kink."""
    raise TypeError


@generic
def curvature(loss: Any, z: float, y: float) -> float:
    """φ''(z; y), or 0 where it does not exist."""
    raise TypeError


@generic
def project(loss: Any, a: float, y: float) -> float:
    """The point of the domain of φ*(−·; y) nearest to ``a``."""
    raise TypeError


@generic
def dual_step(loss: Any, a: float, z: float, q: float, y: float) -> float:
    """The b that maximises −φ*(−b; y) − z·b − (q/2)(b − a)²; for q = 0 the one nearest to ``a``."""
    raise TypeError


@generic_with_default
def target_size(loss: Any, y: float) -> float:
    """|y| as rounding errors of y − z and a·y see it; 0 for losses that count their own errors."""
    return abs(y)


@generic_with_default
def value_size(obj: Any, at: float, which: Any) -> float:
    """Loss: what cancels inside φ(z; y), beyond |φ| + |φ'|(target_size + |z|). Penalty: what
    cancels inside g_j(w)."""
    return 0.0


@generic_with_default
def conj_size(obj: Any, at: float, which: Any) -> float:
    """Loss: what cancels inside φ*(−a; y), beyond |φ*| + |a|·target_size. Penalty: what cancels
    inside g_j*(u)."""
    return 0.0


@generic
def face(loss: Any, a: float, y: float) -> tuple[float, float, float, float]:
    """(low, high, bend, tilt): φ*(−b; y) = const + tilt·b + ½·bend·b² for low ≤ b ≤ high.

    The widest such interval with ``a`` inside; empty, low = high, where ``a`` is a kink. Only
    losses whose conjugate is made of such pieces have this rule.
    """
    raise TypeError


# --- block losses: z, a and out hold an entry for each class, y is the index of one ---------------


@generic
def slope_into(loss: Any, z: Any, y: float, out: Any) -> None:
    """out = ∇φ(z; y)."""
    raise TypeError


@generic
def project_into(loss: Any, a: Any, y: float, out: Any) -> None:
    """out = the point of the domain of φ*(−·; y) nearest to ``a``; a feasible one bit for bit."""
    raise TypeError


@generic
def dual_step_into(loss: Any, a: Any, z: Any, q: float, y: float, out: Any) -> None:
    """out = the b that maximises −φ*(−b; y) − z·b − (q/2)‖b − a‖²; q = 0 asks for −∇φ(z)."""
    raise TypeError


@generic_with_default
def offset_size(loss: Any, y: Any) -> float:
    """The Euclidean norm of the sample's offsets."""
    return 0.0


# --- penalties ------------------------------------------------------------------------------------


@generic
def conj_slope(penalty: Any, u: float, near: float, j: int) -> float:
    """The w that maximises u·w − g_j(w), the one nearest to ``near``; ±inf outside the domain."""
    raise TypeError


@generic
def prox(penalty: Any, u: float, t: float, j: int) -> float:
    """The w that minimises ½(w − u)² + t·g_j(w); for t = 0 the projection on the constraint."""
    raise TypeError


@generic
def domain(penalty: Any, j: int) -> tuple[float, float]:
    """The closed interval on which g_j* is finite."""
    raise TypeError


@generic
def strength(penalty: Any, j: int) -> float:
    """The largest μ for which g_j(w) − (μ/2)w² is convex; for blocks (μ/2)‖w‖²."""
    raise TypeError


@generic_with_default
def glide(
    penalty: Any, x: float, scale: float, shift: float, t: float, k: int, j: int, decay: Any
) -> float:
    """k times in a row x ← prox(scale·x + shift, t); penalties may know a closed form.

    ``decay``: a table of powers (``powers.Decay``) that may help.
    """
    for _ in range(k):
        moved = prox(penalty, scale * x + shift, t, j)
        if moved == x:
            break
        x = moved
    return x


# --- matrices, seen coordinate by coordinate ------------------------------------------------------


@generic
def span(matrix: Any, i: int) -> tuple[int, int]:
    """The range of positions at which coordinate ``i`` stores its entries."""
    raise TypeError


@generic
def place(matrix: Any, i: int, t: int) -> int:
    """The index inside the coordinate's vector of the entry at position ``t``."""
    raise TypeError


@generic
def entry(matrix: Any, i: int, t: int) -> float:
    """The entry at position ``t``."""
    raise TypeError


@generic
def within(matrix: Any, i: int, low: int, high: int) -> tuple[int, int]:
    """The positions of coordinate ``i`` whose places lie in low, ..., high − 1."""
    raise TypeError


@generic
def announce(matrix: Any, i: int) -> None:
    """Ask the caches for what ``fetch`` of coordinate ``i`` will read."""
    raise TypeError


@generic
def foresee(matrix: Any, i: int, features: Any) -> None:
    """Have ``features`` ask the caches for what the entries of coordinate ``i`` will meet there."""
    raise TypeError


@generic
def fetch(matrix: Any, i: int) -> None:
    """Ask the caches for the first entries of coordinate ``i``; the rest follows by itself."""
    raise TypeError


# --- the two halves of the template  min F(v) + Σ G_i(x_i),  v = Σ_i scale_i x_i A_i --------------


@generic
def gradient(smooth: Any, k: int, v: float) -> float:
    """F_k'(v)."""
    raise TypeError


@generic
def hessian(smooth: Any, k: int, v: float) -> float:
    """F_k''(v)."""
    raise TypeError


@generic
def quadratic_bound(smooth: Any) -> bool:
    """Whether one step with the curvature bound is the coordinate step; else ``search`` is."""
    raise TypeError


@generic
def search(
    smooth: Any, matrix: Any, separable: Any, i: int, x: float, v: Any, q: float
) -> tuple[float, int]:
    """The minimum along coordinate ``i``, and the passes over its entries that finding it took.

    A rule, so that what never searches need not compile it.
    """
    raise TypeError


@generic
def step(separable: Any, i: int, x: float, g: float, q: float) -> float:
    """The s that minimises g·s + (q/2)(s − x)² + G_i(s)."""
    raise TypeError


@generic
def level(scorer: Any, x: Any, v: Any) -> float:
    """The number that ``goal`` needs about the complete state."""
    raise TypeError


@generic
def goal(scorer: Any, i: int, x: float, g: float, level: float) -> float:
    """Where g = A_i·F'(v) draws coordinate i: its residue is κ_i = |goal − x|."""
    raise TypeError


@generic
def part(scorer: Any, i: int, x: float, g: float, goal: float) -> float:
    """Γ_i: the coordinate's contribution to the gap."""
    raise TypeError


@generic
def step_into(separable: Any, i: int, x: Any, g: Any, q: float, out: Any) -> None:
    """The same for a block of coordinates: out = argmin g·s + (q/2)‖s − x‖² + G_i(s)."""
    raise TypeError


@generic
def expect(owner: Any, i: int) -> None:
    """Ask the caches for what the owner's rules will read for coordinate ``i``."""
    raise TypeError


# --- steps on sets of samples: what features and samples do in iteration t ------------------------


@generic
def wake(features: Any, j: int, t: int) -> None:
    """Bring feature ``j`` to iteration ``t``, catching up on those that did not touch it."""
    raise TypeError


@generic
def read(features: Any, j: int, i: int, t: int) -> float:
    """The coefficient of feature ``j`` that sample ``i`` sees in iteration ``t``."""
    raise TypeError


@generic
def touch(features: Any, j: int, amount: float, i: int, t: int) -> None:
    """Sample ``i`` changes entry ``j`` of u by ``amount``."""
    raise TypeError


@generic
def respond(samples: Any, i: int, z: float, t: int) -> float:
    """Update sample ``i`` at z = x_i·(coefficients); returns the multiple of x_i added to u."""
    raise TypeError


@generic
def respond_into(samples: Any, i: int, z: Any, t: int, out: Any) -> None:
    """The same for a block: ``out`` holds a multiple of x_i for each class."""
    raise TypeError
