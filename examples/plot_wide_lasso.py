"""
Lasso with far more features than samples
=========================================

100 samples, 5,000 features, of which 8 matter: the path of the Lasso, and what its certificates
prove about the other 4,992.
"""

import matplotlib.pyplot as plt
import numpy as np

import dualgap as dg
from dualgap.path import grid, path
from dualgap.screening import proven_zero

rng = np.random.default_rng(0)
X = rng.standard_normal((100, 5000))
true = np.zeros(5000)
true[:8] = [3, -3, 2.5, -2.5, 2, -2, 1.5, -1.5]
y = X @ true + 0.5 * rng.standard_normal(100)

problem = dg.Problem(X, y, "squared", "l1")
lams = grid(problem, eps=0.02, n=40)
solutions = list(path(problem, lams, tol=1e-8))
coefs = np.array([solution.coef for solution in solutions])
print(f"{len(lams)} points, the largest certified gap is", end=" ")
print(f"{max(s.certificate.relative_gap for s in solutions):.0e} of P(0). The last one:")
print(solutions[-1])

# %%
# A coefficient that is zero in a solver's output may still be nonzero at the optimum. A small gap
# excludes that: what is left between "nonzero" and "not proven to be zero" is all that is unknown.
loose = list(path(problem, lams, tol=1e-3))


def unproven(solutions):
    proven = [
        proven_zero(problem.with_lam(lam), s.certificate, s.dual) for lam, s in zip(lams, solutions)
    ]
    return np.sum(~np.array(proven), axis=1)


_, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(lams, coefs[:, 8:], color="#AAAAAA", linewidth=0.7)
for j, line in enumerate(left.plot(lams, coefs[:, :8], linewidth=2)):
    line.set_color("#0072B2" if true[j] > 0 else "#D55E00")
left.set(title="blue and red: the 8 features that matter", ylabel="coefficient")
right.plot(lams, unproven(loose), color="#E69F00", label="not proven zero, tol = 1e-3")
right.plot(lams, unproven(solutions), color="#009E73", label="not proven zero, tol = 1e-8")
right.plot(lams, np.sum(coefs != 0, axis=1), "k.", label="nonzero")
right.set(yscale="log", ylabel="features", title="how many of 5,000 are left")
right.legend(frameon=False)
for axes in (left, right):
    axes.set(xscale="log", xlabel="λ")
    axes.invert_xaxis()
plt.show()
