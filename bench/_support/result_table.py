"""The table of a benchmark's results: each figure beside what it is compared with, and whether it meets its goal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Row(NamedTuple):
    """One line of a table.

    figure: the ratio of the measured value and the reference; with a unit other than x, a value in that unit.
    limit: the largest figure that meets the goal, if there is a goal.
    """

    label: str
    measured: str
    reference: str
    figure: float
    limit: float | None = None
    unit: str = "x"

    @property
    def is_met(self) -> bool | None:
        """Return whether the figure is within its limit; None if it has none."""
        return None if self.limit is None else self.figure <= self.limit


PRINTED_ROWS: list[Row] = []
"""All rows of this process that were printed."""


def print_table(rows: Iterable[Row]) -> None:
    """Print one line per row, with `over` if its figure exceeds its limit."""
    rows = list(rows)
    PRINTED_ROWS.extend(rows)
    headings = ("", "measured", "against", "figure", "limit", "")
    cells = [(row.label, row.measured, row.reference, f"{row.figure:.2f} {row.unit}", *_verdict(row)) for row in rows]
    widths = [max(len(line[column]) for line in [headings, *cells]) for column in range(len(headings))]
    for line in [headings, *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _verdict(row: Row) -> tuple[str, str]:
    if row.limit is None:
        return "", ""
    return f"{row.limit:.2f}", "ok" if row.is_met else "over"
