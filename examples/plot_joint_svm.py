"""
Several classes: one joint machine, or one for each
===================================================

``LinearSVC`` separates each class from all others; the machine of Crammer and Singer asks that the
score of the true class exceeds each other by 1. Where a class lies between two others, no line
separates it from both, but a joint machine needs none.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualgap import LinearSVC

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 80)
X = rng.normal(scale=0.5, size=(240, 2)) + np.array([[-2.0, 0.0], [0.0, 0.0], [2.0, 0.0]])[y]

grid = np.stack(np.meshgrid(np.linspace(-4, 4, 201), np.linspace(-2, 2, 101)), axis=-1)
_, axes = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained", sharey=True)
for axis, multi_class in zip(axes, ("ovr", "crammer_singer")):
    model = LinearSVC(multi_class=multi_class, loss="hinge").fit(X, y)
    print(f"{multi_class}: {model.score(X, y):.1%} right; {np.max(model.dual_gap_):.1e} the gap")
    labels = model.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    axis.contourf(*np.moveaxis(grid, -1, 0), labels, levels=2, alpha=0.3)
    axis.scatter(*X.T, c=y, s=8)
    axis.set(title=f'multi_class="{multi_class}": {model.score(X, y):.1%}', xlabel="x")
plt.show()
