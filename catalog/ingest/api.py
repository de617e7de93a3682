"""POST /api/witness-reports (contract §4)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_view, inline_serializer
from rest_framework import serializers
from rest_framework.response import Response

from catalog.ingest.observations import render_sums
from catalog.ingest.quick_report import read_report
from catalog.ingest.receive import receive_report
from catalog.ingest.serializers import WitnessReportForm
from wire.http.machine_view import CallExample, MachineView
from workspaces.models import Environment

ACCEPTED = inline_serializer(
    "WitnessReportAccepted", {"accepted": serializers.IntegerField(), "reportId": serializers.UUIDField()}
)
REPORT_ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


@extend_schema_view(post=extend_schema(request=WitnessReportForm, responses={202: ACCEPTED}))
class WitnessReports(MachineView):
    """Report the shapes of observed requests and responses. 202: the report is stored, the catalog follows soon."""

    scope = "report"
    form = WitnessReportForm
    items = "observations"
    examples = {
        "POST": CallExample(
            "Report observed shapes",
            {"accepted": 1, "reportId": REPORT_ID},
            {
                "environment": "production",
                "reportId": REPORT_ID,
                "observations": [
                    {
                        "method": "GET",
                        "path": "/orders/{orderId}",
                        "status": 200,
                        "count": 1,
                        "parameters": {"orderId": {"type": "integer"}},
                        "response": {"type": "object", "properties": {"id": {"type": "integer"}}},
                    }
                ],
            },
        )
    }

    def check_body(self, raw: bytes, now: datetime) -> Mapping[str, Any]:
        """Return the members of the report, and as `sums` its summed observations as JSON."""
        if report := read_report(raw, received_at=now):
            return report
        members = super().check_body(raw, now)
        return {**members, "sums": render_sums(members["observations"], received_at=now)}

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        report_id = data["reportId"]
        receive_report(environment, report_id, raw, data["sums"], reporter=data.get("reporter", ""), now=now)
        return Response({"accepted": len(data["observations"]), "reportId": str(report_id)}, status=202)
