"""The proof. Start with ``certificate.py``: every certificate is made there, by ``judged``."""
