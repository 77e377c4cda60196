"""The constants of Newton steps for many classes: what each trades, and where it was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Every constant that changes the path of a run, and none that changes its optimum."""

    # --- steps (newton_cg.py) ---

    # Steps between two gap checks while the gap is known to exceed the target. A gap check costs
    # several passes; more steps would delay callbacks and time limits. Not measured.
    steps_between_checks: int = 4
    # The same for small data, and their size, samples times coefficients: a step takes 0.1 ms.
    small_steps: int = 20
    small_data: int = 1 << 18
    small_share: float = 0.01  # in place of ``safe_share``: one more step, at quadratic convergence
    # Multiplications of a step, and decision values, up to which one kernel makes all steps
    # (small_run.py). It multiplies at a fifth of the speed of BLAS, and saves the 0.15 ms that
    # NumPy takes to call it; and plain Python, if it has to do, takes 0.1 µs a multiplication.
    one_call_work: float = 3e5
    one_call_values: int = 8192
    # Steps are made until the expected gap is below this share of the target: the balance of free
    # features and the bounds on rounding errors add to it. Not measured.
    safe_share: float = 0.8
    # Newton steps that balance the free features. Convergence is quadratic; more are hopeless.
    balance_steps: int = 20
    # Subtractions of the mean of intercepts; the second one already finds only rounding errors.
    centrings: int = 5
    # More constraints than this are left to the certificate: their Hessian would be too large.
    balanced_constraints: int = 2000

    # --- the line search (newton_cg.py) ---

    # The slope that may remain at length 1 and later, relative to the first. Not measured.
    slope_left: float = 0.5
    # Ψ may grow by this share of itself, which is rounding.
    rounding: float = 1e-13
    trials: int = 40

    # --- the start from a random sample (newton_cg.py) ---

    # The sample has 1/divisor of the samples, and at least so many for each feature.
    sample_divisor: int = 10
    samples_per_feature: int = 20
    # Smaller samples save less than their overhead, larger shares save too little. Not measured.
    least_samples: int = 500
    largest_sample: float = 0.2
    # A sample is solved until a step promises less than this share of the objective for each
    # coefficient and sample: chance moves its minimum by more.
    sampling_error: float = 0.02
    # ... or until its mean loss is below this share of that ratio, where the sample is fitted so
    # well that other samples are not: pendigits takes 0.39 s then, and 0.48 s without.
    overfit: float = 0.5
    sample_steps: int = 30

    # --- how a system is solved (system.py) ---

    # Multiplications of a whole Hessian up to which nothing else is considered, and those that it
    # may cost relative to a product with the Hessian.
    small_hessian: float = 5e7
    products_per_hessian: float = 15.0
    largest_hessian: int = 2000  # coefficients
    # ... and relative to that where few samples have one: the multiclass hinge on digits took 350
    # steps by conjugate gradients.
    products_per_kinked_hessian: float = 100.0
    # The same for a preconditioner with a matrix for each class, and for one with a matrix of
    # correlations that all classes share.
    products_per_blocks: float = 15.0
    products_per_shared: float = 20.0
    largest_block: int = 2000  # features
    # Samples for each feature that a preconditioner is computed from, at least, and the most
    # numbers of the samples beyond that, which bounds their memory.
    most_numbers: int = 1 << 20
    rows_per_feature: int = 20
    shared_rows_per_feature: int = 3
    # Conjugate gradients end when the residual has fallen by this factor in the metric of the
    # preconditioner ...
    forcing: float = 0.1
    # ... or when it adds less than this share of the target to the gap ...
    negligible: float = 0.3
    # ... or when the objective gains less than this share of what its model promises, which is
    # checked after so many products and after twice as many each time ...
    kept_promise: float = 0.25
    first_check: int = 8
    # ... or after so many products.
    most_products: int = 250
    # After such a step, or one that the line search has cut below this length, the largest
    # curvature that losses can have is added, times a damping. The damping grows by this factor,
    # and falls after good steps. Raw counts (news20) have rows whose curvature all but vanishes.
    short_step: float = 0.2
    first_damping: float = 1e-3
    damping_factor: float = 5.0
    least_damping: float = 1e-7


TUNING = Tuning()
