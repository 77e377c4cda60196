"""
Claims by category
==================

Insurance data are mostly categories. ``categories="auto"`` makes a feature of each level without
one-hot columns: a fit reads codes. Ridge penalties pull levels with few samples towards the mean.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dualgap import PoissonRegressor

rng = np.random.default_rng(0)
n, regions = 20_000, [f"region {k:02}" for k in range(1, 23)]
shares = rng.dirichlet(np.full(22, 0.5))
effects = rng.normal(0.0, 0.3, 22)
codes = rng.choice(22, n, p=shares)
frame = pd.DataFrame(
    {
        "age": rng.normal(0.0, 1.0, n),
        "fuel": rng.choice(["diesel", "petrol"], n),
        "region": pd.Categorical.from_codes(codes, regions),
    }
)
rate = np.exp(-2.0 - 0.2 * frame["age"] + 0.1 * (frame["fuel"] == "diesel") + effects[codes])
claims = rng.poisson(rate)

_, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
counts = np.bincount(codes, minlength=22)
order = [k for k in np.argsort(-counts) if counts[k]]
for alpha, colour in ((0.0, "#D55E00"), (1e-3, "#0072B2")):
    model = PoissonRegressor(alpha=alpha, categories="auto").fit(frame, claims)
    print(f"alpha {alpha:5}: {model.certificate_}")
    named = dict(zip(model.coef_names_, model.coef_))
    found = np.array([named[f"region={regions[k]}"] for k in order])
    mean = np.average(found, weights=counts[order])
    axes.plot(counts[order], found - mean, "o", color=colour, label=f"alpha = {alpha:g}")
axes.plot(counts[order], effects[order] - np.average(effects, weights=counts), "k_", label="truth")
axes.set(xscale="log", xlabel="samples of the region", ylabel="coefficient, less the mean")
axes.legend(frameon=False)
plt.show()
