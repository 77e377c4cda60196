"""The constants of Newton steps: what each one trades, and where it was measured.

Measurements are wall-clock times to a certified gap on the data named. "Not measured" means that
the value was chosen by its order of magnitude, and that no experiment on record compares others.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Every constant that changes the path of a run, and none that changes its optimum."""

    # --- stages (newton.py) ---

    # A stage ends when its Newton decrement falls below this fraction of how far its multipliers
    # have moved: fewer steps a stage against more stages. Not measured.
    stage_accuracy: float = 0.1
    # ... or below this fraction of the target gap, where more accuracy can no longer pay. Not
    # measured.
    negligible: float = 0.01
    # The width of rounded kinks is multiplied by this after each stage: fewer stages against more
    # steps in each. Not measured.
    narrowing: float = 0.3
    # A stage that took more steps than this keeps its width: the next one would be harder still.
    slow_stage_steps: int = 12
    # Widths stay so large that rounding errors of u are this much smaller than the bounds of a
    # penalty with kinks. Of 480 badly scaled problems none stalls, together with ``widening``.
    rounding_margin: float = 300.0
    # Steps between two gap checks while the gap is known to exceed the target. A gap check costs a
    # pass; more steps would delay callbacks and time limits. Not measured.
    steps_between_checks: int = 4

    # --- steps on the samples near their kinks (newton.py) ---

    # Steps on a subset or a sample before all samples are evaluated. The hinge on w8a takes 13
    # passes over all samples, and 53 without subsets.
    subset_steps: int = 20
    # Decision values may next move this many times as far as last time; after a short step, this
    # many times as far as had been assumed: more samples a step against more line searches on all.
    reach_growth: float = 4.0
    # Steps below this length say that the reach was too short.
    short_step: float = 0.5
    # Steps above this length were as good on all samples as on the subset.
    full_step: float = 0.9
    # Subsets with a larger share of the samples save too little to be worth a copy. Not measured.
    largest_subset: float = 0.5

    # --- the start from a random sample (newton.py) ---

    # The sample has 1/divisor of the samples, and at least so many for each feature. The logistic
    # loss on covtype takes 3 steps on all data, and 7 without a sample.
    sample_divisor: int = 10
    samples_per_feature: int = 20
    # Smaller samples (and subsets of smaller problems) save less than their overhead; larger shares
    # save too little. Not measured.
    least_samples: int = 500
    largest_sample: float = 0.2
    # A sample is solved to this fraction of P(0), or to ``sampling_error``·d/n of it: chance moves
    # its minimum by about d/n of its objective, so that more accuracy would be wasted.
    sample_accuracy: float = 1e-3
    sampling_error: float = 0.2

    # The Hessian of the sample serves all samples, if their own costs more than so many passes over
    # the data, for a quadratic loss and for others. A step then takes two passes, and leaves about
    # the root of d/n of the error. Logistic, 1,000,000 x 50 numbers: as many steps, and two Gram
    # matrices less. From 1.2 instead of 2, 100,000 x 20 numbers: Gamma 17 ms instead of 21, Poisson
    # 14 instead of 19.
    estimate_from: float = 1.2
    estimate_from_quadratic: float = 10.0
    # Products that BLAS adds up while a pass over a dense matrix reads an entry.
    products_per_read: float = 12.0
    # ... unless a feature has less than this share of its mean square in the sample: rare features
    # would be unknown.
    least_sampled: float = 0.2
    # ... and as long as each step multiplies the Newton decrement by no more than this.
    estimate_progress: float = 0.1
    # Estimates are corrected by the changes of gradients while curvatures along steps are at least
    # this share of the estimated ones. Not measured.
    least_curvature_share: float = 1e-3

    # --- the balance of free features (envelope.py) ---

    # A move of the dual point below this share of its length is rounding. Not measured.
    rounding_of_balance: float = 1e-10
    rough_balance: float = 1e-6  # ... with the precision of float32

    # --- the line search (descent.py) ---

    # The slope that may remain, relative to the first, at length 1 and at other lengths. Strict
    # searches save a step or two on a sample ...
    slope_left: float = 0.2
    slope_left_later: float = 0.3
    # ... except where another stage follows: there 0.2 cost a third more (hinge on a9a).
    slope_left_in_stages: float = 0.9
    # The slope allowed beyond the minimum, where Ψ might have grown.
    slope_beyond: float = 1e-3
    # Goals at kinks beyond the minimum are accepted if Ψ falls by this fraction of the slope.
    # Searching for a zero of the slope took up to 60 trials (logistic with L1 on a9a).
    enough_decrease: float = 0.01
    trials: int = 60

    # --- damping (descent.py), relative to the largest curvature that samples can have ---

    # Starting value where curvatures may vanish (kinks). More damping shortens Newton steps, less
    # lets singular systems send them astray. Not measured.
    first_damping: float = 1e-9
    least_damping: float = 1e-12
    # Hessians of float32 data have the precision of float32 until a step has left more than this
    # share of the decrement of the one before.
    rough_progress: float = 0.5
    most_damping: float = 1e-4
    damping_factor: float = 100.0
    # A step below this length, or a predicted decrease above so many P(0), calls for more damping.
    blocked_step: float = 1e-6
    absurd_decrease: float = 100.0

    # --- the minimum of a model with a kinked penalty (descent.py) ---

    # Rounds of coordinate steps and direct solves, and sweeps of a round. Since solves follow each
    # other until none is cut short, models end long before: a9a with L1 at 1e-4 λ_max took 100
    # rounds before that, and takes 31 ms in place of 115 since.
    model_rounds: int = 100
    model_sweeps: int = 30
    # The model is minimal when a sweep gains less than this fraction of all gains: what rounding
    # errors of the gains allow.
    model_accuracy: float = 1e-13
    # ... or than this fraction where the losses have kinks: stages need no more than a few digits.
    # Median and L1, 300 x 1000 and 500 x 500 numbers: less than half the time of 1e-13.
    model_accuracy_in_stages: float = 1e-4
    # A row of a Hessian that is copied before it is multiplied costs as much as so many others.
    gathered_rows: int = 3
    # Coefficients that reach their kink within this relative distance of the first one stop, too.
    same_kink: float = 1e-12
    # Added to the diagonal of a system whose diagonal is 1: a few times the rounding error.
    ridge: float = 1e-15

    # --- rounded kinks (envelope.py) ---

    # The distance, in widths, at which slopes are compared for a curvature: short enough to stay on
    # one piece, long enough for rounding errors. Not measured.
    probe: float = 1e-4
    # Widths below this fraction of the first let rounding errors decide where a kink is.
    least_width: float = 1e-8
    # The width is multiplied by this when only rounding errors of the dual point are left. Of 480
    # badly scaled problems up to three stalled without that.
    widening: float = 10.0
    # Hessians are updated if at most this share of the curvatures changed; otherwise a new Gram
    # matrix costs less.
    changed_curvatures: float = 0.5
    # ... and if no diagonal entry falls below this fraction, where cancellation would show.
    kept_diagonal: float = 0.1

    # --- systems solved by products with the Hessian (systems.py) ---

    # Conjugate gradients end when the residual has fallen by this factor in the metric of the
    # preconditioner ...
    forcing: float = 0.2
    forcing_quadratic: float = 1e-6
    # ... or adds less than this share of the target to the gap.
    residual_share: float = 0.3
    # ... or when the slope beyond a step is this multiple of the slope before it, which is looked
    # at after so many products and after twice as many each time.
    overshoot: float = 0.5
    first_check: int = 8
    most_products: int = 1000
    # Newton steps on a free intercept after each system: the most of them, and until they gain less
    # than this share of what residuals may leave.
    intercept_steps: int = 5
    intercept_share: float = 1e-3
    # Means and squares of the features under earlier weights serve again after so few products.
    moments_products: int = 20
    # A factor that costs less than so many products is computed at once.
    factor_products: float = 6.0
    kernel_samples: int = 5000
    # Seconds, of which only ratios matter: for each product, and for each entry of X ...
    product_seconds: float = 2e-5
    dense_entry_seconds: float = 2.5e-10
    sparse_entry_seconds: float = 2e-9
    sample_seconds: float = 4e-9
    # ... and for each multiplication of a Gram matrix and of a Cholesky factor.
    dense_product_seconds: float = 6e-11
    sparse_product_seconds: float = 7e-10
    scipy_product_seconds: float = 3e-9
    system_product_seconds: float = 6e-11


TUNING = Tuning()
