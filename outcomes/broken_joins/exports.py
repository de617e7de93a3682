"""The tables of the broken joins page as .json and .csv give them: the same rows, same filters, without a cap."""

from __future__ import annotations

from collections.abc import Iterator

from outcomes.analytics.exports import Rows
from outcomes.analytics.filters import JoinFilters
from outcomes.broken_joins import lookup, rates
from outcomes.broken_joins.diagnose import ADVICE
from outcomes.broken_joins.lookup import BrokenJoin
from outcomes.models import Move
from wire.period import Period
from wire.tables import Table
from wire.timestamps import unix_seconds
from workspaces.models import Environment

JOIN = ("conversationId", "outcomeKey", "reports", "firstReportedAt", "lastReportedAt")
BROKEN = (*JOIN, "diagnosis", "found", "foundIn", "reportedBy")
DIAGNOSES = ("diagnosis", "foundIn", "brokenJoins", "example", "found", "oldestReportedAt", "advice")
HEALED = (*JOIN, "healedAt", "healedAfterSeconds", "diagnosis")
RATES = ("startsAt", "name", "brokenJoins", "reported")
MOVES = ("move", "from", "to", "outcomes", "met", "movedAt", "movedBy", "undoneAt", "undoneBy")


def of_broken_joins(environment: Environment, period: Period, asked: JoinFilters) -> tuple[Table, ...]:
    return (
        Table("broken", BROKEN, lambda: broken_rows(environment, period, asked)),
        Table("diagnoses", DIAGNOSES, lambda: diagnosis_rows(environment, period)),
        Table("healed", HEALED, lambda: healed_rows(environment, period)),
        Table("rates", RATES, lambda: rate_rows(rates.by_environment(environment, period))),
        Table("rates-by-key", RATES, lambda: rate_rows(rates.by_api_key(environment, period))),
        Table("moves", MOVES, lambda: move_rows(environment)),
    )


def broken_rows(environment: Environment, period: Period, asked: JoinFilters) -> Rows:
    names = key_names(environment)
    for join in every_broken_join(environment, period):
        if asked.why and not lookup.is_of(join, asked.why, asked.found_in):
            continue
        found = join.diagnosis.found
        yield (
            join.conversation_id,
            join.outcome_key,
            join.reports,
            unix_seconds(join.first_reported_at),
            unix_seconds(join.last_reported_at),
            join.diagnosis.kind,
            found and found.conversation_id,
            found and found.environment,
            names.get(join.reported_by),
        )


def diagnosis_rows(environment: Environment, period: Period) -> Rows:
    for cause in lookup.causes(every_broken_join(environment, period)):
        found = cause.example.diagnosis.found
        yield (
            cause.kind,
            cause.environment or None,
            cause.count,
            cause.example.conversation_id,
            found and found.conversation_id,
            unix_seconds(cause.oldest),
            ADVICE[cause.kind].to_do,
        )


def healed_rows(environment: Environment, period: Period) -> Rows:
    for outcome in lookup.healed_outcomes(environment, period).iterator(chunk_size=2000):
        yield (
            outcome.conversation.conversation_id,
            outcome.outcome_key,
            outcome.reports,
            unix_seconds(outcome.first_reported_at),
            unix_seconds(outcome.last_reported_at),
            unix_seconds(outcome.healed_at),
            round(outcome.healed_after.total_seconds()),
            "late",
        )


def rate_rows(trend: rates.Trend) -> Rows:
    for position, bucket in enumerate(trend.buckets):
        for rate in trend.rates:
            yield unix_seconds(bucket.start), rate.name, rate.broken[position], rate.reported[position]


def move_rows(environment: Environment) -> Rows:
    for move in Move.objects.of(environment).iterator():
        undone = (move.undone_at and unix_seconds(move.undone_at), move.undone_by or None)
        numbers = (move.outcomes, move.met, unix_seconds(move.moved_at), move.moved_by)
        yield move.pk, move.source.name, move.target.name, *numbers, *undone


def every_broken_join(environment: Environment, period: Period) -> Iterator[BrokenJoin]:
    joins = lookup.still_broken(environment, period).iterator(chunk_size=2000)
    return lookup.diagnosed(environment, joins)


def key_names(environment: Environment) -> dict[int | None, str]:
    """API keys of the workspace by row id, as their first characters: all that is stored of them."""
    return {key.pk: str(key) for key in environment.workspace.api_keys.all()}
