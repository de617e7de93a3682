"""The page of rejections: what was rejected, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils import timezone

from affidavit import REASONS
from intents.models import MintedIntent, Rejection, split_operation
from intents.rejections import chart_figures, queries, sentences, totals
from intents.rejections.analysis import RejectionAnalysis
from intents.rejections.detail import (
    CALL_EVENT_COLUMNS,
    MAX_EVENTS,
    compare_operations,
    find_alike,
    find_intent,
    find_rejection,
    has_more_events,
    list_call_events,
)
from intents.rejections.expiry import Cause, list_causes
from intents.rejections.exports import build_tables
from intents.rejections.filters import VERSIONS, parse_filters
from intents.rejections.intents_before import find_users
from intents.rejections.order_of_checks import find_failed_checks
from intents.rejections.queries import count_calls, find_retention_days, has_verifications
from intents.rejections.read_expiry import read_expiry
from wire.errors import NotFound
from wire.filters import read_number
from wire.table_exports import Table
from wire.time.period import Period
from wire.time.timestamps import cut_to_second, read_moment
from workspaces.access import has_role
from workspaces.annotations.phases import has_comparison
from workspaces.keys.prefix import find_by_prefix
from workspaces.models import Environment, Membership, SigningSecret
from workspaces.pages.page import Page
from workspaces.secrets.uses import find_unused_signer
from workspaces.templatetags.periods import preceding

REJECTIONS_PER_PAGE = 10
MAIN_REASONS = 6  # the others are folded; a single further one is not
MAX_OPERATIONS = 50  # on the page; the export has all
FIRST_REPORT = """{"environment": "%s", "reportId": "%s", "verifications": [
    {"result": "accepted", "version": 2, "operation": "GET /orders/{orderId}", "count": 41},
    {"result": "expired", "version": 2, "operation": "POST /refunds", "toolCallId": "call_81"}]}"""

FIRST_LINES = """from affidavit import IntentVerifier, MemoryDeliveries, MemoryNonces, Protection, VerificationReports

protection = Protection(
    IntentVerifier(
        workspace="%s",
        audience="%s",
        nonces=MemoryNonces(),
    ),
    MemoryDeliveries(),
    reports=VerificationReports(API_KEY, base_url=BASE_URL%s),
)"""

MISMATCHES = ("operation-mismatch", "method-mismatch", "path-mismatch")  # another operation was signed


def show_rejections(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show what was rejected and why. Before the first report, show how to send one."""
    filters = parse_filters(request.GET)
    reporter = find_by_prefix(environment.workspace, filters.key_prefix)
    analysis = RejectionAnalysis(environment, period, filters if reporter else replace(filters, key_prefix=""))

    def build_context() -> Mapping[str, Any]:
        if not has_verifications(environment):
            return {"first_report": _build_first_report(environment), "first_lines": _build_first_lines(environment)}
        rejections = Paginator(analysis.rejections, REJECTIONS_PER_PAGE).get_page(request.GET.get("page"))
        lists_singles = bool(filters.since or reporter)  # sums name neither a key nor a moment within a quarter hour
        sums: Mapping[str, Any] = {} if lists_singles else {**_build_overview(analysis), **_build_breakdown(analysis)}
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
            "max_by_key": queries.MAX_BY_KEY,
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


def show_rejection(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show one rejection, its usual fix, and what happened to its tool call. Raises NotFound if there is none."""
    rejection = read_rejection(request, environment)
    intent = find_intent(environment, rejection)

    is_mismatch = rejection.reason in MISMATCHES

    def build_context() -> Mapping[str, Any]:
        return {
            "rejection": rejection,
            "reason": REASONS.get(rejection.reason),
            "failed_checks": find_failed_checks(rejection.reason),
            "expiry_causes": _list_expiry_causes(environment, rejection),
            "alike": find_alike(environment, rejection),
            "intent": intent,
            "difference": compare_operations(intent.operation, rejection.operation) if intent and is_mismatch else None,
            "inspector_path": _find_called_path(rejection, intent),
            "unused_secret": _find_unused_secret(rejection),
            "was_v1_accepted": environment.workspace.accepts_v1_at(rejection.occurred_at),
            "may_open_keys": has_role(request.user, environment.workspace, Membership.ADMIN),
            "keys_by_actor": environment.workspace.index_keys_by_actor(),
            "events": list(list_call_events(environment, rejection, MAX_EVENTS)),
            "is_cut": has_more_events(environment, rejection.tool_call_id),
            "max_events": MAX_EVENTS,
        }

    def event_rows() -> Iterator[Sequence[Any]]:
        return (event.list_cells() for event in list_call_events(environment, rejection))

    tables = [Table("events", CALL_EVENT_COLUMNS, event_rows)]
    return Page("intents/rejection.html", build_context, tables, has_period=False)


def _list_expiry_causes(environment: Environment, rejection: Rejection) -> Sequence[Cause]:
    """Return the possible causes of an expired intent, the likelier first; [] for another reason."""
    return list_causes(read_expiry(environment, rejection)) if rejection.reason == "expired" else []


def _find_unused_secret(rejection: Rejection) -> SigningSecret | None:
    """Return the secret that signs, if the backend's lack of it may be the cause of this rejection."""
    key = rejection.api_key
    if rejection.reason != "bad-signature" or key is None:
        return None
    signer = find_unused_signer(rejection.environment, key, now=timezone.now())
    if signer is None or signer.signs_from is None:
        return None
    return signer if cut_to_second(signer.signs_from) <= rejection.occurred_at else None


def _find_called_path(rejection: Rejection, intent: MintedIntent | None) -> str:
    """Return the path to inspect: the reported path, or for a template, which nobody calls, the signed path if known.

    After a mismatch another path was signed, so the template stays.
    """
    if intent is None or "{" not in rejection.path or rejection.reason in MISMATCHES:
        return rejection.path
    return split_operation(intent.operation)[1].partition("?")[0] or rejection.path


def read_rejection(request: HttpRequest, environment: Environment) -> Rejection:
    """Return the rejection that the address names by time and number. Raises NotFound."""
    rejection = find_rejection(environment, read_moment(request.GET, "at"), read_number(request.GET, "id"))
    if rejection is None:
        detail = (
            "This environment has no such rejection. If it had one, its retention may have ended. Look at the list."
        )
        raise NotFound(detail)
    return rejection


def _build_first_report(environment: Environment) -> str:
    """Return a body to try out; its id is the environment's own and stays the same."""
    report_id = uuid5(NAMESPACE_URL, f"{environment.workspace_id}/{environment.name}")
    return FIRST_REPORT % (environment.name, report_id)


def _build_first_lines(environment: Environment) -> str:
    """Return the SDK's lines for this environment; reports go to production unless they name another."""
    argument = "" if environment.name == "production" else f', environment="{environment.name}"'
    return FIRST_LINES % (environment.workspace_id, environment.audience, argument)


def _build_overview(analysis: RejectionAnalysis) -> Mapping[str, Any]:
    """Return the facts on top, the chart and the table of its numbers."""
    period = analysis.period
    step = analysis.chart_period.step
    is_comparable = period.preset != "all" and analysis.has_data_before
    before = preceding(period) if is_comparable else ""
    series = chart_figures.count_by_reason(analysis.buckets)
    phases = analysis.phases
    return {
        "verifications": totals.count_verifications(analysis.totals),
        "rejected": totals.count_rejections(analysis.totals),
        "previous_verifications": totals.count_verifications(analysis.previous_totals),
        "previous_rejected": totals.count_rejections(analysis.previous_totals),
        "figure": chart_figures.build_rejections_figure(analysis.buckets),
        "sentence": sentences.describe_reasons(
            analysis.reasons,
            step=step,
            before=before,
            reason=analysis.filters.reason,
            is_partial=any(bucket.is_partial for bucket in analysis.buckets[-1:]),
            begins_within=any(bucket.is_partial for bucket in analysis.buckets[:-1]),
        ),
        "step": step,
        "first_data": analysis.first_data,
        "charted_reasons": list(series),
        "buckets": chart_figures.build_table_rows(analysis.buckets, series),
        "phases": phases if has_comparison(phases) else [],
    }


def _split_reasons(analysis: RejectionAnalysis) -> Mapping[str, Any]:
    """Return the most frequent reasons, and the others, which are folded unless one of them is chosen."""
    summaries, chosen_reason = analysis.reasons, analysis.filters.reason
    open_reason = chosen_reason or (summaries[0].reason if summaries else "")
    rows = [(summary, REASONS[summary.reason], summary.reason == open_reason) for summary in summaries]
    limit = MAIN_REASONS if len(rows) > MAIN_REASONS + 1 else len(rows)
    other_rows = rows[limit:]
    return {
        "reasons": rows[:limit],
        "other_reasons": {
            "rows": other_rows,
            "calls": sum(summary.count for summary, *_ in other_rows),
            "is_open": any(summary.reason == chosen_reason for summary, *_ in other_rows),
        },
    }


def _build_breakdown(analysis: RejectionAnalysis) -> Mapping[str, Any]:
    """Return the tables by reason, version and operation."""
    operations = analysis.operations
    if analysis.filters.version:  # the reader asks where calls of this version arrive, rejected or not
        operations = sorted(operations, key=attrgetter("verifications"), reverse=True)
    listed_operations = operations[:MAX_OPERATIONS]
    is_folded = not analysis.filters.version
    return {
        **_split_reasons(analysis),
        "versions": analysis.versions,
        "is_v1_accepted": analysis.environment.workspace.accepts_v1_at(timezone.now()),
        "refused_v1": totals.count_refused_v1(analysis.totals),
        "share": totals.compute_version_share(analysis.totals_of_all_versions),
        "operations": [summary for summary in listed_operations if summary.rejections or not is_folded],
        "other_operations": [summary for summary in listed_operations if is_folded and not summary.rejections],
        "operations_total": len(operations),
        "operations_left_out": len(operations) > MAX_OPERATIONS,
        "max_operations": MAX_OPERATIONS,
    }
