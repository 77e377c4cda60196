"""The covariance of coefficients: of the model, or robust against a wrong variance.

L(w) = Σ_i s_i φ(x_i·w; y_i) + ½ wᵀΛw has the curvature A = H + Λ at its minimum. With dispersion ψ
the covariance of the minimum is ψ A⁻¹ H A⁻¹, or A⁻¹ (Σ g gᵀ) A⁻¹ with the slopes g of samples or
clusters. Without a penalty the first is ψ H⁻¹. With one, both describe how far the penalised
coefficients scatter around what they estimate, not their bias.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dualgap.linalg.validate import Floats, unknown

KINDS = ("model", "HC0", "HC1", "HC2", "HC3", "cluster")
_OF_LEVERAGES = ("HC2", "HC3")
# Eigenvalues of the scaled curvature below this share of the largest are zeros: sums of squares
# have errors of about 1e-15, and what is left of a direction at 1e-12 has three digits.
_DEPENDENT = 1e-12


class Covariance(NamedTuple):
    """A covariance in the user's units; not identified coefficients have infinite variances."""

    matrix: Floats  # coefficients and intercept
    dispersion: float
    freedom: float  # Σs minus the effective number of parameters
    step: Floats  # how far a Newton step would move each coefficient
    identified: Any  # a mask


def covariance(
    sums: Any,
    w: Floats,
    curvature: Floats,
    kind: str,
    clusters: Any,
    *,
    scaled: bool,
    least_squares: bool,
) -> Covariance:
    """The covariance at ``w``, the coefficients and intercept of centred features.

    ``sums``: ``InformationSums``, or ``OrderedSums`` for classes in an order.
    ``curvature``: the diagonal of Λ. ``scaled``: whether the dispersion must be estimated.
    """
    gradient, hessian = sums.gradient_and_hessian()
    gradient += curvature * w
    bent = hessian + np.diag(curvature)
    sizes = np.sqrt(np.maximum(np.diag(bent), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(bent / np.outer(sizes, sizes))
    kept = values > _DEPENDENT * max(values[-1], 0.0)
    # Whitened directions: A⁻¹ = root rootᵀ on all that is determined.
    root = vectors[:, kept] / np.sqrt(values[kept]) / sizes[:, None]
    inverse = root @ root.T
    lost = vectors[:, ~kept]
    # Of softmax coefficients only differences between classes are determined; those shown have a
    # mean of 0, which the pseudoinverse stands for.
    identified = np.ones(len(w), bool)
    if sums.width == 1:
        identified = np.max(np.abs(lost), axis=1, initial=0.0) < np.sqrt(_DEPENDENT)
    freedom = sums.total - float(np.sum((root.T @ hessian) * root.T))
    dispersion = _dispersion(sums, freedom) if scaled else 1.0
    if kind == "model":
        matrix = dispersion * inverse @ hessian @ inverse
    else:
        meat = _meat(sums, kind, clusters, inverse, freedom, least_squares=least_squares)
        matrix = inverse @ meat @ inverse
    back = sums.uncentred()
    return Covariance(
        back @ matrix @ back.T, dispersion, freedom, back @ (inverse @ gradient), identified
    )


def _dispersion(sums: Any, freedom: float) -> float:
    if freedom <= 1e-6 * sums.total:
        raise ValueError(
            f"no degrees of freedom are left to estimate the dispersion: {sums.total:g} samples "
            "determine as many coefficients; use fewer features, or a penalty"
        )
    return sums.chi_square() / freedom


def _meat(
    sums: Any,
    kind: str,
    clusters: Any,
    inverse: Any,
    freedom: float,
    *,
    least_squares: bool,
) -> Any:
    n = sums.total
    if kind == "cluster":
        labels, places = np.unique(clusters, return_inverse=True)
        count = len(labels)
        if count < 2:
            raise ValueError("groups: standard errors by cluster need at least two clusters")
        factor = count / (count - 1.0) * (n - 1.0) / freedom
        return factor * sums.products_of_clusters(places, count)
    factors = np.ones(len(sums.weights))
    if kind in _OF_LEVERAGES:
        if not least_squares:
            raise ValueError(f'covariance="{kind}" is for least squares; use "HC1"')
        rest = np.maximum(1.0 - sums.leverages(inverse), np.finfo(float).eps)
        factors = 1.0 / (np.sqrt(rest) if kind == "HC2" else rest)
    factor = n / freedom if kind == "HC1" else 1.0
    return factor * sums.products_of_slopes(factors)


def check_kind(kind: Any, groups: Any, n: int) -> Any:
    """The clusters of samples, or None; raises if the two arguments do not fit."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(unknown("covariance", str(kind), KINDS))
    if (kind == "cluster") != (groups is not None):
        raise ValueError('groups belongs to covariance="cluster", and is needed there')
    if groups is None:
        return None
    clusters = np.asarray(groups)
    if clusters.shape != (n,):
        raise ValueError(f"groups must have an entry for each of {n} samples")
    return clusters
