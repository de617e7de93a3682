"""Counts beyond what PostgreSQL can store: no report is lost, and a count stays at the largest number."""

from __future__ import annotations

import uuid

import pytest
from django.utils import timezone

from catalog.ingest.fold import fold_reports
from catalog.models import Operation, WitnessReport
from tests.catalog.reports import environment_of, observation
from wire.http.fields import MAX_COUNT
from wire.postgresql.counts import LARGEST

pytestmark = pytest.mark.django_db
PAGES = ("catalog", "operation?method=GET&path=/orders/{orderId}", "overview", "difference?against=staging")


def test_an_operation_that_was_seen_too_often_to_count_loses_no_other_report(api, browser_client, workspace):
    production = environment_of(workspace)
    often = {**observation(query={"q": "x"}), "count": MAX_COUNT}
    for observations in ([often] * 500, [often] * 500, [often] * 500, [observation(), observation(path="/other")]):
        report = {"reportId": str(uuid.uuid4()), "observations": observations}
        assert api.post("/api/witness-reports", report).status_code == 202
        fold_reports(production, now=timezone.now())
    assert not WitnessReport.objects.filter(dead_lettered_at__isnull=False).exists()
    counts = dict(Operation.objects.values_list("path", "observations"))
    assert counts == {"/orders/{orderId}": LARGEST, "/other": 1}
    for page in PAGES:
        assert browser_client.get(f"/w/{workspace.workspace.slug}/production/{page}").status_code == 200
    for address in ("/api/catalog", "/api/catalog/openapi.json", "/api/catalog/mcp.json"):
        assert api.get(address).status_code == 200
