"""Categorical columns of dataframes: each level becomes a feature, stored as a code.

Numeric columns come first, then the levels of each categorical column, in the order of the frame.
No level is left out: a penalty makes coefficients unique, and without one they are those of some
optimum, whose proof does not mind columns that follow from others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_array

from dualgap.linalg.coded_matrix import CodedMatrix
from dualgap.linalg.validate import unknown

DTYPES = (np.float64, np.float32)
MISSING = "<missing>"  # the name of the level of samples without a value
_UNKNOWN = np.iinfo(np.uint32).max


class Encoding(NamedTuple):
    """What a fit has learnt about the columns of a frame.

    ``columns``  all of them, in order; ``numeric`` those that hold numbers
    ``levels``   for each categorical column its levels, in order; None is a missing value
    """

    columns: tuple[Any, ...]
    numeric: tuple[Any, ...]
    levels: dict[Any, tuple[Any, ...]]

    @property
    def names(self) -> list[str]:
        """The name of each feature."""
        found = [str(name) for name in self.numeric]
        for column, levels in self.levels.items():
            found += [_name(column, level) for level in levels]
        return found

    def spread(self, given: Any) -> Any:
        """What is said of columns as said of coefficients: of all levels, unless of one."""
        if not isinstance(given, Mapping):
            return given
        found = {column: value for column, value in given.items() if column not in self.levels}
        for column, value in given.items():
            for level in self.levels.get(column, ()):
                found.setdefault(_name(column, level), value)
        return found

    @property
    def starts(self) -> tuple[int, ...]:
        """The first feature of each categorical column, and the number of all features."""
        sizes = [len(self.numeric), *(len(levels) for levels in self.levels.values())]
        return tuple(np.cumsum(sizes).tolist())


def _name(column: Any, level: Any) -> str:
    return f"{column}={MISSING if level is None else level}"


def is_frame(X: Any) -> bool:
    """Whether X is a dataframe, of pandas or polars or whatever looks the same."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "__getitem__")


def text_columns(X: Any) -> list[Any]:
    """The columns of a frame that hold text or categories."""
    return [name for name in X.columns if _kind(X[name].dtype) == "text"]


def learn(model: Any, X: Any) -> tuple[Encoding, CodedMatrix | Any]:
    """The encoding that a model asks for, and X in it."""
    if not is_frame(X):
        raise ValueError(
            f"categories={model.categories!r} needs a dataframe, whose columns say what they "
            f"hold, not {type(X).__name__}"
        )
    _word(model.handle_unknown, "handle_unknown", ("error", "ignore"))
    columns = tuple(X.columns)
    if len(set(columns)) < len(columns):
        raise ValueError("X has several columns of the same name: rename them")
    chosen = _chosen(model.categories, X)
    seen = {name: _coded(X[name]) for name in columns if name in chosen}
    _refuse_missing(model, {name: codes for name, (_, codes) in seen.items()})
    levels = {name: _levels_that_occur(*own) for name, own in seen.items()}
    numeric = tuple(name for name in columns if name not in chosen)
    encoding = Encoding(columns, numeric, levels)
    return encoding, _encoded(model, encoding, X, seen)


def encode(model: Any, encoding: Encoding, X: Any) -> Any:
    """A frame in the encoding of a fit; its columns are known to be the same."""
    seen = {name: _coded(X[name]) for name in encoding.levels}
    _refuse_missing(
        model,
        {name: seen[name][1] for name, levels in encoding.levels.items() if None not in levels},
    )
    return _encoded(model, encoding, X, seen)


def _encoded(model: Any, encoding: Encoding, X: Any, seen: dict[Any, Any]) -> Any:
    numbers = _numbers(model, encoding.numeric, X)
    if not encoding.levels:
        return numbers
    codes, doubtful = np.empty((len(X), len(seen)), np.uint32), False
    for k, (name, (values, own)) in enumerate(seen.items()):
        places = {level: place for place, level in enumerate(encoding.levels[name])}
        start = encoding.starts[k]
        table = [start + places[v] if v in places else _UNKNOWN for v in [*values, None]]
        codes[:, k] = np.array(table, np.uint32)[own]  # −1, for missing values, is the last
        doubtful |= _UNKNOWN in table[:-1] or bool(table[-1] == _UNKNOWN and own.min() < 0)
    strange = codes == _UNKNOWN if doubtful else np.zeros(0, bool)
    if not strange.any():
        return CodedMatrix.of(numbers, codes, encoding.starts)
    if model.handle_unknown == "error":
        _refuse_unknown(encoding, seen, strange)
    codes[strange] = 0
    parts = CodedMatrix.of(numbers, codes, encoding.starts).tocsr(copy=True)
    parts.data.reshape(len(X), -1)[:, len(encoding.numeric) :][strange] = 0.0
    parts.sum_duplicates()
    return parts


def _numbers(model: Any, numeric: tuple[Any, ...], X: Any) -> Any:
    if not numeric:
        return np.zeros((len(X), 0))
    words = [name for name in numeric if _kind(X[name].dtype) == "text"]
    try:
        return check_array(
            X[list(numeric)],
            dtype=DTYPES,
            order="C",
            estimator=type(model).__name__,
            input_name="X",
        )
    except ValueError as error:
        if not words:
            raise
        raise ValueError(refusal(words, 'add them to "categories"')) from error


def refusal(words: list[Any], advice: str) -> str:
    """What to say about columns of text."""
    listed = ", ".join(repr(name) for name in words)
    return f"X has columns of text, which are not numbers: {listed}. To encode them, {advice}"


# --- columns ------------------------------------------------------------------------------------


def _chosen(categories: Any, X: Any) -> set[Any]:
    if isinstance(categories, str):
        _word(categories, "categories", ("auto",))
        return {name for name in X.columns if _kind(X[name].dtype) != "number"}
    try:
        chosen = list(categories)
    except TypeError:
        raise ValueError(
            f'categories must be None, "auto" or a list of columns, not {categories!r}'
        ) from None
    for name in chosen:
        if name not in set(X.columns):
            raise ValueError(unknown("categories: column", str(name), map(str, X.columns)))
    return set(chosen)


def _kind(dtype: Any) -> str:
    """ "number", "bool" or "text", for the types of pandas, NumPy and polars."""
    name = str(dtype).lower()
    if name in ("bool", "boolean"):
        return "bool"
    words = ("category", "object", "str", "string", "categorical", "enum", "utf8", "large_string")
    return "text" if name.split("(")[0].split("[")[0] in words else "number"


def _coded(column: Any) -> tuple[list[Any], Any]:
    """The levels of a column, sorted unless they have an order, and the place of each sample's
    level; −1 for missing values."""
    if hasattr(column, "cat") and hasattr(column, "astype"):
        values = column.cat
    elif hasattr(column, "astype"):
        values = column.astype("category").cat  # pandas
    else:
        return _coded_by_rank(column)
    return values.categories.tolist(), np.asarray(values.codes)


def _coded_by_rank(column: Any) -> tuple[list[Any], Any]:
    """The same for polars."""
    if _kind(column.dtype) == "text":
        column = column.cast(str)  # the codes of polars may be those of other frames as well
    levels = column.drop_nulls().unique().sort()
    own = column.cast(int) if _kind(column.dtype) == "bool" else column
    ranks = own.rank("dense").fill_null(0)
    return levels.to_list(), ranks.to_numpy().astype(np.int64) - 1


def _levels_that_occur(values: list[Any], codes: Any) -> tuple[Any, ...]:
    occurs = np.zeros(len(values) + 1, bool)
    occurs[codes] = True  # −1 is the last of them
    return tuple(value for value, one in zip([*values, None], occurs.tolist()) if one)


# --- refusals -----------------------------------------------------------------------------------


def _word(value: Any, name: str, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        raise ValueError(unknown(name, str(value), known))
    return value


def _refuse_missing(model: Any, codes: dict[Any, Any]) -> None:
    if _word(model.handle_missing, "handle_missing", ("error", "category")) == "category":
        return
    counts = {name: int(np.count_nonzero(own < 0)) for name, own in codes.items()}
    if any(counts.values()):
        listed = ", ".join(f"{name!r}: {count}" for name, count in counts.items() if count)
        raise ValueError(
            f"X has missing values in categorical columns ({listed}): fill them in, or use "
            'handle_missing="category", which makes them a level of their own'
        )


def _refuse_unknown(encoding: Encoding, seen: dict[Any, Any], strange: Any) -> None:
    found = []
    for k, (name, (values, own)) in enumerate(seen.items()):
        if strange[:, k].any():
            codes = np.unique(own[strange[:, k]])
            words = [MISSING if code < 0 else repr(values[code]) for code in codes[:5]]
            found.append(f"{name!r}: {', '.join(words)}{', ...' if len(codes) > 5 else ''}")
    raise ValueError(
        f"X has levels that the fit has not seen ({'; '.join(found)}). With "
        'handle_unknown="ignore" they count as none of the known levels'
    )
