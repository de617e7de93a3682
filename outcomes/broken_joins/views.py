"""The page of broken joins: which ids did not match, why, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from outcomes.analytics.example_report import first_report_snippets
from outcomes.broken_joins.cause_starts import find_cause_starts
from outcomes.broken_joins.causes.advice import ADVICE, write_advice
from outcomes.broken_joins.causes.groups import BrokenJoin, group_by_cause
from outcomes.broken_joins.diagnosed_joins import NEWEST_DIAGNOSED, diagnose_joins
from outcomes.broken_joins.exports import list_joins_tables
from outcomes.broken_joins.filters import BY_LAST_REPORT, DIAGNOSES, JoinFilters, parse_join_filters
from outcomes.broken_joins.healed_joins import find_healed_outcomes, find_longest_healing, measure_healing
from outcomes.broken_joins.join_phases import read_join_phases
from outcomes.broken_joins.listed_joins import ROWS_PER_PAGE, count_ids, find_listed_joins, page_all, page_matching
from outcomes.broken_joins.moves.moves_section import describe_moves
from outcomes.broken_joins.queries import find_broken_joins, find_oldest_report, list_api_keys
from outcomes.broken_joins.rate_figures import MIN_REPORTED, draw_rates
from outcomes.broken_joins.rates import read_rates_by_api_key, read_rates_by_environment
from outcomes.broken_joins.reported_again import ReportedAgain, find_last_reports_by_cause, read_reported_again
from outcomes.tallies.first_and_last_data import find_first_data, has_any_outcome
from outcomes.tallies.keys import read_keys
from outcomes.tallies.moved_counts import count_moved
from outcomes.tallies.retention_of_joins import find_retention_days
from outcomes.tallies.series import find_step, read_totals
from outcomes.tallies.without_moves import leave_out_moves
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.annotations.phase_comparison import has_comparison
from workspaces.keys.prefix import find_by_prefix
from workspaces.models import ApiKey, Environment, Membership, Workspace
from workspaces.pages.page import Page


def show_broken_joins(request: HttpRequest, environment: Environment, period: Period) -> Page:
    filters = parse_join_filters(request.GET)
    reporter = find_by_prefix(environment.workspace, filters.key_prefix)
    filters = filters if reporter else replace(filters, key_prefix="")

    def build_context() -> Mapping[str, Any]:
        if not has_any_outcome(environment):
            return {"empty": True, **first_report_snippets(environment)}
        totals, previous_totals = read_totals(environment, period), read_totals(environment, period.previous())
        moved = (count_moved(environment, period), count_moved(environment, period.previous()))
        healing = measure_healing(environment, period)
        phases = read_join_phases(environment, period, healing, now=timezone.now())
        return {
            "empty": False,
            "filters": filters,
            "reporter": reporter,
            "totals": totals,
            "previous_totals": previous_totals,
            "without_moves": leave_out_moves((totals, previous_totals), moved),
            "healing": healing,
            "healed_outcomes": find_healed_outcomes(environment, period)[:ROWS_PER_PAGE],
            "oldest": find_oldest_report(environment),
            "first_data": find_first_data(environment),
            "may_open_keys": has_role(request.user, environment.workspace, Membership.ADMIN),
            **_describe_joins(environment, period, filters, request.GET.get("page"), totals.broken),
            **_draw_rates(environment, period),
            "phases": phases if has_comparison(phases) else [],
            **describe_moves(request, environment, period, filters),
        }

    tables = list_joins_tables(environment, period, filters)
    takes: Mapping[str, Callable[[str], object]] = {
        "why": DIAGNOSES.__contains__,
        "in": lambda _: filters.found_in,
        "by": partial(find_by_prefix, environment.workspace),
        "again": {"1"}.__contains__,
        "sort": {BY_LAST_REPORT}.__contains__,
    }
    return Page("outcomes/broken_joins.html", build_context, tables, takes=takes)


def _describe_joins(
    environment: Environment, period: Period, filters: JoinFilters, page_number: str | None, count: int
) -> Mapping[str, Any]:
    """Return the causes of the joins, or of the newest if there are very many, and one page of the joins.

    count: the number of joins in the period; tallies count also those that retention has deleted.
    """
    kept_days = find_retention_days(environment, period)
    joins_of_key = find_broken_joins(environment, period, filters.key)
    newest = list(diagnose_joins(environment, joins_of_key[:NEWEST_DIAGNOSED]))
    again = read_reported_again(environment, period, filters.key)
    api_keys, is_partial = list_api_keys(environment), len(newest) == NEWEST_DIAGNOSED
    listed_joins = find_listed_joins(environment, period, filters)
    listed: Sequence[BrokenJoin] = newest
    if filters.is_again:
        listed = again.joins
    elif filters.by_last_report:
        listed = list(diagnose_joins(environment, listed_joins[:NEWEST_DIAGNOSED]))
    if filters:
        rows, joins = page_matching(listed, filters, api_keys, page_number)
    else:
        rows, joins = page_all(environment, listed_joins, page_number, None if kept_days else count, listed)
    return {
        "causes": _describe_causes(environment, period, newest, api_keys, filters.key, again, is_partial=is_partial),
        "archived_environments": _list_archived(environment.workspace),
        "again": again,
        "again_causes": [(cause, ADVICE[cause.kind]) for cause in again.causes],
        "listed_joins": len(listed),
        "is_by_last_report": filters.is_again or filters.by_last_report,
        "is_list_partial": again.is_partial if filters.is_again else is_partial,
        "counted_joins": read_keys(environment, period, [filters.key])[filters.key].broken if filters.key else count,
        "diagnosed_joins": len(newest),
        "is_partial": is_partial,
        "diagnoses": _count_diagnoses(listed, filters, api_keys),
        "diagnosis_name": ADVICE[filters.diagnosis].name if filters.diagnosis else "",
        "rows": rows,
        "listed_ids": count_ids(rows, listed_joins, listed),
        "kept_days": kept_days,
        "joins": [(join, ADVICE[join.diagnosis.kind].name, api_keys.get(join.reported_by)) for join in joins],
    }


def _list_archived(workspace: Workspace) -> Collection[str]:
    """Return the names of the archived environments, in which conversations may still be known."""
    return set(workspace.environments.exclude(archived_at=None).values_list("name", flat=True))


def _describe_causes(
    environment: Environment,
    period: Period,
    joins: Sequence[BrokenJoin],
    api_keys: Mapping[int | None, ApiKey],
    key: str,
    again: ReportedAgain,
    *,
    is_partial: bool,
) -> Sequence[Mapping[str, Any]]:
    """Return each cause with what to do, the times of its first and last report, and the API keys that reported it.

    key: the outcome key of these joins, "" for any.
    again: the joins that were first reported before the period, and last in it.
    """
    longest = find_longest_healing(environment)
    causes = group_by_cause(joins, may_heal_from=timezone.now() - longest if longest else None)
    starts = find_cause_starts(environment, period, causes, key=key, is_partial=is_partial)
    last_reports = find_last_reports_by_cause([*joins, *again.joins])
    return [
        {
            "cause": cause,
            "advice": ADVICE[cause.kind],
            "to_do": write_advice(cause, longest),
            "start": starts[cause.kind, cause.environment],
            "last_reported_at": last_reports[cause.kind, cause.environment],
            "reporters": [(api_keys[pk], count) for pk, count in cause.reporters.most_common() if pk in api_keys],
        }
        for cause in causes
    ]


def _count_diagnoses(
    joins: Sequence[BrokenJoin], filters: JoinFilters, api_keys: Mapping[int | None, ApiKey]
) -> Sequence[tuple[str, str, int]]:
    """Return the kind, the name and the number of joins of each diagnosis that occurs or is selected.

    They are in the order of the causes. Joins that the other filters leave out do not count.
    """
    other_filters = replace(filters, diagnosis="", found_in="")
    selected = [join for join in joins if other_filters.select(join, api_keys)]
    counts = Counter(join.diagnosis.kind for join in selected)
    kinds = [cause.kind for cause in group_by_cause(selected)] + [filters.diagnosis]
    return [(kind, ADVICE[kind].name, counts[kind]) for kind in dict.fromkeys(filter(None, kinds))]


def _draw_rates(environment: Environment, period: Period) -> Mapping[str, Any]:
    charts = (
        ("environment", "rates", read_rates_by_environment(environment, period)),
        ("API key", "rates-by-key", read_rates_by_api_key(environment, period)),
    )
    api_keys = list_api_keys(environment).values()
    times = Counter(api_key.name for api_key in api_keys)
    names = {
        str(api_key): api_key.name if times[api_key.name] == 1 else f"{api_key.name} {api_key}"
        for api_key in api_keys
        if api_key.name
    }
    names |= {sibling.name: str(sibling) for sibling in environment.readable}
    return {
        "api_keys": {str(api_key): api_key for api_key in api_keys},
        "rate_charts": [
            {
                "subject": subject,
                "table": table,
                "chart": chart,
                "step": find_step(period, chart.buckets),
                "figure": draw_rates(chart.buckets, chart.lines, names=names),
                "line_names": [names.get(line.name, line.name) for line in chart.lines],
                "bucket_rows": chart.rows,
                "is_last_partial": any(bucket.is_partial for bucket in chart.begun_buckets[-1:]),
                "has_few": any(0 < count < MIN_REPORTED for line in chart.lines for count in line.reported_outcomes),
                "min_reported": MIN_REPORTED,
            }
            for subject, table, chart in charts
            if len(chart.rates) > (table == "rates-by-key")  # one key has the rate of its environment
        ],
    }
