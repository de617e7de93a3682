"""The numbers of a chart: a line for each key, and the rate of broken joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outcomes.models import ALL_KEYS
from outcomes.tallies.series import chart_buckets, read_previous_outcomes, read_series
from wire.period import Period
from wire.time_buckets import Bucket
from workspaces.models import Environment

MAX_LINES = 8  # the number of colours of a chart
NAME_OF_REST = "all other keys"


@dataclass(frozen=True)
class ChartLine:
    """One number for each bucket; `key` is None for all keys that have no line of their own."""

    key: str | None
    numbers: Sequence[int]

    @property
    def name(self) -> str:
        return NAME_OF_REST if self.key is None else self.key

    @property
    def total(self) -> int:
        return sum(self.numbers)


@dataclass(frozen=True)
class BrokenRate:
    """Broken joins, and all that was reported, in each bucket, of one environment or API key."""

    name: str
    broken: list[int]
    reported: list[int]

    @property
    def ratios(self) -> list[float | None]:
        buckets = zip(self.broken, self.reported, strict=True)
        return [round(broken / reported, 4) if reported else None for broken, reported in buckets]

    @property
    def total_broken(self) -> int:
        return sum(self.broken)

    @property
    def total_reported(self) -> int:
        return sum(self.reported)


@dataclass(frozen=True)
class Chart:
    """Outcomes over a period: a line for each of some keys, and one for all others.

    previous: the first line's numbers in the previous period, bucket by bucket; empty where there were none.
    """

    buckets: Sequence[Bucket]
    lines: Sequence[ChartLine]
    previous: Sequence[int] = ()


def read_chart(environment: Environment, period: Period, keys: Sequence[str], *, without: Sequence[str] = ()) -> Chart:
    """Return a line for each of `keys` that has outcomes, and one for the rest; keys of `without` are in neither."""
    buckets = chart_buckets(environment, period)
    series = read_series(environment, buckets, [*keys, *without, ALL_KEYS])
    lines = [ChartLine(key, series[key].outcomes) for key in keys if any(series[key].outcomes)]
    numbers_without = [series[key].outcomes for key in without]
    remainder = _subtract(series[ALL_KEYS].outcomes, [*(line.numbers for line in lines), *numbers_without])
    if any(remainder):
        lines.append(ChartLine(None, remainder))
    first_key = lines[0].key if lines else None
    previous = () if first_key is None else read_previous_outcomes(environment, period, buckets, first_key)
    return Chart(buckets, lines, previous)


def read_key_chart(environment: Environment, period: Period, key: str) -> Chart:
    """Return the line of one key, without one for all others."""
    chart = read_chart(environment, period, [key])
    return Chart(chart.buckets, [line for line in chart.lines if line.key == key], chart.previous)


def _subtract(totals: Sequence[int], columns: Sequence[Sequence[int]]) -> Sequence[int]:
    return [total - sum(parts) for total, *parts in zip(totals, *columns, strict=True)]
