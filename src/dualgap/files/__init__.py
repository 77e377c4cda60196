"""Files that execute nothing when they are read: models, checkpoints, and what both need.

``model_file``, ``model``, ``model_tree``   models: ``save_model`` and ``load_model``
``checkpoint_file``, ``identity``           the state of a run, and which run it belongs to
``archive``, ``npy``, ``limits``, ``replace``, ``errors``   the archive behind both
``describe``, ``digest``                    losses, penalties, steps, samplings and data as text
"""
