"""The pages of outcomes: what conversations led to, by key, and one key in detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.paginator import Page as PageOfRows
from django.core.paginator import Paginator
from django.http import HttpRequest

from outcomes.analytics import conversations, exports, figures, filters
from outcomes.analytics.page import FOLDED_FROM, PAIRS_SHOWN, ROWS_A_PAGE, Analytics
from outcomes.analytics.snippets import first_report
from outcomes.tallies import keys, series
from outcomes.tallies.series import Chart
from wire.filters import read_text
from wire.period import Period
from workspaces.models import Environment
from workspaces.page import Page


def outcomes(request: HttpRequest, environment: Environment, period: Period) -> Page:
    found = Analytics(environment, period, filters.of_keys(request.GET))

    def context() -> Mapping[str, Any]:
        if not series.has_any(environment):
            return {"empty": True, **first_report(environment)}
        return {"totals": found.totals, "before": found.before, **key_table(found), **drawn(found), **pair(found)}

    return Page("outcomes/outcomes.html", context, exports.of_outcomes(found))


def key_table(found: Analytics) -> Mapping[str, Any]:
    """The rows of the table, the folded tail, and which keys are ticked."""
    shown = {line.key for line in found.lines}
    return {
        "asked": found.asked,
        "lines": [(line, found.alike.get(line.key, ())) for line in found.lines],
        "others": found.others,
        "pages": pages_of(found.keys.everything.keys, found.asked.page),
        "keys_counted": found.keys.counted,
        "folded_from": FOLDED_FROM,
        "chosen_elsewhere": [key for key in found.asked.chosen if key not in shown],
        "siblings": found.environment.workspace.environments.exclude(pk=found.environment.pk),
    }


def drawn(found: Analytics) -> Mapping[str, Any]:
    leading = found.chart.lines[0] if found.chart.lines else None
    openable = not found.asked.chosen and found.keys.everything.keys >= found.asked.next_rank
    return {
        **charted(found.chart, "outcomes", found.period),
        "sentence": figures.sentence(found.totals.outcomes, found.totals.conversations, leading),
        "openable": openable and found.asked.next_rank <= filters.RANKS,
    }


def charted(chart: Chart, counted: str, period: Period) -> Mapping[str, Any]:
    """The chart and its numbers as rows: one for each bucket that has any, the latest first."""
    columns = [line.numbers for line in chart.lines] + ([chart.before] if chart.before else [])
    rows = [(bucket, [column[n] for column in columns]) for n, bucket in enumerate(chart.buckets)]
    return {
        "figure": figures.over_time(chart.buckets, chart.lines, counted=counted, before=chart.before),
        "chart": chart,
        "buckets": [row for row in rows if any(row[1])][::-1],
        "step": period.step,
    }


def pair(found: Analytics) -> Mapping[str, Any]:
    """Two environments side by side, where another one was asked for."""
    if not found.both:
        return {}
    pairs = found.leading_pairs(PAIRS_SHOWN + 1)
    return {
        "both": found.both,
        "sibling": found.sibling,
        "pairs": pairs[:PAIRS_SHOWN],
        "pairs_cut": len(pairs) > PAIRS_SHOWN,
        "pair_figure": figures.over_time(found.both.chart.buckets, found.both.chart.lines, counted="outcomes"),
        "pair_buckets": charted(found.both.chart, "outcomes", found.period)["buckets"],
    }


def outcome(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """One key: its time, its lag from the start of the conversation, its latest conversations."""
    key = read_text(request.GET, "key")

    def context() -> Mapping[str, Any]:
        if not key:
            return {"no_key": True}
        return {
            "key": key,
            **key_facts(environment, period, key),
            **conversation_list(request, environment, period, key),
        }

    return Page("outcomes/outcome.html", context, exports.of_key(environment, period, key))


def key_facts(environment: Environment, period: Period, key: str) -> Mapping[str, Any]:
    line = keys.named(environment, period, [key])[key]
    names = keys.alike(environment, [key]).get(key, ())
    lag = conversations.lags(environment, period, key)
    bars = [(bar.label, bar.count) for bar in lag.shown]
    return {
        "line": line,
        "totals": series.totals(environment, period),
        "alike": list(keys.named(environment, period, names).values()) if names else [],
        "lag": lag,
        "lag_figure": figures.distribution(bars, counted="outcomes"),
        **charted(series.key_chart(environment, period, key), "outcomes", period),
    }


def conversation_list(request: HttpRequest, environment: Environment, period: Period, key: str) -> Mapping[str, Any]:
    cursor = request.GET.get("cursor", "")
    rows: Sequence[conversations.Reached] = conversations.latest(
        environment, period, key, cursor=cursor, limit=ROWS_A_PAGE + 1
    )
    shown = rows[:ROWS_A_PAGE]
    return {
        "rows": shown,
        "older": shown[-1].cursor if len(rows) > ROWS_A_PAGE else "",
        "newest": not conversations.after(cursor, key),
    }


def pages_of(count: int, number: int) -> PageOfRows[int]:
    return Paginator(range(count), ROWS_A_PAGE).get_page(number)
