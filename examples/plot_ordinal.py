"""
Ratings: classes that have an order
===================================

Wines of quality "poor" to "excellent": one direction, cut by thresholds. A softmax model has
coefficients for each class, and ignores that "good" lies between "fair" and "excellent".
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dualgap import LogisticRegression, OrdinalLogisticRegression

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.standard_normal((60, 4)), columns=["acid", "sugar", "alcohol", "age"])
score = X @ [-1.0, 0.3, 1.5, 0.0] + rng.logistic(size=60)
words = ["poor", "fair", "good", "excellent"]
quality = pd.Categorical.from_codes(np.digitize(score, [-1.5, 0.5, 2.0]), words, ordered=True)

model = OrdinalLogisticRegression().fit(X, pd.Series(quality))
print(model.certificate_)
print("coefficients:", dict(zip(model.coef_names_, model.coef_.round(2))))
print("thresholds:", model.thresholds_.round(2), "±", model.threshold_radius_.max().round(3))
print(f"{model.predict_certified(X).mean():.0%} of the classes are those of the exact optimum")
print(model.summary())

new = pd.DataFrame(rng.standard_normal((5000, 4)), columns=X.columns)
truth = np.digitize(new @ [-1.0, 0.3, 1.5, 0.0] + rng.logistic(size=5000), [-1.5, 0.5, 2.0])
softmax = LogisticRegression().fit(X, quality.codes)
for name, p in (("ordinal", model.predict_proba(new)), ("softmax", softmax.predict_proba(new))):
    print(f"{name}: log loss of new samples {-np.log(p[np.arange(5000), truth]).mean():.4f}")

z = np.linspace(-5, 5, 200)
axis = plt.subplots(figsize=(7, 4), layout="constrained")[1]
ends = np.concatenate([[-np.inf], model.thresholds_, [np.inf]])
odds = 1 / (1 + np.exp(z[:, None] - ends))
for k, colour in enumerate(("#D55E00", "#CC79A7", "#56B4E9", "#0072B2")):
    axis.plot(z, odds[:, k + 1] - odds[:, k], color=colour, label=words[k])
for threshold in model.thresholds_:
    axis.axvline(threshold, color="#BBBBBB", linewidth=0.7)
axis.set(xlabel="x·w", ylabel="probability")
axis.legend(frameon=False)
plt.show()
