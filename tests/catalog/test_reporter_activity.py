"""A fold records in which quarter hours each reporter reported."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from catalog.ingest.fold import fold_reports
from catalog.models import ReporterActivity, WitnessReport
from catalog.reporter_activity import read_activity
from tests.catalog.reports import environment_of, observation, report
from wire.time.period import QUARTER

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 1, 12, tzinfo=UTC)


def test_a_report_that_waits_to_be_folded_is_activity_of_its_reporter(api, workspace):
    production = environment_of(workspace)
    body = report(observation(), reporter="shop")
    assert api.post("/api/witness-reports", body).status_code == 202
    WitnessReport.objects.filter(report_id=body["reportId"]).update(received_at=START + timedelta(minutes=1))
    before = read_activity(production, since=START, until=START + QUARTER)
    fold_reports(production)
    assert before == read_activity(production, since=START, until=START + QUARTER) == {"shop": [START]}
    assert read_activity(production, since=START - QUARTER, until=START) == {}


def test_a_reporter_has_one_row_for_each_quarter_hour(api, workspace):
    production = environment_of(workspace)
    times = [START, START + timedelta(minutes=14, seconds=59), START + QUARTER, START + QUARTER]
    for received_at, reporter in zip(times, ("shop", "shop", "shop", "cli"), strict=True):
        body = report(observation(), reporter=reporter)
        assert api.post("/api/witness-reports", body).status_code == 202
        WitnessReport.objects.filter(report_id=body["reportId"]).update(received_at=received_at)
    fold_reports(production)
    activity = read_activity(production, since=START, until=START + 2 * QUARTER)
    assert activity == {"shop": [START, START + QUARTER], "cli": [START + QUARTER]}
    assert read_activity(environment_of(workspace, "staging"), since=START, until=START + QUARTER) == {}
    assert api.post("/api/witness-reports", report(observation(), reporter="shop")).status_code == 202
    fold_reports(production)
    assert ReporterActivity.objects.count() == 4
