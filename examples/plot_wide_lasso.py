"""
Lasso with far more features than samples
=========================================

100 samples, 5,000 features, of which 8 matter: the path of the Lasso, and what its certificates
prove about the other 4,992.
"""

import matplotlib.pyplot as plt
import numpy as np

import dualgap as dg
from dualgap.proof.screening import proven_zero
from dualgap.run.path import grid, path

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
# excludes that. On the right the last λ is solved from loose to tight, until the features that are
# not proven to be zero are hardly more than those that are nonzero.
problem = problem.with_lam(lams[-1])
gaps, unproven = [], []
for tol in np.geomspace(1e-1, 1e-9, 25):
    solution = dg.solve(problem, "cd-gap-decay", tol=tol)
    gaps.append(solution.certificate.relative_gap)
    unproven.append(np.sum(~proven_zero(problem, solution.certificate, solution.dual)))
print(
    f"{np.sum(coefs[-1] != 0)} features are nonzero, {5000 - unproven[-1]} are proven to be zero."
)

_, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(lams, coefs[:, 8:], color="#AAAAAA", linewidth=0.7)
for j, line in enumerate(left.plot(lams, coefs[:, :8], linewidth=2)):
    line.set_color("#0072B2" if true[j] > 0 else "#D55E00")
left.set(title="blue and orange: the 8 features that matter", ylabel="coefficient")
left.set(xscale="log", xlabel="λ")
right.loglog(gaps, unproven, "o-", color="#0072B2", label="not proven to be zero")
right.axhline(np.sum(coefs[-1] != 0), color="black", linestyle=":", label="nonzero")
right.set(xlabel="certified gap / P(0)", ylabel="features", title=f"λ = {lams[-1]:.2g}")
right.legend(frameon=False)
for axes in (left, right):
    axes.invert_xaxis()
plt.show()
