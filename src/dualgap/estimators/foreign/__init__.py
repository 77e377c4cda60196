"""Models of other libraries: the problems they solve, so that ``certify`` can bound their gaps."""
