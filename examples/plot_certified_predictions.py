"""
Predictions that are proven
===========================

A fit is never exact. Which of its predictions would the exact optimum make as well? The certificate
bounds how far each decision value can be off; where it is further from zero than that, the sign is
proven. The grey band is the rest: it shrinks as ``tol`` does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from dualgap import LinearSVC

X, y = make_moons(400, noise=0.35, random_state=0)
corners = [X.min(axis=0) - 0.3, X.max(axis=0) + 0.3]
across, up = np.meshgrid(*(np.linspace(low, high, 300) for low, high in zip(*corners)))
plane = np.c_[across.ravel(), up.ravel()]

_, panels = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
# By coordinate steps, since "auto" takes Newton steps here, which overshoot every loose ``tol``.
for axes, tol in zip(panels, (1e-2, 1e-4, 1e-8)):
    model = LinearSVC(loss="hinge", method="cd-gap-decay", intercept_penalty="l2", tol=tol)
    model.fit(X, y)
    proven = model.predict_certified(X)
    print(f"tol={tol:.0e}: {proven.mean():.1%} of the predictions are proven. {model.certificate_}")
    side = np.where(model.predict_certified(plane), 2.0 * model.predict(plane) - 1.0, 0.0)
    axes.contourf(
        across,
        up,
        side.reshape(across.shape),
        levels=[-1.5, -0.5, 0.5, 1.5],
        colors=["#BFDDEF", "#9A9A9A", "#F3CDB5"],
    )
    axes.scatter(*X.T, c=np.where(y == 1, "#D55E00", "#0072B2"), s=6)
    axes.set_title(f"tol={tol:.0e}: {proven.mean():.1%} proven")
plt.show()
