"""
Rates and their sizes: generalised linear models with a proof
=============================================================

Claims of insurance policies in two ways: how many there are in a year (Poisson, or negative
binomial where they vary more), and what they cost (Tweedie, whose sums are often 0). An offset,
the logarithm of the exposure, makes the counts of half a year comparable with those of a year.
"""

# %%
# Policies with a mileage, the age of the car and an exposure, and their claims.
import matplotlib.pyplot as plt
import numpy as np

import dualgap as dg

rng = np.random.default_rng(0)
n = 2000
X = np.column_stack([rng.uniform(5, 40, n), rng.integers(0, 15, n)])  # 1,000 km a year, years
exposure = rng.uniform(0.2, 1.0, n)
rate = np.exp(-2.5 + 0.05 * X[:, 0] + 0.03 * X[:, 1]) * rng.gamma(2.0, 0.5, n)
claims = rng.poisson(exposure * rate)
cost = np.array([rng.gamma(2.0, 500.0, k).sum() for k in claims])

# %%
# Counts. Each fit says how far its objective is from the best possible one, at most.
offset = np.log(exposure)
poisson = dg.PoissonRegressor(alpha=1e-4).fit(X, claims, offset=offset)
varying = dg.NegativeBinomialRegressor(alpha=1e-4, dispersion=0.5).fit(X, claims, offset=offset)
for model in (poisson, varying):
    print(type(model).__name__, model.certificate_)
    print("  claims in a year per 1,000 km: factor", np.exp(model.coef_[0]).round(3))

# %%
# Costs per year, weighted by the exposure: a policy without claims costs 0, which a Gamma
# distribution does not allow, and a Tweedie distribution does.
yearly = dg.TweedieRegressor(power=1.5, alpha=1e-4)
yearly.fit(X, cost / exposure, sample_weight=exposure)
print("TweedieRegressor", yearly.certificate_)

# %%
# The expected cost of a year, and how far the exact optimum can be from it: ``decision_radius``
# bounds the difference of logarithms.
km = np.linspace(5, 40, 50)
new = np.column_stack([km, np.full(50, 5.0)])
expected, radius = yearly.predict(new), yearly.decision_radius(new)
plt.plot(km, expected, label="expected cost, car of 5 years")
plt.fill_between(km, expected * np.exp(-radius), expected * np.exp(radius), alpha=0.3)
plt.xlabel("1,000 km a year")
plt.ylabel("cost of a year")
plt.legend()
plt.show()
