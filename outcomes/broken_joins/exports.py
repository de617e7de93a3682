"""The tables of the broken joins page for .json and .csv, which have the filters of the page and no limit on rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from outcomes.analytics.exports import Rows
from outcomes.broken_joins.cause_starts import find_cause_starts
from outcomes.broken_joins.causes.advice import write_advice
from outcomes.broken_joins.causes.groups import BrokenJoin, group_by_cause
from outcomes.broken_joins.diagnosed_joins import JOINS_AT_ONCE, stream_broken_joins
from outcomes.broken_joins.filters import JoinFilters
from outcomes.broken_joins.healed_joins import find_healed_outcomes, find_longest_healing, measure_healing
from outcomes.broken_joins.join_phases import read_join_phases
from outcomes.broken_joins.listed_joins import find_listed_joins
from outcomes.broken_joins.queries import find_broken_joins, list_api_keys
from outcomes.broken_joins.rates import RateChart, read_rates_by_api_key, read_rates_by_environment
from outcomes.broken_joins.reported_again import find_last_reports_by_cause, find_reported_again
from outcomes.models import Move
from outcomes.tallies.first_and_last_data import find_first_data
from outcomes.tallies.series import read_totals
from wire.table_exports import Table
from wire.time.period import Period
from wire.time.timestamps import EARLIEST, round_to_units
from workspaces.annotations.exports import build_annotations_table, list_pending_phase_cells, name_phase_columns
from workspaces.models import ApiKey, Environment

OUTCOME_COLUMNS = ("conversationId", "outcomeKey", "reports", "firstReportedAt", "lastReportedAt")
BROKEN_JOIN_COLUMNS = (*OUTCOME_COLUMNS, "diagnosis", "found", "foundIn", "reportedBy")
CAUSE_COLUMNS = (
    *("diagnosis", "foundIn", "brokenJoins", "example", "found", "oldestReportedAt", "lastReportedAt", "advice"),
    *("since", "orEarlier", "reportedBy", "mayHeal", "conversationIds", "idsThatMayHeal"),
)
HEALED_COLUMNS = (*OUTCOME_COLUMNS, "healedAt", "healedAfterSeconds", "diagnosis")
RATE_COLUMNS = ("startsAt", "name", "brokenJoins", "reported")
PHASE_COLUMNS = (*name_phase_columns("reported", "brokenJoins", "rate"), "healingShare")
TOTALS_COLUMNS = ("period", "brokenJoins", "reported")
MOVE_COLUMNS = ("move", "from", "to", "outcomes", "met", "movedAt", "movedBy", "undoneAt", "undoneBy")


def list_joins_tables(environment: Environment, period: Period, filters: JoinFilters) -> tuple[Table, ...]:
    return (
        Table("broken", BROKEN_JOIN_COLUMNS, lambda: _broken_join_rows(environment, period, filters)),
        Table("diagnoses", CAUSE_COLUMNS, lambda: _cause_rows(environment, period, filters.key)),
        Table("healed", HEALED_COLUMNS, lambda: _healed_rows(environment, period)),
        Table("rates", RATE_COLUMNS, lambda: _rate_rows(read_rates_by_environment(environment, period))),
        Table("rates-by-key", RATE_COLUMNS, lambda: _rate_rows(read_rates_by_api_key(environment, period))),
        Table("phases", PHASE_COLUMNS, lambda: _phase_rows(environment, period)),
        Table("moves", MOVE_COLUMNS, lambda: _move_rows(environment)),
        Table("totals", TOTALS_COLUMNS, lambda: _totals_rows(environment, period)),
        build_annotations_table(environment, period),
    )


def _broken_join_rows(environment: Environment, period: Period, filters: JoinFilters) -> Rows:
    api_keys = list_api_keys(environment)
    for join in stream_broken_joins(environment, find_listed_joins(environment, period, filters)):
        if filters.select(join, api_keys):
            yield write_join_cells(join, api_keys)


def write_join_cells(join: BrokenJoin, api_keys: Mapping[int | None, ApiKey]) -> Sequence[Any]:
    """Return a join's cells of BROKEN_JOIN_COLUMNS.

    api_keys: the result of `list_api_keys`.
    """
    match, api_key = join.diagnosis.match, api_keys.get(join.reported_by)
    return (
        join.conversation_id,
        join.outcome_key,
        join.reports,
        join.first_reported_at,
        join.last_reported_at,
        join.diagnosis.kind,
        match and match.conversation_id,
        match and match.environment,
        str(api_key) if api_key else None,
    )


def _cause_rows(environment: Environment, period: Period, key: str) -> Rows:
    """Yield the causes of the joins with this outcome key, "" for any."""
    longest_healing, api_keys = find_longest_healing(environment), list_api_keys(environment)
    joins = stream_broken_joins(environment, find_broken_joins(environment, period, key))
    causes = group_by_cause(joins, may_heal_from=timezone.now() - longest_healing if longest_healing else None)
    starts = find_cause_starts(environment, period, causes, key=key)
    joins_reported_again = stream_broken_joins(environment, find_reported_again(environment, period, key))
    last_reports = find_last_reports_by_cause(joins_reported_again)
    for cause in causes:
        match, start = cause.example.diagnosis.match, starts[cause.kind, cause.environment]
        yield (
            cause.kind,
            cause.environment or None,
            cause.count,
            cause.example.conversation_id,
            match and match.conversation_id,
            cause.oldest,
            max(cause.last_reported_at, last_reports.get((cause.kind, cause.environment), EARLIEST)),
            write_advice(cause, longest_healing),
            start.since,
            not start.is_certain,
            {str(api_keys[pk]): count for pk, count in cause.reporters.most_common() if pk in api_keys},
            cause.may_heal if cause.kind == "never-seen" else None,
            cause.conversation_ids,
            None if cause.kind != "never-seen" or cause.may_heal is None else cause.ids_that_may_heal,
        )


def _healed_rows(environment: Environment, period: Period) -> Rows:
    for outcome in find_healed_outcomes(environment, period).iterator(chunk_size=JOINS_AT_ONCE):
        yield (
            outcome.conversation.conversation_id,
            outcome.outcome_key,
            outcome.reports,
            outcome.first_reported_at,
            outcome.last_reported_at,
            outcome.healed_at,
            None if outcome.healed_after is None else round_to_units(outcome.healed_after),
            "late",
        )


def _rate_rows(chart: RateChart) -> Rows:
    for number, bucket in enumerate(chart.buckets):
        for rate in chart.rates:
            broken_joins, reported_outcomes = rate.broken_joins[number], rate.reported_outcomes[number]
            if bucket.has_begun or reported_outcomes:
                yield bucket.start, rate.name, broken_joins, reported_outcomes


def _phase_rows(environment: Environment, period: Period) -> Rows:
    healing = measure_healing(environment, period)
    for change in read_join_phases(environment, period, healing, now=timezone.now()):
        yield list_pending_phase_cells(change)


def _totals_rows(environment: Environment, period: Period) -> Rows:
    """Yield the counts of the period, and those of the period before if the data of the environment reach into it."""
    spans = [("now", period)]
    if period.has_data_before(find_first_data(environment)):
        spans.append(("before", period.previous()))
    for label, span in spans:
        totals = read_totals(environment, span)
        yield label, totals.broken, totals.reported_outcomes


def _move_rows(environment: Environment) -> Rows:
    for move in Move.objects.list_readable(environment).iterator():
        yield (
            move.pk,
            move.source.name,
            move.target.name,
            move.outcomes,
            move.met,
            move.moved_at,
            move.moved_by,
            move.undone_at,
            move.undone_by or None,
        )
