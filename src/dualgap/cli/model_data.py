"""Data for a fitted model: its features by their names, its labels as it knows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.cli.options import DataOptions
from dualgap.cli.show import label
from dualgap.datasets.open import Table, is_table, open_data
from dualgap.datasets.tables import Wanted
from dualgap.files.model import Model


def data_for(
    model: Model, options: DataOptions, *, weights: str | None = None, target_needed: bool
) -> Table:
    """Data with the features of a model; by default the target is the column of the fit."""
    data, target = options.data, options.target
    offset = options.offset
    if offset is None and target_needed and is_table(data):  # the objective is that of the fit
        offset = model.settings.get("offset_column")
    wanted = Wanted(target, weights, options.dropped, offset=offset)
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
        # An index means the feature that it meant at the fit, even if these data suggest another.
        zero_based=known if isinstance(known, bool) else "auto",
        download=not options.offline,
    )
    found = table.X.shape[1]
    if found != model.n_features:
        raise ValueError(f"{data} has {found:,} features where the model has {model.n_features:,}")
    return table


def class_codes(model: Model, y: Any) -> Any:
    """The index of each label among the classes of a model."""
    known = {label(value): float(k) for k, value in enumerate(model.classes)}
    found, inverse = np.unique(y, return_inverse=True)
    unknown = [label(value) for value in found if label(value) not in known]
    if unknown:
        raise ValueError(
            f"the data have the label {unknown[0]}, but the model knows only {', '.join(known)}"
        )
    return np.array([known[label(value)] for value in found])[inverse.reshape(len(y))]
