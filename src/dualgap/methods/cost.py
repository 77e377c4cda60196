"""What a fit should cost by Newton steps and by sweeps, for losses with one decision value.

Both costs are numbers of steps or passes, which depend on the loss, the condition of the problem
and ``tol``, times the seconds of one, which depend on the shape of X. Only their ratio matters;
benchmarks/auto_regret.py measures what the choice costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg import storage
from dualgap.linalg.column_spread import squared_column_squares
from dualgap.linalg.validate import SMALLEST
from dualgap.problem import Problem
from dualgap.steps.newton.systems import Seconds, solves_by_products


@dataclass(frozen=True)
class Tuning:
    """Seconds of the parts, in one thread, and how often each is repeated.

    Fitted to 59 random problems with an intercept (200 to 23,000 samples, 65 to 19,000 features,
    dense and sparse, more than half of them with columns of very different size; C = 0.01 to 100):
    most costs are met within a factor of two. Problems of another seed: docs/decisions/.
    """

    # --- seconds ---

    fixed: float = 1e-3  # of a fit, whatever the data are
    sparse_entry: float = 1.9e-9  # to read an entry of a row, and add to its place
    dense_entry: float = 2.7e-10
    sample: float = 4e-8  # of a step of a sample, or of a response of the loss to z ...
    costly_sample: float = 1e-7  # ... if that takes exponentials

    # --- Newton ---

    # Steps on all data at a moderate tol, as far as the Gram matrix is concerned: a quadratic loss
    # is its own model; Hessians of quadratic pieces are updated; for kinks there are several stages
    # whose steps see few samples.
    quadratic_steps: float = 1.0
    smooth_steps: float = 2.0
    piece_steps: float = 2.0
    kink_steps: float = 10.0
    # Of them so many are needed where λ is large for the data, all from this condition on; between
    # them steps grow with its root. A start from a subsample leaves little to do if all is easy.
    easy_share: float = 0.3
    hard_condition: float = 100.0
    # Systems solved, and products with X (line searches, gap checks), for each of these steps.
    kink_systems: float = 10.0
    passes_of_a_step: float = 2.0
    # Where systems are solved by products: steps, products for a system (at most what factors and
    # the products before them cost), and what else a step takes, in products. Losses that are flat
    # where they are least take more steps if features are many for the samples and λ is small: then
    # each step meets other pieces (11 at a condition of 3, 1,000 × 1,000 numbers; 50 to 80 at
    # 3,000), half as many of a loss that is smooth. Huber's loss does not: 17 at 17,000.
    product_steps: float = 5.0
    product_steps_of_pieces: float = 6.0
    product_steps_of_kinks: float = 20.0
    meetings_of_pieces: float = 0.5
    # Features per sample from which small features count as well, since nearly all samples can be
    # fitted. With columns from 1e-3 to 1e3, 700 × 700 numbers take 12 Newton steps, or more than
    # 10,000 passes of sweeps, 500 × 700 take 51, or more than 300, and 300 × 700 take 266, or 60.
    few_samples: float = 2.0
    # Tubes are met most where samples are nearly as many as features; where they are few, all
    # can be fitted at once: 753 × 929 numbers 0.5 s by Newton steps, 0.14 by sweeps; 230 × 1,580
    # 0.08 s, and more than 0.15.
    meetings_of_tubes: float = 3.0
    overhead_of_a_step: float = 2e-4  # seconds, whatever the data are
    products_of_a_system: float = 4.0
    # ... and so many times the root of the condition for each independent feature per sample, up to
    # one: with columns of different size few directions are hard, among words thousands are.
    products_of_directions: float = 10.0
    products_of_a_quadratic: float = 25.0
    factors_of_a_system: float = 2.0
    products_of_a_step: float = 4.0

    # --- sweeps ---

    # Passes: so many, and multiples of the condition, the mean of q/γ (for kinks of q), and of its
    # root, which is more where the condition is small: with columns of different size they take
    # 60 at a condition of 10, 200 at 50 and 400 to 3,000 at 100 to 200. Words and other data with
    # many independent features for the samples take fewer (imdb, C = 100, squared hinge: 40).
    least_passes: float = 4.0
    more_passes: float = 10.0
    passes_of_condition: float = 5.0
    onset: float = 50.0  # condition from which all of these are counted
    concentrated: float = 40.0  # and samples per independent feature
    # Of the first two so many times as many if kinks lie at the targets, where samples end.
    tube_passes: float = 4.0
    # The condition counts up to here if flat losses can fit nearly all samples: 316 × 810 numbers,
    # 415 passes at 660; 226 × 335, 590 at 15,000.
    fitted_condition: float = 300.0
    # Where samples are more than so many for each feature, many of them say the same: passes grow
    # with a power of that ratio.
    many_samples: float = 200.0
    many_power: float = 0.25
    # The tol at which the numbers of steps were counted. Sweeps gain digits at a steady rate, for
    # kinks more slowly towards the end; Newton steps faster and faster.
    usual_digits: float = 4.0


TUNING = Tuning()


def newton_seconds(problem: Problem, tol: float) -> float:
    """Of a fit by Newton steps."""
    digits = max(_digits(tol), 0.25) ** 0.5
    seconds = Seconds.of(problem)
    if solves_by_products(problem, seconds):
        return float(TUNING.fixed + digits * _seconds_of_products(problem, seconds))
    systems = 1.0
    if problem.loss.quadratic:
        steps = TUNING.quadratic_steps
    elif not problem.loss.differentiable:
        steps, systems = TUNING.kink_steps, TUNING.kink_systems
    else:
        steps = TUNING.piece_steps if hasattr(problem.loss, "face") else TUNING.smooth_steps
        steps *= _share_of_steps(problem)
    step = seconds.gram + (systems - 1.0) * seconds.system
    step += TUNING.passes_of_a_step * _pass_seconds(problem)
    return float(TUNING.fixed + digits * steps * step)


def _seconds_of_products(problem: Problem, seconds: Seconds) -> float:
    """The same where systems are solved by products with the Hessian."""
    factors = TUNING.factors_of_a_system * seconds.of_factor(False)
    other = TUNING.products_of_a_step * seconds.product
    if problem.loss.quadratic:
        return float(min(TUNING.products_of_a_quadratic * seconds.product, factors) + other)
    smooth = problem.loss.differentiable
    most = TUNING.product_steps_of_pieces if hasattr(problem.loss, "face") else TUNING.product_steps
    steps = most * _share_of_steps(problem) if smooth else TUNING.product_steps_of_kinks
    if _may_be_flat(problem):
        met = _weighty_features(problem) / problem.n * _condition(problem) ** 0.5
        steps += TUNING.meetings_of_pieces * met if smooth else met
    directions = min(_independent_features(problem) / problem.n, 1.0)
    products = TUNING.products_of_directions * directions * _condition(problem) ** 0.5
    system = min((TUNING.products_of_a_system + products) * seconds.product, factors)
    return float(steps * (system + other + TUNING.overhead_of_a_step))


def _share_of_steps(problem: Problem) -> float:
    """Of those that a smooth loss takes where λ is small."""
    hard = min(_condition(problem) / TUNING.hard_condition, 1.0)
    return float(TUNING.easy_share + (1.0 - TUNING.easy_share) * hard**0.5)


def _weighty_features(problem: Problem) -> float:
    """How many features let a step meet other pieces: those of size, unless samples are few."""
    few = problem.n * TUNING.few_samples < problem.p
    if _has_tube(problem) and problem.n < problem.p:
        return _independent_features(problem) if few else TUNING.meetings_of_tubes * problem.d
    return float(problem.d) if few else _independent_features(problem)


def _has_tube(problem: Problem) -> bool:
    """Whether kinks lie at the targets, or near them."""
    return bool(problem.loss.gamma == 0.0 and problem.targets.on_scale_of_y)


def _may_be_flat(problem: Problem) -> bool:
    """Whether the loss has no curvature where a sample is fitted as well as can be."""
    loss = problem.loss
    if not loss.differentiable or not problem.targets.on_scale_of_y:
        return not loss.differentiable or hasattr(loss, "face")
    y = problem.y[0]
    return not float(loss.curvature(y.real - y.imag, y)) > 0.0


def sweeps_seconds(problem: Problem, tol: float) -> float:
    """Of a fit by sweeps."""
    condition = min(_condition(problem), _condition_of_few_samples(problem))
    tube = _has_tube(problem)
    if problem.n < problem.p and not tube and _may_be_flat(problem):
        condition = min(condition, TUNING.fitted_condition)
    passes = TUNING.least_passes + TUNING.more_passes * condition**0.5
    passes *= TUNING.tube_passes if tube else 1.0
    few = min(problem.n / (TUNING.concentrated * _independent_features(problem)), 1.0)
    hard = min(condition / TUNING.onset, 1.0) * few
    passes += TUNING.passes_of_condition * condition * hard
    passes *= max(problem.n / (TUNING.many_samples * problem.d), 1.0) ** TUNING.many_power
    passes *= max(_digits(tol), 0.25) ** (2.0 if problem.loss.gamma == 0.0 else 1.0)
    return float(TUNING.fixed + passes * _pass_seconds(problem))


def _condition(problem: Problem) -> float:
    """The mean of q/γ, for kinks of q."""
    mean = float(np.mean(problem.row_squares)) - problem.constant**2 * (problem.intercept is True)
    return float(max(mean, 0.0) / (problem.n * problem.lam * (problem.loss.gamma or 1.0)))


def _condition_of_few_samples(problem: Problem) -> float:
    """That of X Xᵀ, if samples are fewer than features: chance makes them nearly orthogonal.

    With r samples for each independent feature, the eigenvalues lie between (1 ± √r)² (Marchenko,
    Pastur 1967).
    """
    root = (problem.n / _independent_features(problem)) ** 0.5
    return ((1.0 + root) / (1.0 - root)) ** 2 if root < 1.0 else np.inf


def _independent_features(problem: Problem) -> float:
    """As how many features of one size the sizes of all features count."""
    total = float(problem.total_square) - problem.n * problem.constant**2
    return float(max(total**2 / max(_sum_of_fourths(problem), SMALLEST), 1.0))


def _sum_of_fourths(problem: Problem) -> float:
    """Σ_j ‖x_j‖⁴."""
    if problem.by_rows and storage.is_sparse(problem.X) and not storage.is_coded(problem.X):
        return squared_column_squares(problem.X)
    squares = problem.column_squares[: problem.p]
    return float(np.sum(squares * squares))


def _digits(tol: float) -> float:
    """Relative to the usual ones."""
    return float(-np.log10(np.clip(tol, 1e-14, 0.1)) / TUNING.usual_digits)


def _pass_seconds(problem: Problem) -> float:
    """Of one visit to each sample."""
    sparse = storage.is_sparse(problem.X)
    entry = TUNING.sparse_entry if sparse else TUNING.dense_entry
    exponentials = not (hasattr(problem.loss, "face") or not problem.loss.differentiable)
    costly = exponentials and not problem.loss.quadratic
    sample = TUNING.costly_sample if costly else TUNING.sample
    return float(problem.entries * entry + problem.n * sample)
