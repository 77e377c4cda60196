"""
Which sample next?
==================

Dual coordinate ascent visits one sample at a time. The methods here differ in nothing but which:
each in its turn, by chance, by norm, or by how far it still is from its optimum.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import dualgap as dg
from dualgap.plots import ConvergenceDisplay

rng = np.random.default_rng(0)
X = sp.random(4000, 300, density=0.03, format="csr", random_state=rng, data_rvs=rng.standard_normal)
X = sp.diags(rng.lognormal(sigma=0.7, size=4000)) @ X  # samples of unequal norm
y = np.sign(X @ rng.standard_normal(300) + 0.3 * rng.standard_normal(4000))
problem = dg.Problem(X, y, "smoothed-hinge", "l2", lam=1 / 4000)

names = ("sdca", "iprox-sdca", "cd-permutation", "adasdca+", "cd-gap-decay")
runs = {name: dg.solve(problem, name, tol=1e-8, max_epochs=60) for name in names}
for name, run in runs.items():
    print(f"{name:15}{run.certificate}")

# %%
# On the left what an epoch of updates brings. On the right what it costs: those that adapt look at
# all samples once in a while, and these looks are counted.
_, panels = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
for axes, x in zip(panels, ("epoch", "vector_operations")):
    ConvergenceDisplay(runs).plot(x, ax=axes)
panels[1].set_ylabel("")
panels[0].get_legend().remove()
plt.show()
