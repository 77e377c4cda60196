"""The tuning constants of distributed fits: what each one trades, and where it was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """None of them changes what a certificate says, only how soon there is one."""

    # Partitions that a problem in memory is cut into. More of them keep more workers busy, but take
    # more rounds: docs/distributed.md counts 3 rounds with one partition and 61 with 8.
    partitions: int = 8

    # --- the work of a round ----------------------------------------------------------------------
    # Local epochs of one CoCoA+ round with work="auto" or an explicit number. More than one did not
    # save rounds in docs/distributed.md; they are free while they hide behind the exchange.
    max_local_epochs: int = 32
    # Seconds of local work for each second of exchange that work="auto" aims at. A larger τ saves
    # rounds, so it pays to work longer; more local epochs hardly do (docs/distributed.md).
    epoch_seconds_per_exchange: float = 1.0
    batch_seconds_per_exchange: float = 5.0
    # Rounds with the same number of local epochs after which "auto" judges what they gain, and how
    # many times as much as with half of the epochs that must be to be worth it.
    rounds_to_judge: int = 3
    worthy_gain: float = 1.1
    # The first τ of work="auto" is the largest partition over this. Not measured: rounds that turn
    # out to be short double it.
    first_batch_divisor: int = 64
    # Work is halved only if it takes more than this many times the wanted seconds, so that noise
    # in the clock does not make it swing between two values. Not measured.
    excess_before_halving: float = 8.0

    # --- the sample from which Newton steps start -------------------------------------------------
    # The share of the samples, unless the driver would read more bytes than `sample_bytes`, and at
    # least so many for each feature and in all; none if that is more than `largest_sample_share`.
    # The driver solves it alone. Hinge on covtype, four seeds: 33 to 43 rounds with 0.02, 15 to 23
    # with 0.1, 53 without a sample.
    sample_share: float = 0.1
    sample_bytes: float = 6.4e7
    samples_per_feature: int = 20
    least_samples: int = 500
    largest_sample_share: float = 0.25

    # --- Newton steps -----------------------------------------------------------------------------
    # The width of rounded kinks is multiplied by this after each stage. Exchanges count here, not
    # passes: hinge on covtype takes 51 rounds at 0.3, 17 at 0.5; on 40,000 × 500 42 and 37.
    narrowing: float = 0.5
    # The most coefficients whose whole Hessian travels: the upper triangle of a matrix from each
    # partition, 16 MB at 2,000.
    newton_features: int = 2000

    # What an exchange takes besides its bytes: a round of Dask futures with short vectors (docs/
    # distributed.md); 10 Gbit/s; an entry in a product with X and back, 6.4e8 of them a second;
    # and a product of two entries of a Hessian, by BLAS or by loops over sparse rows.
    exchange_seconds: float = 0.03
    bytes_per_second: float = 1.25e9
    entry_seconds: float = 1.5e-9
    dense_product_seconds: float = 1e-10
    sparse_product_seconds: float = 2e-9
    # Workers that a cluster is thought to have when ways are compared: not partitions, so that the
    # choice, and with it the number of rounds, does not depend on how data is cut.
    assumed_workers: int = 8
    # Rounds that fits take with each kind of system (docs/distributed.md). Ill-conditioned data
    # take more products, whose rounds are therefore counted high.
    hessian_rounds: float = 8.0
    product_rounds: float = 60.0
    class_rounds: float = 20.0
    set_rounds: float = 15.0
    # Rows for each coefficient of the sample whose Hessian is the preconditioner of many classes,
    # and products of a system up to which it is kept. covtype with 7 classes: 13 rounds with 150
    # rows for each and a new Hessian in every step, most of whose seconds the driver spent on that.
    hessian_rows: int = 20
    kept_factor_products: int = 8
    # Features of the first set, and of later ones for each coefficient that is not 0, for penalties
    # with kinks over more features than that. Not measured.
    first_set: int = 200
    set_growth: float = 2.0
    largest_set: int = 2000

    # --- what comes to the driver -----------------------------------------------------------------
    # Bytes of dual variables up to which a solution has them unless it is told otherwise.
    dual_bytes: float = 6.4e7

    # --- when to stop -----------------------------------------------------------------------------
    # Gap checks in a row between which no dual variable moved, before the run counts as stalled.
    idle_checks: int = 3

    # --- outer proximal steps ---------------------------------------------------------------------
    # ρ of an intercept, over the ρ with which the intercept adds as much to the curvature of a
    # sample as all features together. All partitions share the intercept: at 1 they need many
    # rounds to agree on it. In docs/distributed.md one Lasso took 1,212 epochs with the same ρ for
    # intercept and features; with 16 none of the four takes more than 304.
    intercept_rho: float = 16.0
    # ρ shrinks if the gap of an outer step is below `small_gap` times its proximal term, and grows
    # if it is above `large_gap` times that; each time by `rho_step`. Not measured one by one.
    small_gap: float = 0.1
    large_gap: float = 1.0
    rho_step: float = 4.0
    # A proof takes several exchanges. It waits until the gap of the outer step is this fraction of
    # the gap at the last proof, or until the gap of the problem should be `target_margin` times the
    # target. Not measured.
    proof_fraction: float = 0.3
    target_margin: float = 0.9

    # --- roots of falling functions, whose values cost an exchange --------------------------------
    # Values that one exchange asks for at once; exchanges at most; and doublings of the first
    # stride, all in one exchange. 16 values divide the interval by 15 each time, so that about a
    # dozen exchanges reach the last bit. Not measured.
    root_points: int = 16
    root_exchanges: int = 40
    root_doublings: int = 60
    # The first stride of the best intercept, relative to |y| or 1, and the slope that counts as 0.
    # The scale of a problem needs a few digits only.
    intercept_stride: float = 1e-3
    intercept_slope: float = 1e-9

    # Rounds after which a run says how many more it will take at its present rate, if that is more
    # than `absurd_rounds`.
    rounds_to_project: int = 20
    absurd_rounds: int = 2000

    # The most features for which least squares choose from moments: each fold of each partition has
    # a matrix of them, 8 MB at 1,000.
    most_moments: int = 1000

    # --- reading partitions -----------------------------------------------------------------------
    # Bytes of data, all of whose workers are on this machine, from which on a warning says so.
    worth_a_word: float = 1e8
    # Attempts in all, and the seconds between them where no scheduler repeats them.
    loads: int = 3
    load_pause: float = 0.2

    # --- Dask -------------------------------------------------------------------------------------
    # Messages up to this size travel with each task; larger ones go to one worker, from which the
    # others fetch them. Not measured.
    inline_bytes: int = 10_000
    # Seconds between two questions to the scheduler while the driver waits.
    poll_seconds: float = 0.5
    # Seconds after which workers that send no heartbeats are given up if others do: a quarter of
    # `round_seconds` if that is less. With 10, on two cores that 25 processes wanted, workers that
    # compiled their first kernels were taken for frozen.
    patience_seconds: float = 60.0
    # Losses in a row, without a round in between, after which the partition itself is to blame:
    # probably it needs more memory than a worker has.
    losses_in_a_row: int = 5

    # --- MPI --------------------------------------------------------------------------------------
    # The first and the longest pause between two tests of a message. Rounds take 2 to 3 ms
    # (docs/distributed.md), so the longest pause must stay below that.
    first_pause: float = 1e-6
    longest_pause: float = 1e-3
    # Seconds that the last message of a failed run has to leave this process.
    farewell_seconds: float = 1.0


TUNING = Tuning()
