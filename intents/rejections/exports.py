"""The tables of the rejections page, as rows for JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from affidavit import REASONS
from intents.models import Rejection
from intents.rejections.intents_of_rejections import find_users
from intents.rejections.phases import RejectionChange
from intents.rejections.rejections_by_key import KeyRejections
from intents.rejections.rejections_page import RejectionAnalysis
from intents.rejections.tallies.series import ResultBucket
from intents.rejections.tallies.totals import GroupSummary, count_rejections, count_verifications
from wire.batches import split_into_batches
from wire.table_exports import Table
from workspaces.annotations.exports import build_annotations_table, list_phase_cells, name_phase_columns
from workspaces.models import Environment

REASON_COLUMNS = (
    *("reason", "rejections", "share", "rejectionsBefore", "lastAt"),
    *("check", "meaning", "usualFix"),
)
SERIES_COLUMNS = ("start", "verifications", "rejections", *REASONS)
PHASE_COLUMNS = (
    *name_phase_columns("verifications", "rejections", "rate"),
    *("grownReason", "reasonPoints", "reasonMayBeChance"),
)
GROUP_COLUMNS = ("verifications", "rejections", "rate", "mainReason", "lastAt")
KEY_COLUMNS = ("keyId", "keyName", "rejections", "lastAt", "reasons")
TOTALS_COLUMNS = ("period", "verifications", "rejections")
REJECTION_COLUMNS = ("occurredAt", "reason", "version", "operation", "toolCallId", "count", "sub")
BATCH = 1_000  # rejections whose users are read together


def build_tables(analysis: RejectionAnalysis) -> Sequence[Table]:
    """Return the page's tables. What was not reported is null; shares and rates are between 0 and 1."""
    return [
        Table("reasons", REASON_COLUMNS, lambda: _list_reason_rows(analysis)),
        Table("series", SERIES_COLUMNS, lambda: _bucket_rows(analysis.buckets)),
        Table("phases", PHASE_COLUMNS, lambda: map(_phase_row, analysis.phases)),
        Table("versions", ("version", *GROUP_COLUMNS), lambda: map(_group_row, analysis.versions)),
        Table("operations", ("operation", *GROUP_COLUMNS), lambda: map(_group_row, analysis.operations)),
        Table("keys", KEY_COLUMNS, lambda: map(_key_row, analysis.keys)),
        Table("rejections", REJECTION_COLUMNS, lambda: list_rejection_rows(analysis.environment, analysis.rejections)),
        Table("totals", TOTALS_COLUMNS, lambda: _totals_rows(analysis)),
        build_annotations_table(analysis.environment, analysis.period),
    ]


def _list_reason_rows(analysis: RejectionAnalysis) -> Iterator[Sequence[Any]]:
    has_previous = analysis.has_data_before
    for summary in analysis.reasons:
        reason = REASONS[summary.reason]
        numbers = (summary.count, summary.share, summary.previous_count if has_previous else None, summary.last_at)
        yield (summary.reason, *numbers, reason.check, reason.meaning, reason.usual_fix)


def _totals_rows(analysis: RejectionAnalysis) -> Iterator[Sequence[Any]]:
    """Yield the counts of the period, and of the one before if verifications began before its end."""
    previous = [("before", analysis.previous_totals)] if analysis.has_data_before else []
    for label, totals in (("now", analysis.totals), *previous):
        yield label, count_verifications(totals), count_rejections(totals)


def _bucket_rows(buckets: Sequence[ResultBucket]) -> Iterator[Sequence[Any]]:
    """Yield the numbers of each bucket. One that has not begun has a row only if something was verified in it."""
    for bucket in buckets:
        if bucket.has_begun or bucket.verifications:
            by_reason = (bucket.counts[reason] for reason in REASONS)
            yield bucket.start, bucket.verifications, bucket.rejections, *by_reason


def _phase_row(change: RejectionChange) -> Sequence[Any]:
    growth = change.growth
    grown_cells = (growth.reason, round(growth.points, 2), growth.is_within_chance) if growth else (None,) * 3
    return (*list_phase_cells(change), *grown_cells)


def _group_row(summary: GroupSummary) -> Sequence[Any]:
    return (
        summary.name or None,
        summary.verifications,
        summary.rejections,
        summary.rate,
        " ".join(summary.main_reasons) or None,
        summary.last_at,
    )


def _key_row(row: KeyRejections) -> Sequence[Any]:
    prefix, name = (row.key.prefix, row.key.name or None) if row.key else (None, None)
    return (prefix, name, row.rejections, row.last_at, dict(row.reasons))


def list_rejection_rows(environment: Environment, rejections: QuerySet[Rejection]) -> Iterator[Sequence[Any]]:
    """Yield the rows of single rejections of an environment, each with the user of its intent."""
    for batch in split_into_batches(rejections.iterator(), BATCH):
        users = find_users(environment, batch)
        yield from (_list_rejection_cells(rejection, users.get(rejection.pk)) for rejection in batch)


def _list_rejection_cells(rejection: Rejection, user: str | None) -> Sequence[Any]:
    return (
        rejection.occurred_at,
        rejection.reason,
        rejection.version or None,
        rejection.operation or None,
        rejection.tool_call_id or None,
        rejection.count,
        user,
    )
