"""The page of rejections: what was rejected, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from affidavit import REASONS
from intents.rejections import chart_sentence, plotly_figures, rejections_by_key
from intents.rejections.example_report import build_first_lines, build_first_report
from intents.rejections.exports import build_tables
from intents.rejections.filters import VERSIONS, parse_filters
from intents.rejections.intents_of_rejections import find_users
from intents.rejections.rejections_page import RejectionAnalysis, build_breakdown
from intents.rejections.single_rejections import count_calls, find_retention_days
from intents.rejections.tallies import totals
from intents.rejections.tallies.first_and_last_verifications import has_verifications
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.annotations.phase_comparison import has_comparison
from workspaces.keys.prefix import find_by_prefix
from workspaces.models import Environment, Membership
from workspaces.pages.page import Page
from workspaces.templatetags.periods import preceding

ROWS_PER_PAGE = 10


def show_rejections(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show what was rejected and why. Before the first report, show how to send one."""
    filters = parse_filters(request.GET)
    reporter = find_by_prefix(environment.workspace, filters.key_prefix)
    analysis = RejectionAnalysis(environment, period, filters if reporter else replace(filters, key_prefix=""))

    def build_context() -> Mapping[str, Any]:
        if not has_verifications(environment):
            return {"first_report": build_first_report(environment), "first_lines": build_first_lines(environment)}
        rejections = Paginator(analysis.rejections, ROWS_PER_PAGE).get_page(request.GET.get("page"))
        lists_singles = bool(filters.since or reporter)  # sums name neither a key nor a moment within a quarter hour
        sums: Mapping[str, Any] = {} if lists_singles else {**_build_overview(analysis), **build_breakdown(analysis)}
        return {
            "first_report": "",
            "filters": analysis.filters,
            "all_reasons": REASONS.values(),
            **sums,
            "lists_singles": lists_singles,
            **({"may_share": False} if lists_singles else {}),  # a shared page has no single rejections
            "rejections": rejections,
            "users": find_users(environment, list(rejections)),
            "since": max(filters.since, period.start) if filters.since else None,
            "listed_calls": count_calls(analysis.rejections) if lists_singles else sums["rejected"],
            "retention_days": find_retention_days(environment.workspace),
            "keys": analysis.keys,
            "keys_since": analysis.keys_since,
            "max_by_key": rejections_by_key.MAX_BY_KEY,
            "reporter": reporter,
            "may_open_keys": has_role(request.user, environment.workspace, Membership.ADMIN),
        }

    takes: Mapping[str, Callable[[str], object]] = {
        "reason": REASONS.__contains__,
        "version": VERSIONS.__contains__,
        "by": partial(find_by_prefix, environment.workspace),
        "since": lambda _: filters.since,
    }
    return Page("intents/rejections.html", build_context, build_tables(analysis), takes=takes)


def _build_overview(analysis: RejectionAnalysis) -> Mapping[str, Any]:
    """Return the facts on top, the chart and the table of its numbers."""
    period = analysis.period
    step = analysis.chart_period.step
    is_comparable = period.preset != "all" and analysis.has_data_before
    before = preceding(period) if is_comparable else ""
    series = plotly_figures.count_by_reason(analysis.buckets)
    begun_buckets = [bucket for bucket in analysis.buckets if bucket.has_begun]
    phases = analysis.phases
    return {
        "verifications": totals.count_verifications(analysis.totals),
        "rejected": totals.count_rejections(analysis.totals),
        "previous_verifications": totals.count_verifications(analysis.previous_totals_by_result),
        "has_data_before": analysis.has_data_before,
        "previous_rejected": totals.count_rejections(analysis.previous_totals_by_result),
        "figure": plotly_figures.build_rejections_figure(analysis.buckets),
        "sentence": chart_sentence.describe_reasons(
            analysis.reasons,
            step=step,
            before=before,
            reason=analysis.filters.reason,
            is_partial=any(bucket.is_partial for bucket in begun_buckets[-1:]),
            begins_within=any(bucket.is_partial for bucket in begun_buckets[:-1]),
            is_filtered=bool(analysis.filters),
        ),
        "step": step,
        "first_data": analysis.first_data,
        "charted_reasons": list(series),
        "buckets": plotly_figures.build_table_rows(analysis.buckets, series),
        "phases": phases if has_comparison(phases) else [],
    }
