"""The overview of an environment, which needs every domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from catalog.browse.example_report import write_example_report
from catalog.change_kinds import CHANGE_KINDS
from catalog.drift.breaking_summary import list_unreported, summarize_breaking_drift
from catalog.drift.exports import export_drift
from catalog.drift.filters import DriftFilters
from catalog.drift.queries import count_drifted_operations, list_drift, with_sequels
from catalog.operation_queries import count_operations
from hub.calls_not_accepted.queries import (
    CALL_OUTAGE_COLUMNS,
    CallsNotAccepted,
    list_call_outage_rows,
    read_calls_not_accepted,
)
from hub.overview.facts import FACT_COLUMNS, Fact, build_facts
from hub.overview.setup_steps import list_setup_steps
from hub.sample.history_days import HISTORY_DAYS, count_missing_days
from hub.sample.views import may_remove_sample
from hub.settings_pages.rotation_results import RESULT_COLUMNS
from intents.gate.queries import has_decisions
from intents.rejections.filters import RejectionFilters
from intents.rejections.growth.rise import Rise
from intents.rejections.rejections_page import RejectionAnalysis
from intents.rejections.tallies.first_and_last_verifications import find_first_moment as find_first_verification
from intents.rejections.tallies.first_and_last_verifications import has_verifications
from intents.rejections.tallies.totals import ReasonSummary
from outcomes.analytics.exports import export_series
from outcomes.analytics.filters import KeyFilters
from outcomes.analytics.outcomes_page import Analytics
from outcomes.analytics.views import describe_chart
from outcomes.broken_joins.main_cause import find_main_cause
from outcomes.tallies.first_and_last_data import find_first_data, find_first_moment, has_any_outcome
from outcomes.tallies.retention_of_joins import find_retention_days_if_pruned
from outcomes.tallies.series import chart_buckets, read_series_of_all_keys
from wire.table_exports import Table
from wire.time.period import QUARTER, Period
from workspaces.access import has_role
from workspaces.annotations.exports import build_annotations_table
from workspaces.annotations.queries import find_annotation_before
from workspaces.models import Environment, Membership
from workspaces.pages.page import Page

LATEST_DRIFT = 5
TOP_REASONS = 8
REASON_COLUMNS = ("reason", "rejections", "rejectionsBefore")


def _find_first_moment(environment: Environment) -> datetime | None:
    """Return the time of the first outcome or verification, or the quarter hour of the first conversation.

    If that quarter hour began before the environment was created, return the time of the creation.
    """
    moments = [find_first_moment(environment), find_first_verification(environment)]
    first = min(filter(None, moments), default=None)
    created_at = environment.created_at
    return max(first, created_at) if first and created_at - first < QUARTER else first


def overview(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show five numbers, what needs attention and since when, outcomes by key, drift and rejections.

    Each part is read in the same way as on the page that it links to.
    """
    analytics = Analytics(environment, period, KeyFilters())
    rejections = RejectionAnalysis(environment, period, RejectionFilters())
    drift = with_sequels(list_drift(environment, period, DriftFilters()))[:LATEST_DRIFT]

    def read_facts() -> Sequence[Fact]:
        return build_facts(
            (analytics.totals, analytics.compared_totals),
            (rejections.totals_by_result, rejections.previous_totals_by_result),
            count_operations(environment, period),
            count_drifted_operations(environment, period),
            analytics.moved,
            has_outcomes_before=period.has_data_before(find_first_data(environment)),
            has_verifications_before=rejections.has_data_before,
        )

    def build_context() -> Mapping[str, Any]:
        facts = {fact.name: fact for fact in read_facts()}
        breaking = summarize_breaking_drift(environment, period)
        not_accepted = read_now()
        new_reason = rejections.new_reason
        steps = list_setup_steps(
            has_operations=facts["operations"].value > 0,
            has_outcomes=has_any_outcome(environment),
            has_verifications=has_verifications(environment),
            has_decisions=has_decisions(environment),
        )
        return {
            "steps": steps,
            "example_report": write_example_report(environment),
            "has_data": any(step.is_done for step in steps if step.page),
            "open_steps": sum(not step.is_done for step in steps),
            "removable_sample": may_remove_sample(request, environment.workspace),
            "missing_days": count_missing_days(environment.workspace),
            "sample_days": HISTORY_DAYS,
            "facts": facts.values(),
            "broken_joins": facts["brokenJoins"],
            "main_cause": find_main_cause(environment, period) if analytics.totals.broken else None,
            "kept_days": find_retention_days_if_pruned(environment, period),
            "rejected_calls": facts["rejections"],
            "outage": not_accepted.outage,
            "unknown_secret": not_accepted.unknown_secret,
            "first_secret": not_accepted.first_secret,
            "rise": _leave_out_same_reason(rejections.rise, not_accepted) if facts["rejections"].is_alarming else None,
            "new_reason": None if new_reason and not_accepted.tells(new_reason.reason) else new_reason,
            "may_open_keys": has_role(request.user, environment.workspace, Membership.ADMIN),
            "may_move": has_role(request.user, environment.workspace, Membership.EDITOR),
            "breaking": breaking,
            "probably_gone": list_unreported(environment, period),
            "breaking_release": find_annotation_before(environment, breaking.detected_at) if breaking else None,
            **_fold_reasons(rejections.reasons),
            "drift": drift,
            "change_words": CHANGE_KINDS,
            **describe_chart(analytics),
            "first_data": min(filter(None, [find_first_data(environment), rejections.first_data]), default=None),
            "first_moment": _find_first_moment(environment),
            "is_quiet": not (
                analytics.totals.conversations
                or analytics.totals.reported_outcomes
                or rejections.totals_by_result
                or drift
            ),
        }

    def list_series_rows() -> Iterator[Sequence[Any]]:
        buckets = chart_buckets(environment, period)
        series = read_series_of_all_keys(environment, buckets)
        for bucket, *numbers in zip(buckets, series.conversations, series.outcomes, series.broken, strict=True):
            if bucket.has_begun or any(numbers):
                yield bucket.start, *numbers

    def list_reason_rows() -> Iterator[Sequence[Any]]:
        has_previous = rejections.has_data_before
        for summary in rejections.reasons:
            yield summary.reason, summary.count, summary.previous_count if has_previous else None

    def read_now() -> CallsNotAccepted:
        return read_calls_not_accepted(environment, period, now=timezone.now())

    def list_unknown_secret_rows() -> Iterator[Sequence[Any]]:
        if result := read_now().unknown_secret:
            yield result.list_cells()

    return Page(
        "hub/overview.html",
        build_context,
        tables=[
            Table("facts", FACT_COLUMNS, lambda: [fact.to_row() for fact in read_facts()]),
            Table("series", ("start", "conversations", "outcomes", "brokenJoins"), list_series_rows),
            export_series(analytics, "series-by-key"),
            export_drift(drift),
            Table("reasons", REASON_COLUMNS, list_reason_rows),
            Table("outage", CALL_OUTAGE_COLUMNS, lambda: list_call_outage_rows(read_now())),
            Table("unknown-secret", RESULT_COLUMNS, list_unknown_secret_rows),
            build_annotations_table(environment, period),
        ],
    )


def _leave_out_same_reason(rise: Rise, not_accepted: CallsNotAccepted) -> Rise | None:
    """Return the rise; None if the page already says that no call is accepted for its reason."""
    return None if rise.reason and not_accepted.tells(rise.reason.reason) else rise


def _fold_reasons(reasons: Sequence[ReasonSummary]) -> Mapping[str, Any]:
    """Return the top reasons, then the sums of the others and of those that only the period before has.

    A single reason that stopped has a row of its own, since that takes no more space.
    """
    stopped = [reason for reason in reasons if not reason.count]
    rows = reasons if len(stopped) == 1 else [reason for reason in reasons if reason.count]
    return {
        "reasons": rows[:TOP_REASONS],
        "other_reasons": _sum_reasons(rows[TOP_REASONS:]),
        "stopped_reasons": _sum_reasons(stopped if len(stopped) > 1 else []),
    }


def _sum_reasons(reasons: Sequence[ReasonSummary]) -> Mapping[str, int]:
    """Sum up these reasons: their number, their calls, and the calls of the period before."""
    calls, previous = sum(reason.count for reason in reasons), sum(reason.previous_count for reason in reasons)
    return {"reasons": len(reasons), "calls": calls, "previous": previous}
