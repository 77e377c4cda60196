"""Data for a model that is there: its features by their names, its labels as it knows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.cli.show import label
from dualgap.datasets.open import Table, is_table, open_data
from dualgap.datasets.tables import Wanted
from dualgap.files.model import Model


def data_for(
    model: Model,
    data: str,
    target: str | None,
    weights: str | None,
    drop: str,
    *,
    target_needed: bool,
    download: bool,
) -> Table:
    """The data in the features of a model; the target is the column that it was at the fit."""
    wanted = Wanted(target, weights, listed(drop))
    if target is not None or is_table(data):
        own = model.settings.get("target_column")
        named = own if target is None and isinstance(own, str) else target
        needed = target_needed or target is not None
        wanted = wanted._replace(target=named, features=model.feature_names, target_needed=needed)
    known = model.settings.get("zero_based")
    table = open_data(
        data,
        wanted,
        n_features=model.n_features,
        # An index is the same feature as at the fit, whatever these data would suggest.
        zero_based=known if isinstance(known, bool) else "auto",
        download=download,
    )
    found = table.X.shape[1]
    if found != model.n_features:
        raise ValueError(f"{data} has {found:,} features where the model has {model.n_features:,}")
    return table


def listed(names: str) -> list[str]:
    """Names that have commas between them."""
    return [name.strip() for name in names.split(",") if name.strip()]


def places(model: Model, y: Any) -> Any:
    """Labels as places among the classes of a model."""
    known = {label(value): float(k) for k, value in enumerate(model.classes)}
    found, inverse = np.unique(y, return_inverse=True)
    strange = [label(value) for value in found if label(value) not in known]
    if strange:
        raise ValueError(
            f"the data have the label {strange[0]}, and the model knows {', '.join(known)} only"
        )
    return np.array([known[label(value)] for value in found])[inverse.reshape(len(y))]
