"""POST /api/verification-reports (contract §3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.response import Response

from intents.reports.operation_template import template_operation
from intents.reports.receive import receive_report
from intents.reports.serializers import ReportReceipt, VerificationReportForm
from intents.reports.verification import Verification
from wire.http.machine_view import CallExample, MachineView
from workspaces.authentication import key_of_request
from workspaces.models import Environment


@extend_schema_view(post=extend_schema(request=VerificationReportForm, responses={200: ReportReceipt}))
class VerificationReports(MachineView):
    """Report how verifications of intents ended: accepted ones as counts, rejections with their reason."""

    scope = "report"
    form = VerificationReportForm
    items = "verifications"
    examples = {
        "POST": CallExample(
            "Report verifications",
            {"recorded": 121},
            {
                "environment": "production",
                "reportId": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
                "verifications": [
                    {"result": "accepted", "version": 2, "operation": "GET /orders/{orderId}", "count": 120},
                    {
                        "result": "expired",
                        "version": 2,
                        "operation": "POST /orders",
                        "toolCallId": "call_7",
                        "occurredAt": 1790000000,
                    },
                ],
            },
        )
    }

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        verifications = [build_verification(item, now=now) for item in data["verifications"]]
        key = key_of_request(self.request)
        verification_count = receive_report(
            environment, data["reportId"], verifications, body=raw, now=now, api_key=key
        )
        return Response({"recorded": verification_count})


def build_verification(item: Mapping[str, Any], *, now: datetime) -> Verification:
    """Build a verification from a reported item; without a time, it happened now."""
    return Verification(
        result=item["result"],
        occurred_at=item.get("occurredAt", now),
        version=item.get("version", 0),
        operation=template_operation(item.get("operation", "")),
        tool_call_id=item.get("toolCallId", ""),
        count=item.get("count", 1),
        secret=item.get("secret", ""),
    )
