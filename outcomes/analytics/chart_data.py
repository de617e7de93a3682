"""The numbers of a chart: a line for each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from outcomes.models import ALL_KEYS
from outcomes.tallies.comparison import NOTHING, PREVIOUS, Comparison, compare_with_previous
from outcomes.tallies.series import chart_buckets, read_series, shift_buckets
from wire.text.invisible_characters import spell_out
from wire.time.buckets import Bucket
from wire.time.period import Period
from workspaces.models import Environment

MAX_LEADING_KEYS = 5  # keys that have a line of their own if none was selected
MAX_COMPARED_LINES = 3  # with more lines, only the first is compared
NAME_OF_REST = "all other keys"


@dataclass(frozen=True)
class ChartLine:
    """A line of a chart: one number for each bucket. `key` is None for the line of all other keys together."""

    key: str | None
    numbers: Sequence[int]

    @property
    def name(self) -> str:
        return NAME_OF_REST if self.key is None else spell_out(self.key)

    @property
    def total(self) -> int:
        return sum(self.numbers)


@dataclass(frozen=True)
class Chart:
    """Outcomes over a period: a line for each of some keys, and one for all others.

    compared_lines: those of the previous period or of another environment, for the keys that have numbers there. Of
        many lines, only the first is compared.
    compared_name: the name of that period or environment.
    without: keys that are in no line.
    """

    buckets: Sequence[Bucket]
    lines: Sequence[ChartLine]
    compared_lines: Sequence[ChartLine] = ()
    compared_name: str = ""
    without: Sequence[str] = ()


def read_chart(
    environment: Environment,
    period: Period,
    keys: Sequence[str],
    *,
    without: Sequence[str] = (),
    comparison: Comparison | None = None,
) -> Chart:
    """Return a line for each of `keys` that has outcomes, and one for the rest; keys of `without` are in neither.

    comparison: the numbers to compare with, by default those of the previous period.
    """
    buckets = chart_buckets(environment, period)
    series = read_series(environment, buckets, [*keys, *without, ALL_KEYS])
    lines = [ChartLine(key, series[key].outcomes) for key in keys if any(series[key].outcomes)]
    numbers_without = [series[key].outcomes for key in without]
    remainder = _subtract(series[ALL_KEYS].outcomes, [*(line.numbers for line in lines), *numbers_without])
    if any(remainder):
        lines.append(ChartLine(None, remainder))
    comparison = comparison or compare_with_previous(environment, period)
    charted_keys = [line.key for line in lines if line.key is not None]
    compared_keys = charted_keys if len(charted_keys) <= MAX_COMPARED_LINES else charted_keys[:1]
    compared_lines = _read_compared(comparison, period, buckets, compared_keys)
    return Chart(buckets, lines, compared_lines, comparison.name, without)


def read_key_chart(environment: Environment, period: Period, key: str, comparison: Comparison) -> Chart:
    """Return a chart with the line of one key only, without the line for all other keys."""
    chart = read_chart(environment, period, [key], comparison=comparison)
    return replace(chart, lines=[line for line in chart.lines if line.key == key])


def read_compared_numbers(chart: Chart, period: Period, comparison: Comparison) -> Mapping[str | None, Sequence[int]]:
    """Return the compared outcomes of every line of a chart by its key, even if the chart draws no comparison of it."""
    keys = [line.key for line in chart.lines if line.key is not None]
    buckets = _find_compared_buckets(comparison, period, chart.buckets)
    series = read_series(comparison.environment, buckets, [*keys, *chart.without, ALL_KEYS])
    others = _subtract(series[ALL_KEYS].outcomes, [series[key].outcomes for key in (*keys, *chart.without)])
    return {**{key: series[key].outcomes for key in keys}, None: others}


def _read_compared(
    comparison: Comparison, period: Period, buckets: Sequence[Bucket], keys: Sequence[str]
) -> Sequence[ChartLine]:
    """Return a line for each key with compared outcomes; none if there is nothing to compare with."""
    if not keys or comparison.kind == NOTHING or (comparison.kind == PREVIOUS and period.preset == "all"):
        return ()
    series = read_series(comparison.environment, _find_compared_buckets(comparison, period, buckets), keys)
    return [ChartLine(key, series[key].outcomes) for key in keys if any(series[key].outcomes)]


def _find_compared_buckets(comparison: Comparison, period: Period, buckets: Sequence[Bucket]) -> Sequence[Bucket]:
    return shift_buckets(period, buckets) if comparison.kind == PREVIOUS else buckets


def _subtract(totals: Sequence[int], columns: Sequence[Sequence[int]]) -> Sequence[int]:
    return [total - sum(parts) for total, *parts in zip(totals, *columns, strict=True)]
