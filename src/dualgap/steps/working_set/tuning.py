"""The constants of working sets: what each one trades, and where it was measured.

Measurements are wall-clock times to a certified gap on the data named. "Not measured" means that
the value was chosen by its order of magnitude, and that no experiment on record compares others.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Every constant that changes the path of a run, and none that changes its optimum."""

    # --- the working set (working_set.py) ---

    # Features beyond the support that a set may always have: fewer gap checks against larger
    # models. Not measured.
    spare_features: int = 100
    # ... and as a multiple of the support, if all of the last set has become support.
    growth: float = 2.0
    # If a smaller share of the set is support, the other features leave it. Not measured.
    least_support: float = 0.2
    # With a quadratic loss and no more features than this, one set has all features: a second gap
    # check would cost as much as the rest of their Gram matrix.
    all_features: int = 200
    # A set that no feature is missing from counts as final, and its models are solved accurately,
    # if it has no more features than this (its minimum is cheap) ...
    small_set: int = 400
    # ... or if at most this share of its features is new.
    new_features: float = 0.05
    # Sets between two gap checks while features alone contribute more to the gap than the target:
    # saves a tenth of the time on leukemia.
    sets_between_checks: int = 4

    # Features of a dense X by rows from which only the columns of sets are copied, instead of all:
    # 2,000 x 20,000 numbers, a third of the time of a Lasso and 290 of 320 MB; 20,000 x 500, 68 →
    # 42 ms. Fewer features may all be part of a set.
    copied_from: int = 200

    # Rows that tell whether any column lies far from 0, which a pass over X then measures: 2,000 x
    # 5,000 numbers with means of up to 60 times their spread were not solved in a minute.
    inspected_rows: int = 64

    # --- models on a set (working_set.py) ---

    models_per_set: int = 10
    # The models of a set end when violations fall to this fraction of those it began with: accurate
    # solutions against new features sooner. Not measured.
    violation_left: float = 0.1
    # Violations below this fraction of the target no longer matter.
    negligible: float = 0.1
    # A model may leave this fraction of the first violation, if the set is going to grow (a tenth
    # instead of a thousandth halved the time of logistic problems with L1 on leukemia) ...
    rough_model: float = 0.1
    # ... and this one if the set is final.
    fine_model: float = 1e-3
    # A Gram matrix is computed again when a model made with it left more than this fraction of the
    # violation, i.e. gained less than a factor of 5 (logistic on rcv1: a fifth of the time).
    stale_model: float = 0.2
    # The least curvature of a step, relative to its bound: keeps steps on flat features finite.
    least_curvature: float = 1e-3

    # --- coordinate steps over columns (working_set.py, column_kernels.py) ---

    # Sweeps for the next model: doubled after a full step, halved after a shorter one, between
    # these limits. Models solved too well promise too much: on rcv1 at 0.001 λ_max 0.38 s with 50
    # sweeps each became 0.18 s.
    first_sweeps: int = 4
    least_sweeps: int = 2
    most_sweeps: int = 50
    # ... and for a quadratic loss, whose only model is exact.
    quadratic_sweeps: int = 100
    # Sweeps end at this fraction of the first violation.
    columns_left: float = 0.1
    # Sweeps between two extrapolations (Anderson acceleration, as in celer and skglm). On rcv1 with
    # 5,200 features in the support a Lasso took 9 gap checks to 1e-4 instead of 16.
    extrapolated_sweeps: int = 6
    # Keeps the system of the extrapolation regular.
    extrapolation_ridge: float = 1e-12

    # --- the floor of curvatures, relative to the largest possible (working_set.py) ---

    # Flat losses let models promise too much; high floors make steps short. Logistic with L1 at
    # 0.0001 λ_max: 0.58 s without a floor, 0.29 s with it (the data set is not on record).
    first_floor: float = 0.1
    # The floor after a short step, at least.
    raised_floor: float = 0.02
    # Below this the floor becomes 0.
    no_floor: float = 1e-3
    # It is divided by this after a full step, and multiplied by it after a short one.
    floor_factor: float = 4.0
    # The length below which a step counts as short.
    short_step: float = 0.5

    # --- the line search (line_search.py) ---

    # The share of the promised decrease that a step must achieve (Armijo).
    enough_decrease: float = 0.01
    # Steps below this length are given up.
    shortest_step: float = 1e-8
    # Rounding errors of objectives that are compared, in units of the machine precision.
    objective_rounding: float = 8.0

    # --- when a Gram matrix pays (gram_model.py) ---

    # The most features of a Gram matrix, which bounds its memory to 50 MB.
    most_features: int = 2000
    # ... and the most entries in the mean row of a sparse set, for losses whose curvatures change
    # and for quadratic ones. With 1,739 features of rcv1, 33 entries in a row, a Gram matrix took
    # 1.8 s where steps over columns take 0.1 s; ``gram_to_columns`` excludes that case.
    most_row_entries: int = 100
    most_row_entries_quadratic: int = 300
    # ... and the most entries of the matrix, relative to those of the columns it replaces. Lasso on
    # dorothea at 0.001 λ_max: 1.3 s became 0.36 s.
    gram_to_columns: float = 2.0

    # --- how a sparse Gram matrix is summed (gram_model.py) ---

    # Entries of a block of rows, so that it fits into the cache, and its least number of rows. On
    # rcv1 with 781 features 30 ms, where column by column would take 300 ms.
    block_entries: int = 20_000
    block_rows: int = 64
    # The same for the columns of a dense matrix, which are copied to float64.
    dense_entries: int = 500_000
    # Products, in all and for each entry of the matrix, that are worth a second thread.
    threaded_products: int = 1_000_000
    threaded_products_per_entry: int = 4

    # --- the minimum of a Gram model (gram_kernels.py) ---

    # Sweeps before the first direct solve, and at least between two of them.
    sweeps_before_solve: int = 10
    sweeps_between_solves: int = 3
    # How much faster a direct solve multiplies than sweeps do (6), times the 3 of n³/3.
    solve_speed: float = 18.0
    # Rounds of sweeps and solves.
    rounds: int = 50
    # Multiplications of repeated solves, times 3, before the next sweep. Each solve lets a feature
    # leave that others can replace. Lasso on leukemia at 0.001 λ_max: 187 ms became 20 ms.
    repeated_solves: float = 4e9
    # Solves are repeated if the support is at most this large, or after so many rounds. Lasso on
    # madelon at 0.001 λ_max: without the latter not solved in 4 s, with it 0.13 s.
    small_support: int = 128
    patient_rounds: int = 2
    # Added to the diagonal, relative to it, for features that others can replace.
    ridge: float = 1e-10


TUNING = Tuning()
