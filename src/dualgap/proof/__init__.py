"""The proof that a model is close to the best possible one, in the order of the argument.

``certificate.py``    start here: ``certificate_from_sums`` makes every certificate;
                      ``evaluate`` and ``prove`` lead a pair (w, a) to it
``terms.py``          the gap as a sum of non-negative terms, one for each sample and each feature
                      (``block_terms.py``: for losses of many classes)
``dual_point.py``     a dual point made feasible: free features balanced, then shrunk
``balance.py``        the search for a balanced dual point (``balance_kinks.py``,
                      ``balance_blocks.py``: for losses with kinks and of many classes)
``free_features.py``  features without a penalty, and the dual variables that balance them exactly
``rounding.py``       bounds on rounding errors, and what an exact balance costs
``broken_law.py``     what to say of a loss or penalty whose bounds contradict each other

What follows from a certificate:

``radius.py``         how far decision values can be from those of the exact optimum
``screening.py``      which coefficients are zero at every optimum
``predictions.py``    which predictions are those of the exact optimum

For users: ``certify.py`` certifies any coefficients or fitted model. ``proof_file.py`` writes proof
files, for which ``exact_balance.py`` computes a dual point that is feasible to the last digit.
``tuning.py`` has all numbers that trade time for sharpness.
"""
