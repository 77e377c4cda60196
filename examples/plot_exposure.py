"""
Claim rates with exposures
==========================

Policies are in force for a part of a year, and claims are counted. The expected count is the rate
times the exposure, so the logarithm of the exposure is an offset of the Poisson model. A model
without it learns rates that are too low where policies are short. The data are generated.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dualgap import PoissonRegressor

rng = np.random.default_rng(0)
n = 20_000
age = rng.uniform(18, 80, n)
power = rng.gamma(4.0, 1.0, n)
# Young drivers change their insurer, so that their policies are short.
years = np.clip(rng.beta(2.0, 2.0, n) * (0.3 + (age - 18) / 62), 0.02, 1.0)
rate = np.exp(-2.0 + 1.2 * np.exp(-(age - 18) / 8) + 0.08 * power)
claims = rng.poisson(rate * years)

bands = [18, 21, 25, 30, 40, 50, 65, 80]
frame = pd.get_dummies(pd.cut(age, bands).astype(str), dtype=float).assign(power=power)

# %%
# Power must not lower a rate, and bands of age are penalised less.
settings = {
    "alpha": 1e-4,
    "penalty_weight": {name: 0.1 for name in frame.columns if name != "power"},
    "bounds": {"power": (0, None)},
}
model = PoissonRegressor(**settings).fit(frame, claims, offset=np.log(years))
naive = PoissonRegressor(**settings).fit(frame, claims)
print("with exposures:", model.certificate_)
print(f"claims: {claims.sum()}, predicted: {model.predict(frame, offset=np.log(years)).sum():.1f}")

# %%
# Predictions without an offset are rates, here for each band of age.
middle = (np.array(bands[1:]) + bands[:-1]) / 2
own = pd.cut(age, bands, labels=False)
_, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
for values, words, style in (
    (rate, "true rate", "k-"),
    (model.predict(frame), "model with exposures", "o-"),
    (naive.predict(frame), "model without", "s--"),
):
    means = [values[own == k].mean() for k in range(len(middle))]
    axes.plot(middle, means, style, label=words)
axes.set(xlabel="age", ylabel="claims per year", ylim=(0, None))
axes.set_title("Short policies hide the claims of young drivers")
axes.legend(frameon=False)
plt.show()
