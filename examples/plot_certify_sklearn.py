"""
How far is a model of scikit-learn from its optimum?
====================================================

``certify`` takes a model that scikit-learn has fitted and the data of its fit. No convergence
warning does not mean close to the optimum, and a warning does not say how far from it.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import dualgap as dg

X, y = load_breast_cancer(return_X_y=True)
scaled = StandardScaler().fit_transform(X)
models = {
    "LinearSVC": LinearSVC(random_state=0),
    'LinearSVC(loss="hinge")': LinearSVC(loss="hinge", random_state=0),
    "LogisticRegression": LogisticRegression(),
    "SGDClassifier": SGDClassifier(random_state=0),
}
above = {"as they are": [], "scaled": []}
for kind, data in (("as they are", X), ("scaled", scaled)):
    for name, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scikit-learn, that it has not converged
            model.fit(data, y)
        proof = dg.certify(model, data, y)
        above[kind].append(proof.primal / proof.dual - 1.0)
        print(f"{kind:12}{name:25}{proof}")

# %%
# Proven: each objective is at most so many per cent above the smallest possible one.
_, axes = plt.subplots(figsize=(9, 4), layout="constrained")
for shift, (kind, colour) in zip((-0.2, 0.2), (("as they are", "#D55E00"), ("scaled", "#0072B2"))):
    places = [k + shift for k in range(len(models))]
    bars = axes.barh(places, [100.0 * a for a in above[kind]], 0.4, color=colour, label=kind)
    words = [f"{100 * a:.2g} %" if a < 1.0 else f"{100 * a:,.0f} %" for a in above[kind]]
    axes.bar_label(bars, words, padding=3)
axes.set_yticks(range(len(models)), models)
axes.set(xscale="log", xlabel="above the minimum, at most, in %", title="breast cancer data")
axes.invert_yaxis()
axes.margins(x=0.25)
axes.legend(frameon=False, title="features")
plt.show()
