"""The tables of the rejections page as its downloads write them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from affidavit import REASONS
from intents.models import Rejection
from intents.rejections.analysis import Findings
from intents.rejections.series import Bucket
from intents.rejections.totals import Line, ReasonLine
from wire.tables import Table

REASON_COLUMNS = (
    *("reason", "rejections", "share", "rejectionsBefore", "lastAt"),
    *("check", "meaning", "usualFix"),
)
SERIES_COLUMNS = ("start", "verifications", "rejections", *REASONS)
LINE_COLUMNS = ("verifications", "rejections", "rate", "mainReason", "lastAt")
SINGLE_COLUMNS = ("occurredAt", "reason", "version", "operation", "toolCallId", "count")


def tables(found: Findings) -> Sequence[Table]:
    """What was not told is null; shares and rates are between 0 and 1."""
    return [
        Table("reasons", REASON_COLUMNS, lambda: map(reason_row, found.reasons)),
        Table("series", SERIES_COLUMNS, lambda: map(bucket_row, found.series)),
        Table("versions", ("version", *LINE_COLUMNS), lambda: map(line_row, found.versions)),
        Table("operations", ("operation", *LINE_COLUMNS), lambda: map(line_row, found.operations)),
        Table("rejections", SINGLE_COLUMNS, lambda: single_rows(found)),
    ]


def reason_row(line: ReasonLine) -> Sequence[Any]:
    reason = REASONS[line.reason]
    counted = (line.reason, line.count, line.share, line.before, line.last_at)
    return (*counted, reason.check, reason.meaning, reason.usual_fix)


def bucket_row(bucket: Bucket) -> Sequence[Any]:
    by_reason = (bucket.counts[reason] for reason in REASONS)
    return (bucket.start, bucket.verifications, bucket.rejections, *by_reason)


def line_row(line: Line) -> Sequence[Any]:
    return (
        line.name or None,
        line.verifications,
        line.rejections,
        line.rate,
        line.reason or None,
        line.last_at,
    )


def single_rows(found: Findings) -> Iterator[Sequence[Any]]:
    return map(single_row, found.singles.iterator())


def single_row(rejection: Rejection) -> Sequence[Any]:
    return (
        rejection.occurred_at,
        rejection.reason,
        rejection.version or None,
        rejection.operation or None,
        rejection.tool_call_id or None,
        rejection.count,
    )
