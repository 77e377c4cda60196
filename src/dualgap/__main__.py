"""``python -m dualgap`` is the command ``dualgap``."""

from dualgap.cli import app

app(prog_name="dualgap")
