"""
A support vector machine for a rare class
=========================================

One sample in thirty belongs to the rare class. With equal weights the machine gives most of it up;
``class_weight="balanced"`` does not. Both fits are optimal, and proven to be: what differs is the
question.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from dualgap import LinearSVC

rng = np.random.default_rng(0)
common = rng.multivariate_normal([0, 0], [[1.0, 0.5], [0.5, 1.0]], 1500)
rare = rng.multivariate_normal([2.4, 0.0], [[0.4, 0.1], [0.1, 0.4]], 50)
X = np.vstack([common, rare])
y = np.repeat([0, 1], [1500, 50])

_, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
for ax, weight in zip(axes, (None, "balanced")):
    model = LinearSVC(loss="hinge", class_weight=weight, tol=1e-6).fit(X, y)
    found = model.predict(X) == 1
    recall, alarms = found[y == 1].mean(), found[y == 0].mean()
    print(f"class_weight={weight!r}: {model.certificate_}")
    print(f"    finds {recall:.0%} of the rare class, with {alarms:.1%} false alarms\n")
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", grid_resolution=500, cmap="Oranges", alpha=0.3, ax=ax
    )
    ax.scatter(*common.T, s=5, color="#999999", label="common: 1500")
    ax.scatter(*rare.T, s=14, color="#D55E00", label="rare: 50")
    ax.set_title(f"class_weight={weight!r}\nfinds {recall:.0%}, false alarms {alarms:.1%}")
axes[0].legend(loc="lower right")
plt.show()
