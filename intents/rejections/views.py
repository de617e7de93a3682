"""The pages of intents: what is rejected, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.core.paginator import Paginator
from django.http import HttpRequest

from affidavit import REASONS
from intents.rejections import exports, figures, filters, queries, totals, words
from intents.rejections.analysis import Findings
from wire.period import Period
from workspaces.models import Environment
from workspaces.page import Page

SINGLES_A_PAGE = 25
OPERATIONS_SHOWN = 50
FIRST_REPORT = """{"environment": "%s", "reportId": "%s", "verifications": [
    {"result": "accepted", "version": 2, "operation": "GET /orders/{orderId}", "count": 41},
    {"result": "expired", "version": 2, "operation": "POST /refunds", "toolCallId": "call_81"}]}"""

FIRST_LINES = """from affidavit import IntentVerifier, MemoryDeliveries, MemoryNonces, Protection, VerificationReports

protection = Protection(
    IntentVerifier(SIGNING_SECRET, "%s", "%s", MemoryNonces()),
    MemoryDeliveries(),
    reports=VerificationReports(API_KEY, base_url=BASE_URL%s),
)"""


def rejections(request: HttpRequest, environment: Environment, period: Period) -> Page:
    found = Findings(environment, period, filters.parse(request.GET))

    def context() -> Mapping[str, Any]:
        if not queries.has_any(environment):
            return {"first_report": first_report(environment), "first_lines": first_lines(environment)}
        return {**numbers(found), **breakdown(found), "singles": page_of_singles(found, request)}

    return Page("intents/rejections.html", context, exports.tables(found))


def first_report(environment: Environment) -> str:
    """A body to try out: its id is this environment's own, and the same whenever the page is read."""
    report_id = uuid5(NAMESPACE_URL, f"{environment.workspace_id}/{environment.name}")
    return FIRST_REPORT % (environment.name, report_id)


def first_lines(environment: Environment) -> str:
    """The SDK's: a protection of this environment; production is where reports go that name none."""
    named = "" if environment.name == "production" else f', environment="{environment.name}"'
    return FIRST_LINES % (environment.workspace_id, environment.audience, named)


def numbers(found: Findings) -> Mapping[str, Any]:
    """The facts on top, the chart and the table of its numbers."""
    reasons = found.reasons
    charted = figures.by_reason(found.series)
    return {
        "filters": found.filters,
        "verifications": totals.verifications(found.totals),
        "rejected": totals.rejections(found.totals),
        "verifications_before": totals.verifications(found.before),
        "rejected_before": totals.rejections(found.before),
        "figure": figures.rejections_over_time(found.series, step=found.period.step),
        "sentence": words.about_reasons(reasons, step=found.period.step, chosen=found.filters.reason),
        "step": found.period.step,
        "charted": list(charted),
        "buckets": figures.table_rows(found.series, charted),
    }


def breakdown(found: Findings) -> Mapping[str, Any]:
    """The tables by reason, version and operation, and what the filters offer."""
    operations = found.operations
    return {
        "reasons": [(line, REASONS[line.reason]) for line in found.reasons],
        "versions": found.versions,
        "share": totals.version_share(found.totals),
        "operations": operations[:OPERATIONS_SHOWN],
        "operations_in_all": len(operations),
        "all_reasons": REASONS.values(),
    }


def page_of_singles(found: Findings, request: HttpRequest) -> Any:
    return Paginator(found.singles, SINGLES_A_PAGE).get_page(request.GET.get("page"))
