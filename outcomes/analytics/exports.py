"""The tables of the outcomes pages for .json and .csv: the same rows as the pages, without a cap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils import timezone

from outcomes.analytics.chart_data import Chart, ChartLine, read_compared_numbers, read_key_chart
from outcomes.analytics.comparison_choice import ComparedShare
from outcomes.analytics.conversations_of_key import read_lags, select_conversations
from outcomes.analytics.key_phases import read_phases
from outcomes.analytics.outcomes_by_api_key import read_reporters
from outcomes.analytics.outcomes_page import Analytics
from outcomes.tallies.comparison import NOTHING, PREVIOUS, SIBLING, Comparison
from outcomes.tallies.first_and_last_data import find_first_data
from outcomes.tallies.retention_of_joins import find_retention_days_if_pruned
from outcomes.tallies.series import Totals, read_totals
from wire.table_exports import Table
from wire.time.buckets import show_numbers
from wire.time.period import Period
from workspaces.annotations.exports import build_annotations_table, list_pending_phase_cells, name_phase_columns
from workspaces.models import Environment

Rows = Iterator[Sequence[Any]]

KEY_COLUMNS = (
    "outcomeKey", "outcomes", "brokenJoins", "reports", "reached", "share",
    "outcomesBefore", "outcomesBeside", "change", "reachedBeside", "shareBeside", "sharePoints",
    "firstReportedAt", "lastReportedAt", "lookLikeIt", "movedHere",
)  # fmt: skip
OUTCOME_SERIES_COLUMNS = ("startsAt", "outcomeKey", "outcomes", "outcomesBefore", "outcomesBeside")
TOTALS_COLUMNS = ("period", "conversations", "outcomes", "brokenJoins", "reports")
FUNNEL_COLUMNS = (
    "step", "outcomeKey", "conversations", "stepBefore", "shareOfStepBefore", "lost", "lostLately", "shareOfFirst",
    "followed", "total",
)  # fmt: skip
LOST_COLUMNS = ("step", "outcomeKey", "conversationId", "stepBeforeAt")
PHASE_COLUMNS = (*name_phase_columns("conversations", "reached", "share"), "pendingShare")
REPORTER_COLUMNS = ("keyId", "keyName", "outcomes", "brokenJoins", "shareBroken")
LAG_COLUMNS = ("lagFromSeconds", "lag", "outcomes", "share")
CONVERSATION_COLUMNS = (
    "conversationId", "outcomeKey", "startedAt", "firstReportedAt", "lastReportedAt", "lagSeconds", "reports",
    "healedAt",
)  # fmt: skip


def list_outcomes_tables(analytics: Analytics) -> Sequence[Table]:
    def totals_rows() -> Rows:
        return _totals_rows(analytics.totals, analytics.compared_totals, _find_comparison_kind(analytics.comparison))

    return (
        Table("keys", KEY_COLUMNS, lambda: _key_rows(analytics)),
        export_series(analytics, "series"),
        Table("totals", TOTALS_COLUMNS, totals_rows),
        Table("funnel", FUNNEL_COLUMNS, lambda: _funnel_rows(analytics)),
        Table("lost", LOST_COLUMNS, lambda: _lost_rows(analytics)),
        build_annotations_table(analytics.environment, analytics.period),
    )


def export_series(analytics: Analytics, name: str) -> Table:
    """Return the table of the chart by key."""

    def series_rows() -> Rows:
        return _series_rows(analytics.chart, analytics.period, analytics.comparison, has_all_keys=True)

    return Table(name, OUTCOME_SERIES_COLUMNS, series_rows)


def list_key_tables(environment: Environment, period: Period, key: str, comparison: Comparison) -> Sequence[Table]:
    """Return the tables of one key. Without a key, `conversations` lists the conversations of all keys.

    `series`, `phases`, `reporters` and `lag` are empty then.
    """

    def series_rows() -> Rows:
        if not key:
            return iter(())
        return _series_rows(read_key_chart(environment, period, key, comparison), period, comparison)

    def totals_rows() -> Rows:
        compared_totals = read_totals(comparison.environment, comparison.period)
        return _totals_rows(read_totals(environment, period), compared_totals, _find_comparison_kind(comparison))

    return (
        Table("conversations", CONVERSATION_COLUMNS, select_conversations(environment, period, key)),
        Table("series", OUTCOME_SERIES_COLUMNS, series_rows),
        Table("phases", PHASE_COLUMNS, lambda: _phase_rows(environment, period, key) if key else iter(())),
        Table("reporters", REPORTER_COLUMNS, lambda: _reporter_rows(environment, period, key) if key else iter(())),
        Table("lag", LAG_COLUMNS, lambda: _lag_rows(environment, period, key) if key else iter(())),
        Table("totals", TOTALS_COLUMNS, totals_rows),
        build_annotations_table(environment, period),
    )


def _key_rows(analytics: Analytics) -> Rows:
    kind = _find_comparison_kind(analytics.comparison)
    for row, lookalikes, share in analytics.stream_keys():
        compared_cells = _split_compared(kind, row.compared_outcomes)
        moves = analytics.leave_out_moves(row)
        now, before = (moves.value, moves.previous) if moves else (row.outcomes, row.compared_outcomes)
        change = round(now / before - 1, 4) if before and share is None else None
        yield (
            row.key,
            *row.numbers[:-1],
            _divide(row.reached, analytics.totals.conversations),
            *compared_cells,
            change,
            *_list_share_cells(share),
            row.first_reported_at,
            row.last_reported_at,
            list(lookalikes),
            moves.moved_here if moves else 0,
        )


def _list_share_cells(share: ComparedShare | None) -> tuple[int | float | None, ...]:
    """Return three cells: the compared environment's conversations that reached the key, their share, the difference.

    The difference of the shares is in percentage points.
    """
    if share is None:
        return None, None, None
    points = None if share.points is None else round(share.points, 2)
    return share.compared_reached, _divide(share.compared_reached, share.compared_conversations), points


def _divide(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _funnel_rows(analytics: Analytics) -> Rows:
    if funnel := analytics.funnel:
        followed = funnel.followed_conversations
        for step in funnel.steps:
            losses = step.previous, _divide(step.conversations, step.previous), step.lost_conversations, step.recent
            cells_of_losses = losses if step.number > 1 else (None,) * 4
            share_of_first = _divide(step.conversations, followed)
            yield step.number, step.key, step.conversations, *cells_of_losses, share_of_first, followed, funnel.total


def _lost_rows(analytics: Analytics) -> Rows:
    if step := analytics.lost_step:
        for conversation in analytics.list_lost(limit=None):
            yield step.number, step.key, conversation.conversation_id, conversation.reached_at


def _find_comparison_kind(comparison: Comparison) -> str:
    """Return the kind of the comparison. If there were no data before, it is NOTHING, so that cells are null, not 0."""
    if comparison.kind != PREVIOUS:
        return comparison.kind
    first = find_first_data(comparison.environment)
    return PREVIOUS if first is not None and first < comparison.period.end else NOTHING


def _split_compared(kind: str, number: int | None) -> tuple[int | None, int | None]:
    """Return a compared number in one of two columns: of the previous period, or of another environment."""
    return (number if kind == PREVIOUS else None, number if kind == SIBLING else None)


def _totals_rows(totals: Totals, compared_totals: Totals, kind: str) -> Rows:
    """Yield the totals over all keys, and those that they are compared with.

    kind: the kind of the comparison.
    """
    yield _totals_row("now", totals)
    labels = {PREVIOUS: "before", SIBLING: "beside"}
    if label := labels.get(kind):
        yield _totals_row(label, compared_totals)


def _totals_row(label: str, totals: Totals) -> Sequence[Any]:
    return label, totals.conversations, totals.outcomes, totals.broken, totals.reports


def _series_rows(chart: Chart, period: Period, comparison: Comparison, *, has_all_keys: bool = False) -> Rows:
    """Yield the lines of a chart, each with what it is compared with; the row of all other keys has no outcomeKey.

    A bucket that has not begun has a row only if there is a number, by a clock that is ahead or of another environment.

    has_all_keys: whether the compared numbers of keys without a line belong to the rows of all other keys, even if
        these keys have no outcomes in the period itself.
    """
    kind = _find_comparison_kind(comparison)
    compared_numbers = read_compared_numbers(chart, period, comparison) if kind != NOTHING else {}
    lines = list(chart.lines)
    if has_all_keys and any(compared_numbers.get(None, ())) and all(line.key is not None for line in lines):
        lines.append(ChartLine(None, [0] * len(chart.buckets)))
    numbers_by_line = [show_numbers(chart.buckets, line.numbers) for line in lines]
    for index, bucket in enumerate(chart.buckets):
        for line, numbers in zip(lines, numbers_by_line, strict=True):
            compared_number = compared_numbers[line.key][index] if compared_numbers else None
            if bucket.has_begun or numbers[index] or compared_number:
                yield bucket.start, line.key, numbers[index], *_split_compared(kind, compared_number)


def _phase_rows(environment: Environment, period: Period, key: str) -> Rows:
    lags = read_lags(environment, period, key)
    for change in read_phases(environment, period, key, lags, now=timezone.now()):
        yield list_pending_phase_cells(change)


def _reporter_rows(environment: Environment, period: Period, key: str) -> Rows:
    has_all_joins = not find_retention_days_if_pruned(environment, period)
    for row in read_reporters(environment, period, key):
        prefix, name = (row.api_key.prefix, row.api_key.name or None) if row.api_key else (None, None)
        yield prefix, name, row.outcomes, row.broken, _divide(row.broken, row.reported) if has_all_joins else None


def _lag_rows(environment: Environment, period: Period, key: str) -> Rows:
    lags = read_lags(environment, period, key)
    for bar in lags.visible_bars:
        least = None if bar.least is None else int(bar.least.total_seconds())
        yield least, bar.label, bar.count, _divide(bar.count, lags.count)
