"""
Outliers, and which of them are certain
=======================================

A linear one-class support vector machine looks for a direction in which nearly all samples score
high; here one in twenty may be an outlier. The certificate says for which samples the exact optimum
agrees.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import OneClassSVM as Theirs

from dualgap import OneClassSVM

rng = np.random.default_rng(0)
X = np.vstack([rng.normal([3.0, 2.0], 0.5, (190, 2)), rng.uniform([-0.5, 0.0], 1.5, (10, 2))])

model = OneClassSVM(nu=0.05).fit(X)
print(model.certificate_)
labels, certain = model.predict(X), model.predict_certified(X)
print(f"{np.mean(labels == -1):.1%} outliers; {np.mean(certain):.1%} of the labels are proven")
other = Theirs(kernel="linear", nu=0.05).fit(X)
print(f"scikit-learn's labels differ in {np.count_nonzero(other.predict(X) != labels)} samples")

_, axis = plt.subplots(figsize=(6, 5), layout="constrained")
for label, colour, name in ((1, "#0072B2", "inliers"), (-1, "#D55E00", "outliers")):
    some = labels == label
    axis.plot(*X[some & certain].T, ".", color=colour, label=name)
    axis.plot(
        *X[some & ~certain].T, "o", color=colour, fillstyle="none", label=f"{name}, not proven"
    )
(w,), (b,) = model.coef_, model.intercept_
ends = np.array([-1.0, 4.5])
axis.plot(ends, -(b + w[0] * ends) / w[1], color="#000000", linewidth=1)
axis.set(xlim=(-1, 5), ylim=(-0.5, 4), title=f"margin errors are at most {model.nu:.0%}")
axis.legend(frameon=False)
plt.show()
