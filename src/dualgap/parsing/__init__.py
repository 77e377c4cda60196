"""Text to numbers, compiled."""
