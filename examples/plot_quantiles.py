"""
Quantile regression
===================

Where the spread of y grows with x, a mean says little. Three quantiles say where nine tenths of the
values lie. The loss has a kink and the penalty is L1, and still each fit has a certificate.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from dualgap import QuantileRegressor

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 1000))
y = 2 * np.sin(x) + 0.5 * x + (0.2 + 0.15 * x) * rng.gumbel(size=1000)
X = x[:, None]

_, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
axes.plot(x, y, ".", color="#BBBBBB", markersize=3)
curves = {}
for quantile, colour in ((0.05, "#0072B2"), (0.5, "#000000"), (0.95, "#D55E00")):
    splines = SplineTransformer(n_knots=8, include_bias=False)
    model = make_pipeline(splines, QuantileRegressor(quantile=quantile, alpha=1e-4))
    curves[quantile] = model.fit(X, y).predict(X)
    below = np.mean(y <= curves[quantile])
    print(f"quantile {quantile:4}: {below:.1%} of y lie below. {model[-1].certificate_}")
    axes.plot(x, curves[quantile], color=colour, linewidth=2, label=f"quantile {quantile}")
axes.fill_between(x, curves[0.05], curves[0.95], color="#0072B2", alpha=0.08)
inside = np.mean((y >= curves[0.05]) & (y <= curves[0.95]))
axes.set(xlabel="x", ylabel="y", title=f"{inside:.1%} of y lie between the outer quantiles")
axes.legend(frameon=False, loc="upper left")
plt.show()
