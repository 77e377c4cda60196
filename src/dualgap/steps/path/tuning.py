"""The constants of paths: what each one trades, and where it was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """None changes what a path finds, only when it stops looking and who looks."""

    # --- when a path follows the Gram matrix of all features (moments.py) ---

    # The most features: bounds each matrix to 32 MB and its own passes to the cache.
    most_features: int = 2000
    # Products for the matrix of sparse data, as passes over its entries. A path of 100 λ makes two
    # passes for each.
    sparse_passes: float = 200.0
    # Rows whose mean columns are centred around; what remains is subtracted later.
    rows_of_mean: int = 1000
    # Numbers of a block of rows that is centred and multiplied: 2 MB, which caches hold.
    block_numbers: int = 250_000
    # A column whose variance is a smaller share of its second moment is looked at: is it constant?
    # Otherwise too many digits are lost, and the general method solves the fold.
    least_variance: float = 1e-9

    # --- when a path works on dense columns of a set (column_path.py) ---

    # The most samples: with more, columns of sparse data are better left sparse. Sets have at most
    # ``most_features``, which bounds the columns to 32 MB.
    most_samples: int = 2000

    # --- the minimum at one λ (gram_minimum.py) ---

    # A direct solve of k equations, k³/6 multiplications, is tried once sweeps have made this share
    # of as many. It replaces several sweeps if features are correlated.
    solve_speed: float = 8.0
    # Multiplications of repeated solves, each of which lets a feature leave.
    repeated_solves: float = 1e6
    # Added to the diagonal, relative to it, for features that others can replace.
    ridge: float = 1e-12
    # A minimum on some features is accurate enough at this share of the target: new features may
    # add to the gap.
    share_of_target: float = 0.3
    # ... and is that share times this if no feature was missing.
    more_accurate: float = 0.1
    # Sets of features at one λ. Each but the last few adds features.
    sets: int = 50
    # Sweeps at one λ; the general method then solves the point.
    most_sweeps: int = 3000

    # --- trust (gram_path.py) ---

    # Rounding errors of the gap, in units of EPS and of squared sizes. Entries of a Gram matrix are
    # sums whose errors grow like the root of their length; 16 covers a million.
    rounding: float = 16.0
    # A gap whose rounding errors may exceed this share of the target is not used.
    trusted_share: float = 0.25
    # Multiplications between two looks at Ctrl-C: a tenth of a second.
    uninterrupted: float = 2e8


TUNING = Tuning()
