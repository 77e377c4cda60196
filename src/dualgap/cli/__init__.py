"""The command ``dualgap``: a file for each command, and ``main.py`` that names them."""

from dualgap.cli.main import app

__all__ = ["app"]
