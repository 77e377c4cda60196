"""Linear algebra on the data as given: the only place that knows how X lies in memory.

In order: ``validate`` (what users pass), ``storage`` (their matrix as kernels read it),
``matrices`` (the storages), ``design_matrix`` (X with its constant feature), ``products``,
``gram``, ``exact`` (twice the precision, for proofs), ``shift`` (columns far from zero),
``parallel`` (threads).
"""
