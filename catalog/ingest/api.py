"""POST /api/witness-reports (contract 4)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.ingest.quick_report import ReadReport, read_report
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

    def process(self, request: Request, raw: bytes, now: datetime, path: Mapping[str, str]) -> Response:
        report = read_report(raw, received_at=now)
        if report is None:
            return super().process(request, raw, now, path)
        environment = self.find_environment(request, {"environment": report.environment})
        return self.store(environment, report, raw, now=now)

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        observations = data["observations"]
        sums = render_sums(observations, received_at=now)
        report = ReadReport(environment.name, data["reportId"], data.get("reporter", ""), len(observations), sums)
        return self.store(environment, report, raw, now=now)

    def store(self, environment: Environment, report: ReadReport, raw: bytes, *, now: datetime) -> Response:
        receive_report(environment, report.report_id, raw, report.sums, reporter=report.reporter, now=now)
        return Response({"accepted": report.accepted, "reportId": str(report.report_id)}, status=202)
