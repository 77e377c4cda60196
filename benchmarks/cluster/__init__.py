"""What distributed fits cost: ``make bench-cluster``."""
