"""POST /api/witness-reports (contract 4)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.response import Response

from catalog.ingest.quick_report import read_report
from catalog.ingest.receive import receive_report
from catalog.ingest.sanitize import render_sums
from catalog.ingest.serializers import WitnessReportForm
from wire.http.machine_view import MachineView
from workspaces.models import Environment

ACCEPTED = inline_serializer(
    "WitnessReportAccepted", {"accepted": serializers.IntegerField(), "reportId": serializers.UUIDField()}
)


class WitnessReports(MachineView):
    """POST /api/witness-reports (contract 4): 202 once the report is durable; it is folded soon after."""

    scope = "report"
    form = WitnessReportForm
    items = "observations"

    @extend_schema(summary="Report observed shapes", request=WitnessReportForm, responses={202: ACCEPTED})
    def post(self, *args: Any, **kwargs: Any) -> Any:
        return super().post(*args, **kwargs)

    def check_body(self, raw: bytes, now: datetime) -> Mapping[str, Any]:
        """Return the members of the report, with its `sums` as JSON."""
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
