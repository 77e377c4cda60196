"""Partitions: where they come from, whether they fit together, and each as a problem of its own."""
