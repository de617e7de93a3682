"""The tables of the outcomes pages for .json and .csv: the same rows as the pages, without a cap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from outcomes.analytics.chart_data import Chart, read_key_chart
from outcomes.analytics.conversations import read_lags, select_conversations
from outcomes.analytics.outcomes_page import Analytics
from outcomes.tallies.series import Totals, read_totals
from wire.period import Period
from wire.table_exports import Table
from wire.timestamps import unix_seconds
from workspaces.annotations.exports import build_annotations_table
from workspaces.models import Environment

Rows = Iterator[Sequence[Any]]

KEY_COLUMNS = (
    "outcomeKey", "outcomes", "brokenJoins", "reports", "reached", "outcomesBefore",
    "firstReportedAt", "lastReportedAt", "lookLikeIt",
)  # fmt: skip
OUTCOME_SERIES_COLUMNS = ("startsAt", "outcomeKey", "outcomes", "outcomesBefore")
TOTALS_COLUMNS = ("period", "conversations", "outcomes", "brokenJoins", "reports")
KEY_COMPARISON_COLUMNS = ("outcomeKey", "outcomes", "reached", "environmentBeside", "outcomesBeside", "reachedBeside")
COMPARISON_SERIES_COLUMNS = ("startsAt", "environment", "outcomes")
LAG_COLUMNS = ("lagFromSeconds", "lag", "outcomes")
CONVERSATION_COLUMNS = (
    "conversationId", "outcomeKey", "startedAt", "firstReportedAt", "lastReportedAt", "lagSeconds", "reports",
    "healedAt",
)  # fmt: skip


def list_outcomes_tables(analytics: Analytics) -> Sequence[Table]:
    return (
        Table("keys", KEY_COLUMNS, lambda: _key_rows(analytics)),
        export_series(analytics, "series"),
        Table("beside", KEY_COMPARISON_COLUMNS, lambda: _comparison_rows(analytics)),
        Table("beside-series", COMPARISON_SERIES_COLUMNS, lambda: _comparison_series_rows(analytics)),
        Table("totals", TOTALS_COLUMNS, lambda: _totals_rows(analytics.totals, analytics.previous_totals)),
        build_annotations_table(analytics.environment, analytics.period),
    )


def export_series(analytics: Analytics, name: str) -> Table:
    """Return the table of the chart by key."""
    return Table(name, OUTCOME_SERIES_COLUMNS, lambda: _series_rows(analytics.chart))


def list_key_tables(environment: Environment, period: Period, key: str) -> Sequence[Table]:
    """Return the tables of one key; without a key, `conversations` has those of all keys, and `series` is empty."""

    def series_rows() -> Rows:
        return _series_rows(read_key_chart(environment, period, key)) if key else iter(())

    def totals_rows() -> Rows:
        return _totals_rows(read_totals(environment, period), read_totals(environment, period.previous()))

    return (
        Table("conversations", CONVERSATION_COLUMNS, select_conversations(environment, period, key)),
        Table("series", OUTCOME_SERIES_COLUMNS, series_rows),
        Table("lag", LAG_COLUMNS, lambda: _lag_rows(environment, period, key) if key else iter(())),
        Table("totals", TOTALS_COLUMNS, totals_rows),
        build_annotations_table(environment, period),
    )


def _key_rows(analytics: Analytics) -> Rows:
    for row, lookalikes in analytics.stream_keys():
        times = (unix_or_none(row.first_reported_at), unix_or_none(row.last_reported_at))
        yield (row.key, *row.numbers, *times, list(lookalikes))


def _totals_rows(totals: Totals, previous_totals: Totals) -> Rows:
    """Yield the totals over all keys, unless all are 0; the share of a key is relative to the conversations."""
    if totals == previous_totals == Totals():
        return
    for label, numbers in (("now", totals), ("before", previous_totals)):
        yield label, numbers.conversations, numbers.outcomes, numbers.broken, numbers.reports


def _series_rows(chart: Chart) -> Rows:
    """Yield the lines of a chart; that of all other keys has no outcomeKey, and only the first a previous period."""
    for number, bucket in enumerate(chart.buckets):
        for line in chart.lines:
            previous = chart.previous[number] if chart.previous and line is chart.lines[0] else None
            yield unix_seconds(bucket.start), line.key, line.numbers[number], previous


def _comparison_rows(analytics: Analytics) -> Rows:
    sibling_name = analytics.sibling and analytics.sibling.name
    for row in analytics.stream_key_comparisons():
        yield row.key, row.outcomes, row.reached, sibling_name, row.sibling_outcomes, row.sibling_reached


def _comparison_series_rows(analytics: Analytics) -> Rows:
    if analytics.comparison:
        chart = analytics.comparison.chart
        for number, bucket in enumerate(chart.buckets):
            for line in chart.lines:
                yield unix_seconds(bucket.start), line.key, line.numbers[number]


def _lag_rows(environment: Environment, period: Period, key: str) -> Rows:
    for bar in read_lags(environment, period, key).visible_bars:
        yield None if bar.least is None else int(bar.least.total_seconds()), bar.label, bar.count


def unix_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else unix_seconds(moment)
