"""The constants of sweeps and steps on faces: what each one trades, and where it was measured.

Measurements are passes or wall-clock times to a certified gap on the data named. "Not measured"
means that the value was chosen by its order of magnitude, and that no experiment on record compares
others.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Every constant that changes the path of a run, and none that changes its optimum."""

    # --- rounds of sweeps (sweeps.py) ---

    # Updates of a round, for each sample: more work between gap checks, each of which costs half an
    # update a sample. For losses with kinks the later half is averaged, which brought the objective
    # two to three times closer to the optimum (hinge on rcv1). Other values were not measured.
    updates: float = 2.25
    smooth_updates: float = 1.0
    # Sweeps of a round over samples that still move, or levels of their gaps. If few samples move,
    # 20 end a round long before it has cost as much as its gap check: hinge on w8a, 25 passes and
    # 25 checks with 60, 38 and 54 with 20.
    most_sweeps: int = 60

    # --- rounds over all unresolved samples, for smooth losses (sweeps.py) ---

    # Up to so many samples a gap check costs more than the sweeps that it would save.
    few_samples: int = 2000
    # Sweeps of such a round, at most, and if they converge slowly.
    most_full_sweeps: int = 12
    slow_sweeps: int = 6
    # Sweeps converge slowly if each reduces the expected gap by less than this factor ...
    slow_rate: float = 0.5
    # ... and, with many samples, only faster ones go over all samples. Logistic on rcv1 to 1e-5: 2
    # gap checks and 5.5 passes instead of 6 and 7.5; at λ = 0.01/n, where convergence is slow,
    # samples chosen by their gaps take 14 passes and all samples 46.
    fast_rate: float = 0.3
    # If more than this share of the samples moves, sweeps omit none. Omitting samples at a bound
    # saves a quarter to a third of the time (squared hinge on rcv1, where 40 % move, and reuters).
    most_movers: float = 0.6
    # Limits for the ratio of the gap to the one that sweeps expected.
    least_trust: float = 1e-3
    most_trust: float = 1e3
    # Entries of rows on disk that are visited one after the other: a disk reads them in one piece.
    # 6 GB of rows were solved to 1e-3·P(0) in 11 s with 241 MB of memory.
    disk_entries: int = 4_000_000

    # --- steps on faces (face.py) ---

    # Iterations of conjugate gradients: fewest, first and most. They grow by ``longer`` after steps
    # of more than half the proposed length, and shrink by ``shorter`` after others. Not measured.
    fewest_iterations: int = 5
    first_iterations: int = 30
    most_iterations: int = 200
    longer: float = 1.5
    shorter: float = 0.7
    # ... and for a quadratic loss, which has one face: 8 iterations reach 1e-6 on dorothea.
    quadratic_iterations: int = 1000
    # Rounds before the first step on a face: sweeps have to find it first.
    first_rounds: int = 2
    # Rounds without steps on the face after some that gained less than sweeps: doubled up to this.
    longest_wait: int = 8
    # Iterations end when this share of the variables is beyond its kinks: with 0.03 the hinge on
    # rcv1 took a fifth more passes.
    outside: float = 0.003
    # ... or when the samples of the face contribute less than this fraction of the target gap.
    face_gap: float = 0.3

    # --- a free intercept (free_intercept.py) ---

    # κ, in units of the curvature that an average sample has without it. Larger ones shorten steps
    # (hinge, logistic and squared hinge on rcv1, w8a, a9a: up to a third more sweeps with 1), much
    # smaller ones need as many sweeps to find b (logistic on a9a at C = 0.01: 25 passes with 0.01,
    # 13 with 0.03, 6 with 0.1 to 1).
    intercept_share: float = 0.1
    # Samples whose median norm is that of an average sample.
    intercept_samples: int = 10_000
    # The mean of q/γ up to which b moves to the best intercept of a gap check. 60,000 samples with
    # 12 of 120 features and C = 0.01, logistic and squared hinge: 6 and 7 passes instead of 9 and
    # 11. At a mean of 0.3 (logistic, C = 1) they would take 9.5 instead of 7.
    independent_condition: float = 0.1
    # With kinks b moves there if that is so many times as far as its last change.
    far_intercept: float = 8.0
    # What the balance and the intercept of a gap check may cost, in units of the target gap.
    intercept_gap: float = 0.02
    # The first stride of the search for the best intercept, and the trials of either half of it:
    # enough for a factor of 1e18.
    least_stride: float = 1e-6
    intercept_trials: int = 60

    # --- the kernel matrix (kernel_matrix.py) ---

    # Up to so many samples the matrix costs less than a few passes over X. Not measured.
    kernel_samples: int = 200
    # Added to its diagonal, relative to the largest entry, if it is singular to rounding.
    kernel_ridges: tuple[float, ...] = (1e-15, 1e-12)


TUNING = Tuning()
