"""Models of other libraries: which problem they have solved, so that ``certify`` can judge them."""
