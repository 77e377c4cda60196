"""The constants of working sets of groups: what each trades. Those of the sets are in
``working_set/tuning.py``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Every constant that changes the path of a run, and none that changes its optimum."""

    # Proximal steps on a block before its move goes into the gradients of all others: they cost the
    # square of its size, the move that times the set. Not measured.
    local_steps: int = 4
    # ... which end when a step is this fraction of the first one.
    local_accuracy: float = 0.1
    # Sweeps over all blocks of a set, each followed by sweeps over those that move. Not measured.
    rounds: int = 200
    # Sweeps between two Newton steps on the support, at least ...
    least_sweeps: int = 3
    # ... and so many that they multiply as often as a Newton step, which is that much faster.
    solve_speed: float = 18.0
    # ... and for sweeps over columns, which wait for memory: 1,000 x 5,000 numbers at 0.02 λ_max,
    # 1.1 s with 18, 0.9 s with 150.
    column_solve_speed: float = 150.0
    # Coefficients of the largest system of a Newton step: a tenth of a second.
    most_in_system: int = 1500
    # Newton steps in a row, and cuts of one that does not decrease the model.
    newton_steps: int = 8
    newton_cuts: int = 4
    # Added to the diagonal, relative to it, for features that others can replace.
    ridge: float = 1e-12
    # Newton steps over columns: the share of a norm's curvature that is added along its ray, in the
    # beginning, at least, and after a full and after a shorter step. 200 x 5,000 numbers at 0.01
    # λ_max: 25 steps, where 37 were taken with a fixed term of 1e-7 times the curvature of losses.
    first_share: float = 0.1
    least_share: float = 1e-6
    share_after_full: float = 0.3
    share_after_short: float = 10.0
    # ... and a proximal term, relative to the curvature of a block, where a norm has none.
    damping: float = 1e-7
    # Entries of the columns that may be copied at once: 64 MB.
    copied_entries: int = 8_000_000
    # The largest blocks whose curvatures over dense columns are eigenvalues of their Gram matrices,
    # and not power iterations, which read the columns 20 times.
    dense_block: int = 64
    # Power iterations for the largest eigenvalue of a block, and what their result is raised by:
    # steps decrease the model as long as it is more than half of the eigenvalue.
    power_steps: int = 10
    power_margin: float = 1.1
    # Models end at this fraction of the first violation, once the set is complete: the next gap
    # check costs as much as two sweeps. Not measured.
    left_at_end: float = 0.01
    # Steps over the columns of a dense set cost the number of samples, those by a Gram matrix that
    # of features: with more features than samples, and than this, the former take over. Group
    # lasso, 1,000 × 5,000 numbers at 0.02 λ_max: 4.0 s by Gram matrices of up to 2,000 features.
    small_gram: int = 400


TUNING = Tuning()
