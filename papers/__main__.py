"""``python -m papers``."""

from papers.command import app

if __name__ == "__main__":  # worker processes import this module as well
    app(prog_name="python -m papers")
