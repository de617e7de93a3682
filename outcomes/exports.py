"""The tables of the outcomes pages as .json and .csv give them: the same rows as the pages, without a cap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from outcomes import broken_joins, queries
from outcomes.broken_joins import BrokenJoin
from outcomes.diagnose import ADVICE
from wire.fields import unix
from wire.ranges import Range
from wire.tables import Table
from workspaces.models import Environment

Rows = Iterator[Sequence[Any]]

KEYS = (
    "outcomeKey", "outcomes", "brokenJoins", "reports", "reached", "outcomesBefore",
    "firstReportedAt", "lastReportedAt",
)  # fmt: skip
SERIES = ("startsAt", "outcomeKey", "outcomes")
JOIN = ("conversationId", "outcomeKey", "reports", "firstReportedAt", "lastReportedAt")
BROKEN = (*JOIN, "diagnosis", "found", "foundIn")
DIAGNOSES = ("diagnosis", "foundIn", "brokenJoins", "example", "found", "oldestReportedAt", "advice")
HEALED = (*JOIN, "healedAt", "healedAfterSeconds", "diagnosis")


def of_outcomes(environment: Environment, range: Range) -> Sequence[Table]:
    return (
        Table("keys", KEYS, lambda: key_rows(environment, range)),
        Table("series", SERIES, lambda: series_rows(environment, range)),
    )


def of_broken_joins(environment: Environment, range: Range) -> Sequence[Table]:
    return (
        Table("broken", BROKEN, lambda: broken_rows(environment, range)),
        Table("diagnoses", DIAGNOSES, lambda: diagnosis_rows(environment, range)),
        Table("healed", HEALED, lambda: healed_rows(environment, range)),
    )


def key_rows(environment: Environment, range: Range) -> Rows:
    for line in queries.keys(environment, range):
        times = (seconds(line.first_reported_at), seconds(line.last_reported_at))
        yield (line.key, line.outcomes, line.broken, line.reports, line.reached, line.before, *times)


def series_rows(environment: Environment, range: Range) -> Rows:
    """The lines of the chart; the line of all other keys has no outcomeKey."""
    chart = queries.chart(environment, range)
    for position, bucket in enumerate(chart.buckets):
        for line in chart.lines:
            yield unix(bucket.start), line.key, line.numbers[position]


def broken_rows(environment: Environment, range: Range) -> Rows:
    for join in every_broken_join(environment, range):
        found = join.diagnosis.found
        yield (
            join.conversation_id,
            join.outcome_key,
            join.reports,
            unix(join.first_reported_at),
            unix(join.last_reported_at),
            join.diagnosis.kind,
            found and found.conversation_id,
            found and found.environment,
        )


def diagnosis_rows(environment: Environment, range: Range) -> Rows:
    for cause in broken_joins.causes(every_broken_join(environment, range)):
        found = cause.example.diagnosis.found
        yield (
            cause.kind,
            cause.environment or None,
            cause.count,
            cause.example.conversation_id,
            found and found.conversation_id,
            unix(cause.oldest),
            ADVICE[cause.kind].to_do,
        )


def healed_rows(environment: Environment, range: Range) -> Rows:
    for outcome in broken_joins.healed_outcomes(environment, range).iterator(chunk_size=2000):
        yield (
            outcome.conversation.conversation_id,
            outcome.outcome_key,
            outcome.reports,
            unix(outcome.first_reported_at),
            unix(outcome.last_reported_at),
            unix(outcome.healed_at),
            round(outcome.healed_after.total_seconds()),
            "late",
        )


def every_broken_join(environment: Environment, range: Range) -> Iterator[BrokenJoin]:
    joins = broken_joins.still_broken(environment, range).iterator(chunk_size=2000)
    return broken_joins.diagnosed(environment, joins)


def seconds(moment: datetime | None) -> int | None:
    return None if moment is None else unix(moment)
