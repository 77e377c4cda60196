"""What the four papers promise, as numbers; ``dualgap.theory`` has all of it."""
