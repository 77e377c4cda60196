"""
Groups of features that enter a model together
==============================================

20 groups of five features, three of which matter: the paths of the Lasso and of the group lasso.
"""

import matplotlib.pyplot as plt
import numpy as np

import dualgap as dg
from dualgap.penalties import L1, GroupLasso
from dualgap.run.path import grid, path

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 100))
true = np.zeros(100)
true[:15] = rng.standard_normal(15)
y = X @ true + rng.standard_normal(80) + 2.0

_, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for axis, penalty, name in zip(axes, (L1(), GroupLasso(5)), ("Lasso", "group lasso")):
    problem = dg.Problem(X, y, "squared", penalty, intercept=True)
    lams = grid(problem, eps=0.02, n=40)
    solutions = list(path(problem, lams, tol=1e-8))
    coefs = np.array([solution.coef for solution in solutions])
    norms = np.linalg.norm(coefs.reshape(len(lams), 20, 5), axis=2)
    axis.plot(lams, norms[:, 3:], color="#AAAAAA", linewidth=0.7)
    axis.plot(lams, norms[:, :3], color="#0072B2", linewidth=2)
    axis.set(title=f"{name}: the 3 groups that matter are blue", xscale="log", xlabel="λ")
    axis.invert_xaxis()
    worst = max(solution.certificate.relative_gap for solution in solutions)
    used = np.flatnonzero(norms[10]).tolist()
    print(f"{name}: groups {used} at a quarter of the path; the largest gap is {worst:.0e}")
axes[0].set(ylabel="norm of the coefficients of a group")
plt.show()
