"""
Text classification
===================

Does a paragraph come from the documentation of NumPy or of SciPy? The texts are the docstrings of
both, which are on every machine that runs this library. The names of the packages are taken out.
"""

import importlib
import re

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from dualgap import LogisticRegression

MODULES = {
    "NumPy": "numpy numpy.linalg numpy.random numpy.polynomial.polynomial numpy.ma numpy.fft",
    "SciPy": "scipy.linalg scipy.stats scipy.optimize scipy.signal scipy.ndimage scipy.sparse",
}

texts = {}  # a text that both packages have counts for the first
for package, modules in MODULES.items():
    for module in map(importlib.import_module, modules.split()):
        for name in sorted(getattr(module, "__all__", dir(module))):
            for paragraph in (getattr(module, name, None).__doc__ or "").split("\n\n"):
                words = re.sub(r"\b(numpy|scipy|np|sp)\b|>>>.*|[\d_]", " ", paragraph.lower())
                if len(words.split()) >= 12:
                    texts.setdefault(words, package)
reader = TfidfVectorizer(stop_words="english", min_df=3, sublinear_tf=True)
X = reader.fit_transform(texts)
y = np.array(list(texts.values()))
seen, unseen, y_seen, y_unseen = train_test_split(X, y, test_size=0.25, random_state=0)

model = LogisticRegression(C=10.0, tol=1e-6).fit(seen, y_seen)
print(f"{seen.shape[0]} paragraphs, {seen.shape[1]} words, {seen.nnz} entries")
print(model.certificate_)
print(f"{model.score(unseen, y_unseen):.1%} of {len(y_unseen)} other paragraphs are told apart;")
print(f"guessing the larger class: {max(np.mean(y_unseen == name) for name in MODULES):.1%}")
proven = model.predict_certified(unseen).mean()
print(f"{proven:.1%} of these predictions are proven to be those of the exact optimum.")

# %%
# The words that speak most for either package.
order = np.argsort(model.coef_[0])
shown = np.r_[order[:12], order[-12:]]
colours = ["#0072B2" if model.coef_[0, j] < 0 else "#D55E00" for j in shown]
_, axes = plt.subplots(figsize=(7, 6), layout="constrained")
axes.barh(reader.get_feature_names_out()[shown], model.coef_[0, shown], color=colours)
axes.axvline(0.0, color="black", linewidth=0.8)
axes.set(xlabel="coefficient", title=f"Which of {X.shape[1]} words tell")
axes.text(0.02, 0.97, "NumPy", color="#0072B2", size=14, va="top", transform=axes.transAxes)
axes.text(0.98, 0.03, "SciPy", color="#D55E00", size=14, ha="right", transform=axes.transAxes)
plt.show()
