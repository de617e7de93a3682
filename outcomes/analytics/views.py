"""The pages of outcomes: the results of conversations by key, and one key in detail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.core.paginator import Page as PageOfRows
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils import timezone

from outcomes.alike_keys import find_lookalikes
from outcomes.analytics import plotly_figures
from outcomes.analytics.chart_data import Chart, read_key_chart
from outcomes.analytics.chart_sentence import summarize_chart, summarize_chosen
from outcomes.analytics.comparison_choice import choose_comparison, is_comparison, read_compared_reached
from outcomes.analytics.conversations_of_key import (
    CONVERSATIONS_PER_PAGE,
    count_newer,
    read_conversations,
    read_lags,
)
from outcomes.analytics.example_report import first_report_snippets
from outcomes.analytics.exports import list_key_tables, list_outcomes_tables
from outcomes.analytics.filters import EVERY_KEY, MAX_RANK, MAX_SELECTED_KEYS, RANKS, parse_key_filters
from outcomes.analytics.funnel import MAX_STEPS, MIN_STEPS
from outcomes.analytics.key_phases import read_phases
from outcomes.analytics.outcomes_by_api_key import MAX_REPORTED, read_reporters
from outcomes.analytics.outcomes_page import ROWS_PER_PAGE, UNFOLDED_KEYS, Analytics, count_moved_in_both
from outcomes.tallies.comparison import Comparison
from outcomes.tallies.first_and_last_data import find_first_data, has_any_outcome
from outcomes.tallies.keys import read_keys
from outcomes.tallies.retention_of_joins import find_retention_days_if_pruned
from outcomes.tallies.series import find_step, read_totals
from outcomes.tallies.without_moves import leave_out_moved_here
from wire.address_members import read_text
from wire.list_position import parse_position, parse_row_number
from wire.time.buckets import show_numbers
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.models import Environment, Membership
from workspaces.pages.page import Page


def show_outcomes(request: HttpRequest, environment: Environment, period: Period) -> Page:
    analytics = Analytics(environment, period, parse_key_filters(request.GET))

    def build_context() -> Mapping[str, Any]:
        if not has_any_outcome(environment):
            return {"empty": True, **first_report_snippets(environment)}
        return {
            "empty": False,
            "totals": analytics.totals,
            "comparison": analytics.comparison,
            "compared_totals": analytics.compared_totals,
            "without_moves": analytics.outcomes_without_moves,
            "moved_away": analytics.moved[0].total_away,
            "moved_here": analytics.moved[0].added,
            **_describe_keys(analytics),
            **describe_chart(analytics),
            **_describe_funnel(analytics),
        }

    takes: Mapping[str, Callable[[str], object]] = {
        "compare": partial(is_comparison, environment),
        "keys": {EVERY_KEY}.__contains__,
        "rank": RANKS.__contains__,
        "lost": set(map(str, range(1, len(analytics.filters.steps) + 1))).__contains__,
    }
    limits = {"show": MAX_SELECTED_KEYS, "step": MAX_STEPS}
    tables, minimums = list_outcomes_tables(analytics), {"step": MIN_STEPS}
    return Page("outcomes/outcomes.html", build_context, tables, takes=takes, limits=limits, minimums=minimums)


def _describe_keys(analytics: Analytics) -> Mapping[str, Any]:
    """Return the rows of the table, one row for all keys without a row (the folded tail), and the ticked keys."""
    rows = analytics.rows
    keys_of_rows, shares = {row.key for row in rows}, analytics.list_compared_shares(rows)
    page, filters, tail = analytics.key_page, analytics.filters, analytics.folded_tail
    return {
        "filters": filters,
        "rows": [
            (row, analytics.lookalikes.get(row.key, ()), share, analytics.leave_out_moves(row))
            for row, share in zip(rows, shares, strict=True)
        ],
        "folded_tail": tail,
        "moves_of_tail": analytics.leave_out_moves(tail) if tail else None,
        "pages": _paginate(page.total.keys, filters.page),
        "is_counted": page.is_counted,
        "has_keys": analytics.top_page.total.keys > 0,
        "outcomes_of_matches": page.total.outcomes,
        "unfolded_keys": UNFOLDED_KEYS,
        "selected_off_page": [key for key in filters.selected_keys if key not in keys_of_rows],
        "siblings": analytics.environment.readable_siblings,
    }


def _describe_funnel(analytics: Analytics) -> Mapping[str, Any]:
    """Return the funnel, a field for the key of each step that it may have, and the keys to choose from."""
    steps = analytics.filters.steps
    fields = [steps[number] if number < len(steps) else "" for number in range(MAX_STEPS)]
    return {
        "funnel": analytics.funnel,
        "lost_step": analytics.lost_step,
        "key_before": steps[analytics.lost_step.number - 2] if analytics.lost_step else "",
        "lost": analytics.list_lost(),
        "funnel_fields": fields,
        "funnel_choices": [row.key for row in analytics.top_page.rows],
    }


def describe_chart(analytics: Analytics) -> Mapping[str, Any]:
    """Return the chart by key, the sentence that says what it shows, and its numbers."""
    filters, totals, chart = analytics.filters, analytics.totals, analytics.chart
    has_more = not filters.selected_keys and analytics.top_page.total.keys >= filters.next_rank
    leading = chart.lines[0] if chart.lines else None
    shows_top_keys = not filters.selected_keys and filters.rank == 1
    summarize = summarize_chart if shows_top_keys else summarize_chosen
    return {
        **_draw_chart(chart, analytics.environment, analytics.period),
        "sentence": summarize(totals.outcomes, totals.conversations, leading),
        "has_next_keys": has_more and filters.next_rank <= MAX_RANK,
    }


def _draw_chart(chart: Chart, environment: Environment, period: Period) -> Mapping[str, Any]:
    """Return the chart and its numbers as rows: one for each bucket that has any, the latest first."""
    columns = [show_numbers(chart.buckets, line.numbers) for line in [*chart.lines, *chart.compared_lines]]
    rows = [(bucket, [column[number] for column in columns]) for number, bucket in enumerate(chart.buckets)]
    return {
        "figure": plotly_figures.draw_lines(chart, unit="outcomes"),
        "chart": chart,
        "buckets": [row for row in rows if any(row[1])][::-1],
        "step": find_step(period, chart.buckets),
        "first_data": find_first_data(environment),
    }


def show_outcome_key(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show one key: its outcomes over time, their lags, and the latest conversations that reached it."""
    key, compare_with = read_text(request.GET, "key"), read_text(request.GET, "compare")
    comparison = choose_comparison(environment, period, compare_with)

    def build_context() -> Mapping[str, Any]:
        if not key:
            return {"key": "", "compare_with": compare_with}
        conversations = _list_conversations(environment, period, key, cursor=request.GET.get("cursor", ""))
        key_context = _describe_key(environment, period, key, comparison)
        may_open_keys = has_role(request.user, environment.workspace, Membership.ADMIN)
        address = {"key": key, "compare_with": compare_with, "may_open_keys": may_open_keys}
        return {**address, **key_context, **conversations}

    tables = list_key_tables(environment, period, key, comparison)
    takes = {"compare": partial(is_comparison, environment)}
    return Page("outcomes/outcome_key.html", build_context, tables, takes=takes)


def _describe_key(environment: Environment, period: Period, key: str, comparison: Comparison) -> Mapping[str, Any]:
    lookalikes = find_lookalikes(environment, [key]).get(key, ())
    lag = read_lags(environment, period, key)
    totals = read_keys(environment, period, [key], comparison)[key]
    moved = count_moved_in_both(environment, period, comparison)
    return {
        "key_totals": totals,
        "without_moves": leave_out_moved_here((totals.outcomes, totals.compared_outcomes), moved, [key]),
        "comparison": comparison,
        "siblings": environment.readable_siblings,
        "totals": read_totals(environment, period),
        "compared_totals": read_totals(comparison.environment, comparison.period),
        "compared_reached": read_compared_reached(comparison, [key]).get(key, 0),
        "lookalikes": list(read_keys(environment, period, lookalikes).values()) if lookalikes else [],
        "phases": read_phases(environment, period, key, lag, now=timezone.now()),
        "reporters": read_reporters(environment, period, key),
        "most_reported": MAX_REPORTED,
        "kept_days": find_retention_days_if_pruned(environment, period),
        "lag": lag,
        "lag_figure": plotly_figures.draw_bars([(bar.label, bar.count) for bar in lag.visible_bars], unit="outcomes"),
        **_draw_chart(read_key_chart(environment, period, key, comparison), environment, period),
    }


def _list_conversations(environment: Environment, period: Period, key: str, *, cursor: str) -> Mapping[str, Any]:
    position = parse_position(cursor, parse_row_number)
    rows = read_conversations(environment, period, key, position=position, limit=CONVERSATIONS_PER_PAGE + 1)
    page = rows[:CONVERSATIONS_PER_PAGE]
    newer = count_newer(environment, period, key, position=position)
    return {
        "rows": page,
        "older_cursor": str(page[-1].position) if len(rows) > CONVERSATIONS_PER_PAGE else "",
        "is_first_page": position is None,
        "first_number": None if newer is None else newer + 1,
        "last_number": None if newer is None else newer + len(page),
    }


def _paginate(count: int, page_number: int) -> PageOfRows[int]:
    return Paginator(range(count), ROWS_PER_PAGE).get_page(page_number)
