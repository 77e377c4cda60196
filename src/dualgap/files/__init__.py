"""Files that execute nothing when they are read: models, checkpoints, and the archive of both."""
