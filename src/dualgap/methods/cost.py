"""What a fit should cost by Newton steps and by sweeps, for losses with one decision value.

Both costs are numbers of steps or passes, which depend on the loss, the condition of the problem
and ``tol``, times the seconds of one, which depend on the shape of X. Only their ratio matters;
benchmarks/auto_regret.py measures what the choice costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualgap.linalg import storage
from dualgap.problem import Problem


@dataclass(frozen=True)
class Tuning:
    """Seconds of the parts, in one thread, and how often each is repeated.

    Fitted to five shapes of benchmarks/auto_regret.py (20,000 × 20 to 10,000 × 1,500; hinge,
    logistic, squared hinge; C = 0.01 to 100), on a busy machine: most costs are met within a factor
    of two.
    """

    # --- seconds ---

    fixed: float = 5e-3  # of a fit, whatever the data are
    sparse_entry: float = 3e-9  # to read an entry of a sparse row, and add to its place
    dense_entry: float = 2e-9
    sparse_product: float = 7e-10  # of a Gram matrix
    dense_product: float = 6e-11  # by BLAS
    system_product: float = 1.2e-10  # of a Cholesky factor; there are few rows for BLAS
    sample: float = 4e-8  # of a step of a sample, or of a response of the loss to z ...
    costly_sample: float = 1e-7  # ... if that takes exponentials

    # --- Newton ---

    # Steps on all data at a moderate tol, as far as the Gram matrix is concerned: a quadratic loss
    # is its own model; Hessians of quadratic pieces are updated; for kinks there are several stages
    # whose steps see few samples.
    quadratic_steps: float = 1.0
    smooth_steps: float = 3.0
    piece_steps: float = 4.0
    kink_steps: float = 10.0
    # Systems solved, and products with X (line searches, gap checks), for each of these steps.
    kink_systems: float = 10.0
    passes_of_a_step: float = 5.0

    # --- sweeps ---

    # Passes: so many, and a multiple of a power of the condition, the mean of q/γ (for kinks of q):
    # a9a, w8a and rcv1 at C = 0.01 to 100 take 3 to 250.
    least_passes: float = 4.0
    more_passes: float = 10.0
    power: float = 0.5
    # Where samples are more than so many for each feature, many of them say the same: passes grow
    # with a power of that ratio.
    many_samples: float = 200.0
    many_power: float = 0.25
    # How much longer than in the order of storage a pass in random order takes, checks included.
    random_order: float = 2.2
    # The tol at which the numbers of steps were counted. Sweeps gain digits at a steady rate, for
    # kinks more slowly towards the end; Newton steps faster and faster.
    usual_digits: float = 4.0


TUNING = Tuning()


def newton_seconds(problem: Problem, tol: float) -> float:
    """Of a fit by Newton steps."""
    sparse = storage.is_sparse(problem.X)
    counts = problem.row_counts
    products = 0.5 * float(np.sum(counts * counts))
    gram = products * (TUNING.sparse_product if sparse else TUNING.dense_product)
    system = problem.d**3 / 3.0 * TUNING.system_product
    systems = 1.0
    if problem.loss.quadratic:
        steps = TUNING.quadratic_steps
    elif not problem.loss.differentiable:
        steps, systems = TUNING.kink_steps, TUNING.kink_systems
    else:
        steps = TUNING.piece_steps if hasattr(problem.loss, "face") else TUNING.smooth_steps
    steps *= max(_digits(tol), 0.25) ** 0.5
    step = gram + systems * system + TUNING.passes_of_a_step * _pass_seconds(problem)
    return float(TUNING.fixed + steps * step)


def sweeps_seconds(problem: Problem, tol: float) -> float:
    """Of a fit by sweeps."""
    loss = problem.loss
    mean = float(np.mean(problem.row_squares)) - problem.constant**2 * (problem.intercept is True)
    kinked = loss.gamma == 0.0
    condition = max(mean, 0.0) / (problem.n * problem.lam * (1.0 if kinked else loss.gamma))
    passes = TUNING.least_passes + TUNING.more_passes * condition**TUNING.power
    passes *= max(problem.n / (TUNING.many_samples * problem.d), 1.0) ** TUNING.many_power
    passes *= max(_digits(tol), 0.25) ** (2.0 if kinked else 1.0)
    return float(TUNING.fixed + passes * TUNING.random_order * _pass_seconds(problem))


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
