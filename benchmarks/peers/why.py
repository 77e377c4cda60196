"""Why a peer is faster, where it is: found by looking. The first pattern that fits counts."""

REASONS: tuple[tuple[str, str], ...] = (
    # (pattern of tasks, reason)
)
