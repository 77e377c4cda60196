"""Every number of this room that trades time for sharpness. None can make a certificate wrong.

Constants that a bound rests on stand beside the bound, with what they cover.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Each field says what it trades; docs/decisions has the measurements that are named."""

    # --- certificate.py ---
    # Double-double sums are taken if rounding accounts for more than this share of the gap. They
    # take ten times as long as float64 sums.
    rounding_share: float = 1e-3
    # Entries of X from which ``prove`` first tries bounds that need no norms against the order of
    # storage: these norms take five times as long as those along it.
    cheap_bounds_entries: int = 100_000

    # --- dual_point.py ---
    # Attempts to shrink a dual point into the domain of g* before it becomes 0. Not measured: each
    # attempt goes four times as far beyond the bound as the one before.
    max_shrinks: int = 8
    # The relative shrinkage that makes room for a balance if all dual variables lie at their
    # bounds. It costs about as large a share of D(a). Not measured.
    shrink_for_balance: float = 2.0**-40

    # --- small_point.py ---
    # The share of the room of all dual variables that a balance may take up. Above it, searches for
    # a better balance pay: far from the optimum of a quantile loss the gap was 4 times smaller.
    largest_share: float = 1e-3
    # The share of the bound on rounding errors of a balance below which a better balance is
    # useless. Without it six corrections took 190 of the 540 µs of a proof (20,640 × 8).
    useless_balance: float = 0.01
    # A sample makes the exact balance if that takes at most this share of its room, so that it
    # costs next to nothing. Not measured: the first sample mostly does.
    ample_room: float = 1e-6

    # --- balance.py, balance_kinks.py, balance_blocks.py ---
    # Newton steps for one balance; a search that needs more has no solution. Not measured.
    max_newton_steps: int = 60
    # Imbalance relative to ‖c a‖ at which Newton steps end and corrections begin. Not measured.
    newton_tolerance: float = 1e-13
    # Corrections of the last rounding errors; most points need one or two. Not measured.
    max_corrections: int = 6
    # Doublings and cuts of one line search. Not measured: both only bound hopeless searches.
    max_doublings: int = 60
    max_cuts: int = 80
    # The cosine of the angle between a Newton step and the gradient below which the step is
    # replaced by the gradient. Not measured.
    least_cosine: float = 1e-8
    # The relative step of finite differences: half of the digits. Not measured.
    difference_step: float = 1e-6
    # Shares of the uniform distribution that are mixed into a block's dual point, in turn, until a
    # balance exists. Larger ones cost more of D(a). Not measured.
    mixed_shares: tuple[float, ...] = (0.0, 1e-8, 1e-4, 1e-2, 1.0)
    # A class all of whose shares are below this one is left out of a balance that is hard to find;
    # that costs about as much of D(a), times their logarithms.
    settled_share: float = 1e-10

    # --- free_features.py ---
    # Searches for a balance take free columns as they are if others leave more than this share of
    # each unexplained, else orthogonal ones. In large sparse data, where there are no others, a
    # column that leaves less counts as dependent. Not measured.
    independent_share: float = 1e-3
    # A free column counts as independent if others leave more than this share of it unexplained.
    # Below it the bound on what an exact balance moves would not hold in float64.
    least_share: float = 1e-12
    # Dependent columns are looked for among combinations with multiples of 1/1024, which covers
    # one-hot codes and their sums.
    combination_denominator: int = 1024
    # Entries of distinct rows above which that check, in fractions, is left out for its time. Not
    # measured.
    max_fraction_entries: int = 1 << 20
    # Numbers of dense free columns above which those of sparse data stay in X. Not measured.
    dense_free_columns: int = 1 << 20
    # Then a ballast is looked for among so many samples: more cost time, fewer have less room. Not
    # measured.
    ballast_sample: int = 1 << 12
    # The share of its room that a dual variable of the ballast may use. Not measured.
    used_room: float = 0.5

    # --- terms.py (docs/performance.md) ---
    # Samples from which threads share a sum, and those whose terms take exponentials or logarithms.
    threaded_samples: int = 1 << 16
    threaded_costly_samples: int = 1 << 14
    # The most samples of one piece of a sum, and with bounds on errors, which take vectors of that
    # length. A single thread adds up the same pieces, so that threads do not change the result.
    piece: int = 1 << 16
    bounded_piece: int = 1 << 14
    # Entries of temporary vectors that fit into a cache, yet are long for NumPy. Not measured.
    short_vector: int = 1 << 12

    # --- radius.py ---
    # The search for the end of an interval: a factor, then halvings of its logarithm. The radius is
    # at most 8^(1/16) = 1.14 times as large as need be.
    radius_stride: float = 8.0
    radius_halvings: int = 4


TUNING = Tuning()
