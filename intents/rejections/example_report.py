"""The report on an empty page of rejections that sends the first verifications, and the Python lines for it (pure)."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

from workspaces.models import Environment

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


def build_first_report(environment: Environment) -> str:
    """Return a body to try out; its id is the environment's own and stays the same."""
    report_id = uuid5(NAMESPACE_URL, f"{environment.workspace_id}/{environment.name}")
    return FIRST_REPORT % (environment.name, report_id)


def build_first_lines(environment: Environment) -> str:
    """Return the SDK's lines for this environment; reports go to production unless they name another."""
    argument = "" if environment.name == "production" else f', environment="{environment.name}"'
    return FIRST_LINES % (environment.workspace_id, environment.audience, argument)
