"""The driver: rounds, proofs and checkpoints, from sums over samples that it never sees."""
