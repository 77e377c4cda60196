"""A run: ``solve`` starts it, ``loop`` drives it, ``solution`` is what it returns."""
