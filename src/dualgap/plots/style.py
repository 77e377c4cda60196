"""How curves look."""

# Okabe and Ito's palette, told apart with every kind of colour vision; markers help in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
