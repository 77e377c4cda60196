"""Newton steps for thresholds."""
