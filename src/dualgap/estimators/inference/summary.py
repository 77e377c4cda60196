"""The table of coefficients, standard errors, tests and Wald intervals."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from dualgap.linalg.validate import Floats, number

COLUMNS = ("coef", "std_error", "statistic", "p_value", "lower", "upper")
_HEADERS = ("coef", "std err", "{}", "P>|{}|", "[{:g}", "{:g}]")


@dataclass(frozen=True, eq=False)
class CoefficientTable:
    """Coefficients with standard errors, tests and intervals; ``print`` shows a table.

    ``names``        of the rows: features, for several classes or targets "class: feature"
    ``coef``         the coefficients, and the intercept last
    ``std_error``    their standard errors; infinite where the data do not determine a coefficient
    ``covariance``   their covariance
    ``statistic``    coef / std_error
    ``p_value``      of the hypothesis that a coefficient is 0, two-sided
    ``lower``, ``upper``  Wald intervals of level ``confidence``
    ``dispersion``   the estimated scale of the variance, 1 where the model fixes it
    ``freedom``      sum of weights minus the effective number of parameters
    ``distribution`` "t" where the dispersion is estimated, else "z"
    ``fit_error``    how far a coefficient is from the exact optimum, in standard errors: the size
                     of a Newton step from here
    """

    names: tuple[str, ...]
    coef: Floats = field(repr=False)
    covariance: Floats = field(repr=False)
    identified: Any = field(repr=False)
    kind: str
    dispersion: float
    freedom: float
    samples: float
    distribution: str
    confidence: float
    fit_error: float
    notes: tuple[str, ...] = ()

    @property
    def std_error(self) -> Floats:
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return np.where(self.identified, errors, np.inf)

    @property
    def statistic(self) -> Floats:
        errors = self.std_error
        return np.divide(self.coef, errors, out=np.zeros_like(errors), where=errors > 0.0)

    @property
    def p_value(self) -> Floats:
        return np.asarray(2.0 * self._law.sf(np.abs(self.statistic)))

    @property
    def lower(self) -> Floats:
        return self.interval(self.confidence)[:, 0]

    @property
    def upper(self) -> Floats:
        return self.interval(self.confidence)[:, 1]

    def interval(self, confidence: float) -> Floats:
        """Wald intervals of another level, of shape (rows, 2)."""
        level = check_confidence(confidence)
        reach = self._law.ppf(0.5 + 0.5 * level) * self.std_error
        return np.stack([self.coef - reach, self.coef + reach], axis=1)

    @property
    def _law(self) -> Any:
        return stats.t(self.freedom) if self.distribution == "t" else stats.norm()

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame with a row for each coefficient."""
        import pandas as pd  # type: ignore[import-untyped]  # an optional dependency

        return pd.DataFrame(
            {name: getattr(self, name) for name in COLUMNS}, index=pd.Index(self.names)
        )

    # --- how it looks --------------------------------------------------------------------------

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "samples", f"{self.samples:g}"
        yield "residual degrees of freedom", f"{self.freedom:.6g}"
        yield "dispersion", f"{self.dispersion:.6g}"
        yield "covariance", self.kind
        yield "distance from the optimum", f"{self.fit_error:.1e} standard errors"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        tail = 50.0 * (1.0 - self.confidence)
        names = (self.distribution, self.distribution, tail / 100.0, 1.0 - tail / 100.0)
        headers = [*_HEADERS[:2], *(text.format(name) for text, name in zip(_HEADERS[2:], names))]
        columns = [getattr(self, name) for name in COLUMNS]
        rows = [
            [name, *(_shown(kind, column[i]) for kind, column in zip(COLUMNS, columns))]
            for i, name in enumerate(self.names)
        ]
        return ["", *headers], rows

    def __str__(self) -> str:
        headers, rows = self._table()
        widths = [max(len(row[i]) for row in [headers, *rows]) for i in range(len(headers))]

        def line(row: list[str]) -> str:
            first, *rest = row
            cells = (text.rjust(width) for text, width in zip(rest, widths[1:]))
            return "  ".join([first.ljust(widths[0]), *cells]).rstrip()

        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        facts = [f"{name}: {value}" for name, value in self._facts()]
        return "\n".join([*facts, rule, line(headers), rule, *map(line, rows), rule, *self.notes])

    def _repr_html_(self) -> str:
        headers, rows = self._table()
        facts = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
            for name, value in self._facts()
        )
        head = "".join(f"<th>{html.escape(text)}</th>" for text in headers)
        body = "".join(
            f"<tr><th>{html.escape(name)}</th>"
            + "".join(f"<td>{html.escape(text)}</td>" for text in rest)
            + "</tr>"
            for name, *rest in rows
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return (
            f"<table>{facts}</table><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{notes}"
        )


def _shown(column: str, value: float) -> str:
    if column == "p_value":
        return f"{value:.3f}" if value >= 0.0005 else "<0.001"
    if column == "statistic":
        return f"{value:.3f}"
    return f"{value:.6g}"


def check_confidence(confidence: Any) -> float:
    level = number(confidence, "confidence", 0.0, open_low=True)
    if level >= 1.0:
        raise ValueError(f"confidence must be a share below 1, such as 0.95, not {level:g}")
    return level
