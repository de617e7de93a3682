"""The tables of the outcomes pages as .json and .csv give them: the same rows as the pages, without a cap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from outcomes.analytics import conversations
from outcomes.analytics.page import Analytics
from outcomes.tallies import series
from outcomes.tallies.series import Chart, Totals
from wire.period import Period
from wire.tables import Table
from wire.timestamps import unix_seconds
from workspaces.models import Environment

Rows = Iterator[Sequence[Any]]

KEYS = (
    "outcomeKey", "outcomes", "brokenJoins", "reports", "reached", "outcomesBefore",
    "firstReportedAt", "lastReportedAt", "lookLikeIt",
)  # fmt: skip
SERIES = ("startsAt", "outcomeKey", "outcomes", "outcomesBefore")
TOTALS = ("period", "conversations", "outcomes", "brokenJoins", "reports")
PAIRS = ("outcomeKey", "outcomes", "reached", "environmentBeside", "outcomesBeside", "reachedBeside")
PAIR_SERIES = ("startsAt", "environment", "outcomes")
LAG = ("lagFromSeconds", "lag", "outcomes")
CONVERSATIONS = (
    "conversationId", "outcomeKey", "startedAt", "firstReportedAt", "lastReportedAt", "lagSeconds", "reports",
    "healedAt",
)  # fmt: skip


def of_outcomes(found: Analytics) -> Sequence[Table]:
    return (
        Table("keys", KEYS, lambda: key_rows(found)),
        Table("series", SERIES, lambda: series_rows(found.chart)),
        Table("beside", PAIRS, lambda: pair_rows(found)),
        Table("beside-series", PAIR_SERIES, lambda: pair_series_rows(found)),
        Table("totals", TOTALS, lambda: total_rows(found.totals, found.before)),
    )


def of_key(environment: Environment, period: Period, key: str) -> Sequence[Table]:
    """Without a key, `conversations` has those of all keys."""
    return (
        Table("conversations", CONVERSATIONS, lambda: conversation_rows(environment, period, key)),
        Table("series", SERIES, lambda: series_rows(series.key_chart(environment, period, key)) if key else iter(())),
        Table("lag", LAG, lambda: lag_rows(environment, period, key) if key else iter(())),
        Table(
            "totals",
            TOTALS,
            lambda: total_rows(*(series.totals(environment, at) for at in (period, period.previous()))),
        ),
    )


def key_rows(found: Analytics) -> Rows:
    for line, alike in found.every_key():
        times = (seconds(line.first_reported_at), seconds(line.last_reported_at))
        yield (line.key, *line.numbers, *times, list(alike))


def total_rows(now: Totals, before: Totals) -> Rows:
    """Over all keys, where there is anything; a key's share is what it reached of the conversations."""
    if now == before == Totals():
        return
    for period, totals in (("now", now), ("before", before)):
        yield period, totals.conversations, totals.outcomes, totals.broken, totals.reports


def series_rows(chart: Chart) -> Rows:
    """The lines of the chart; the line of all other keys has no outcomeKey, and only the first has a before."""
    for position, bucket in enumerate(chart.buckets):
        for line in chart.lines:
            before = chart.before[position] if chart.before and line is chart.lines[0] else None
            yield unix_seconds(bucket.start), line.key, line.numbers[position], before


def pair_rows(found: Analytics) -> Rows:
    for pair in found.pairs():
        there = found.sibling and found.sibling.name
        yield pair.key, pair.outcomes, pair.reached, there, pair.outcomes_there, pair.reached_there


def pair_series_rows(found: Analytics) -> Rows:
    if found.both:
        for position, bucket in enumerate(found.both.chart.buckets):
            for line in found.both.chart.lines:
                yield unix_seconds(bucket.start), line.key, line.numbers[position]


def conversation_rows(environment: Environment, period: Period, key: str) -> Rows:
    for row in conversations.every(environment, period, key):
        times = (unix_seconds(row.started_at), unix_seconds(row.first_reported_at), unix_seconds(row.last_reported_at))
        lag = round(row.lag.total_seconds())
        yield row.conversation_id, row.outcome_key, *times, lag, row.reports, seconds(row.healed_at)


def lag_rows(environment: Environment, period: Period, key: str) -> Rows:
    for bar in conversations.lags(environment, period, key).shown:
        yield None if bar.least is None else int(bar.least.total_seconds()), bar.label, bar.count


def seconds(moment: datetime | None) -> int | None:
    return None if moment is None else unix_seconds(moment)
