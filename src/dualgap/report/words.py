"""What a certificate means, in sentences for a person who has never heard of a duality gap."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dualgap.proof.goal import ratio, reference, relative_words
from dualgap.run.recording import Frame, Spread
from dualgap.run.solution import Solution, counted

_ROUNDING_SHARE = 1e-6  # of the gap: smaller contributions are rounding errors; not measured


def headline(solution: Solution) -> str:
    """The proof in one sentence."""
    proof = solution.certificate
    if not math.isfinite(proof.gap):
        return "Nothing is proven yet: no finite bound was found."
    share = relative_words(proof)
    return f"Proven: at most {proof.gap:.1e} above the best possible objective ({share})."


def meaning(solution: Solution) -> list[str]:
    """What the certificate says, a paragraph each."""
    return [*_bound(solution), _radius(solution), _target(solution)]


def _bound(solution: Solution) -> list[str]:
    proof = solution.certificate
    if not math.isfinite(proof.primal):
        return [
            "The objective is infinite: the coefficients break a constraint or overflow the loss."
        ]
    if not math.isfinite(proof.dual):
        return [f"The objective is {proof.primal:.6g}. How low it could be is not known."]
    digits = 4 + int(max(0.0, -math.log10(max(proof.relative_gap, 1e-12))))
    return [
        f"The objective of this model is {proof.primal:.{digits}g}. No coefficients whatsoever "
        f"have an objective below {proof.dual:.{digits}g}. The duality gap bounds what could still "
        f"be gained: {proof.gap:.2g}, where a model that ignores all features has an objective of "
        f"P(0) = {proof.scale:.4g}.{_rounded(solution)}",
        "This is a proof and not an estimate: it was computed from the data for exactly these "
        "coefficients, includes a bound on its own rounding errors, and holds however the "
        "coefficients were found.",
    ]


def _rounded(solution: Solution) -> str:
    """Why the gap is not what a reader gets by subtraction, if it is not."""
    proof = solution.certificate
    if proof.primal - proof.dual <= 1.1 * proof.gap:
        return ""
    return (
        " It is less than the difference of these two numbers, since it is summed part by part, "
        "where rounding costs less."
    )


def _radius(solution: Solution) -> str:
    proof = solution.certificate
    if proof.radius is None:
        return (
            "The penalty is not strongly convex in every coefficient, so that the gap bounds the "
            "objective, but not how far single coefficients are from the best ones."
        )
    if not math.isfinite(proof.radius):
        return "How far the coefficients are from the best ones is not known."
    return (
        f"The coefficients are within {proof.radius:.1e} of the best ones, in Euclidean norm, and "
        f"a decision value x·w is within {proof.radius:.1e}·‖x‖ of that of the best model."
    )


def _target(solution: Solution) -> str:
    proof, history = solution.certificate, solution.history
    spent = f"{counted(solution.passes)} passes over the data and {history.seconds[-1]:.3g} seconds"
    asked = f"The target was a gap of {solution.target:.1e}{_tol(solution)}. "
    if solution.target == 0.0:
        asked = "The target was a gap of zero. "
    if solution.converged:
        return asked + f"It was reached after {spent}."
    words = f"{asked}It was not reached in {spent}. {solution.status} "
    if 0.0 < solution.target < proof.gap < math.inf:
        words += f"The gap is {proof.gap / solution.target:.2g} times the target"
        words += f"{_way(solution)}. "
    words += "The bound holds all the same. "
    return words + solution.remedy


def _tol(solution: Solution) -> str:
    size = solution.certificate.reference
    return f", that is {solution.target / size:.1e} of the optimum" if size > 0.0 else ""


def _way(solution: Solution) -> str:
    """How far the run got, and how long the rest would take at the pace of its second half."""
    gap, passes = solution.history.gap, solution.history.passes
    known = (gap > 0.0) & (gap < np.inf)
    logs, passes = np.log(gap[known]), passes[known]
    end = math.log(solution.target)
    if len(logs) < 2 or logs[0] <= logs[-1]:
        return ""
    done = (logs[0] - logs[-1]) / (logs[0] - end)
    words = f": {100 * done:.0f} % of the way there on a logarithmic scale"
    half = len(logs) // 2
    fall, spent = logs[half] - logs[-1], passes[-1] - passes[half]
    if fall > 0.0 and spent > 0.0:
        rest = (logs[-1] - end) / fall * spent
        words += (
            f"; at the pace of its second half, about {counted(rest)} more passes (an estimate)"
        )
    return words


def together(runs: Mapping[str, Solution]) -> str:
    """What several runs on one problem prove when each may use the bounds of the others."""
    proofs = {name: solution.certificate for name, solution in runs.items()}
    name = min(proofs, key=lambda each: proofs[each].primal)
    best, bound = proofs[name], max(proof.dual for proof in proofs.values())
    if len(proofs) < 2 or not math.isfinite(best.primal - bound):
        return ""
    excess = max(best.primal - bound, 0.0)
    share = ratio(excess, reference(bound, best.least, best.scale))
    return (
        f"Bounds hold for all of them: the best objective, that of {name}, is within "
        f"{excess:.1e} of the best possible ({share:.1e} of it) by the best bound of all runs."
    )


def unresolved(frame: Frame) -> str:
    """Where the rest of the gap is."""
    total = frame.samples.total + frame.features.total
    kinds = {"samples": frame.samples, "features": frame.features}
    return " ".join(_left(kinds[noun], noun) for noun in kinds if _counts(kinds[noun], total))


def _counts(spread: Spread, total: float) -> bool:
    """Whether these add to the gap more than rounding errors do."""
    return _ROUNDING_SHARE * total < spread.total < math.inf


def _left(spread: Spread, noun: str) -> str:
    settled = spread.size - spread.above
    make = "makes" if spread.holders == 1 else "make"
    return (
        f"Of {spread.size:,} {noun}, {settled:,} ({_percent(spread.resolved)}) are resolved; "
        f"{spread.holders:,} {make} up 99 % of what the {noun} add to the gap, {spread.total:.1e}."
    )


def _percent(share: float) -> str:
    """Rounded down, so that 100 % means all."""
    return f"{math.floor(1000 * share) / 10:g} %"
